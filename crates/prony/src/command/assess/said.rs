//! The assessment in words: the answer first, then what is predicted, what to change, what the work is made of, and what was not seen.

use super::Told;
use crate::output::columns;
use advisor::assess::{FlushFrom, Kind, Rows, Span, TARGET, Total};
use units::{Bytes, milliseconds, percent, significant};

/// Columns of a line, as long as names fit.
const WIDTH: usize = 80;
/// Rows of a list.
const ROWS: usize = 8;

/// A figure that is predicted.
pub(super) struct Figure {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    pub(super) now: Option<f64>,
    pub(super) then: Span,
    pub(super) rests: String,
}

/// Everything that is predicted, in the order in which it follows.
pub(super) fn figures(told: &Told) -> Vec<Figure> {
    let (mix, one) = (&told.judged.mix, &told.judged.prediction);
    let ms = |span: Span| span.times(1e3);
    let put = |what, unit, now, then, rests: String| Figure { what, unit, now, then, rests };
    let mut all = vec![
        put(
            "round trip",
            "ms",
            None,
            ms(one.round_trip_s),
            "light in fibre, 5 us a km, a route up to 1.3 times as long; 0.06 ms (0.02 to 0.2) of handling, assumed"
                .to_owned(),
        ),
        put("mirror's flush", "ms", None, ms(one.flush_s), flush(told)),
        put(
            "added to a commit that writes",
            "ms",
            None,
            ms(one.wait_s),
            format!(
                "{} x {}, {} x the mirror's flush",
                significant(one.round_trips),
                "round trip",
                significant(told.pair.kind.flushes())
            ),
        ),
    ];
    if let Some((now, then)) = one.response_s {
        let rests = format!(
            "mean of all transactions, {} of which write; {} sessions waited for locks, which are held longer",
            percent(mix.waiting() / mix.transactions()),
            significant(mix.locked)
        );
        all.push(put("response", "ms", Some(1e3 * now), ms(then), rests));
    }
    let law = match told.seen.machine {
        Some(machine) => {
            let own = machine.server_cores / machine.cores;
            format!(
                "response-time law, one queue for {} cores; the server keeps {} of them busy, others {}, who are in the interval alone",
                machine.cores,
                percent(own),
                percent((machine.busy - own).max(0.0))
            )
        }
        None => {
            "response-time law; how busy the processors are is not known, so that a queue may hide any of it".to_owned()
        }
    };
    if let Some((now, then)) = one.throughput {
        all.push(put("throughput", "1/s", Some(now), then, law));
    }
    if let Some((now, then)) = one.sessions {
        all.push(put("sessions to compensate", "", Some(now), then, "as the throughput".to_owned()));
    }
    all.push(put(
        "mirror's CPU a transaction",
        "of source's",
        None,
        TARGET,
        "published of a row-synchronous pair; a pair by log needs less".to_owned(),
    ));
    if let (Some(cores), Some(machine)) = (one.target_cores, told.seen.machine) {
        all.push(put(
            "mirror's cores",
            "",
            None,
            cores,
            format!("this server keeps {} busy", significant(machine.server_cores)),
        ));
    }
    if let Some((now, then)) = one.hot_row {
        let rests = "1 / (work + flush + wait): one row that all change, locked for a whole transaction".to_owned();
        all.push(put("changes of one row", "1/s", Some(now.value), then, rests));
    }
    all
}

fn flush(told: &Told) -> String {
    let own = told.judged.mix.flush.map_or(String::new(), |(seconds, _)| milliseconds(1e3 * seconds));
    match told.judged.prediction.flush_from {
        FlushFrom::Given => "as given, up to twice where it finds another under way".to_owned(),
        FlushFrom::Timed => {
            format!("this server's, {own}, as it times it; up to twice where it finds another under way")
        }
        FlushFrom::Sampled => format!("this server's, {own}, from how many sessions were seen in one"),
        FlushFrom::Assumed => "assumed: this server's is not seen; give --mirror-flush".to_owned(),
        FlushFrom::None => "nobody waits for it: a write set is acknowledged when it is received".to_owned(),
    }
}

/// A value with its interval.
fn interval(span: Span, show: impl Fn(f64) -> String) -> String {
    let (low, value, high) = (show(span.low), show(span.value), show(span.high));
    if low == high { value } else { format!("{value} ({low} to {high})") }
}

fn pair_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Commit => "that waits for the commit record",
        Kind::WriteSet => "that waits for the write set",
        Kind::Row => "that waits for each row",
    }
}

/// The answer in a sentence.
pub(super) fn answer(told: &Told) -> String {
    let (mix, one) = (&told.judged.mix, &told.judged.prediction);
    let at = match told.distance.strip_suffix("km") {
        Some(km) => format!("{} km", km.trim()),
        None => format!("{} one way", told.distance),
    };
    let adds = format!(
        "At {at} a synchronous mirror {} adds about {} to a commit",
        pair_word(told.pair.kind),
        interval(one.wait_s, |seconds| milliseconds(1e3 * seconds))
    );
    match (one.throughput, one.sessions) {
        (Some((rate, then)), Some((sessions, more))) => {
            let whole = |value: f64| format!("{:.0}", value.ceil());
            let same = if whole(more.high) == whole(sessions) {
                " are enough".to_owned()
            } else {
                " to compensate".to_owned()
            };
            format!(
                "{adds}: {} -> {} transactions a second at the same {:.0} sessions, or {} sessions{same}.",
                significant(rate),
                interval(then, significant),
                sessions,
                interval(more, whole)
            )
        }
        _ if mix.transactions() > 0.0 => {
            format!("{adds}. Nothing that writes was committed in the window: throughput stays.")
        }
        _ => format!("{adds}. No transaction ended in the window: watch a busier time for the rest."),
    }
}

pub(super) fn text(told: &Told) -> String {
    let mut text = paragraph(&answer(told), "");
    text.push_str(&predicted(told));
    text.push_str(&changes(told));
    text.push_str(&work(told));
    text.push_str(&left_out(told));
    if !told.judged.obstacles.is_empty() {
        text.push_str("\nIn the way\n");
        for one in &told.judged.obstacles {
            let tables = if one.tables.is_empty() { String::new() } else { format!(" ({})", some(&one.tables)) };
            text.push_str(&paragraph(&format!("- {}{tables}: {}", one.what, one.means), "  "));
        }
    }
    if !told.standing.lacking.is_empty() {
        text.push_str("\nNot seen, and what would show it\n");
        for one in &told.standing.lacking {
            text.push_str(&paragraph(&format!("- {one}"), "  "));
        }
    }
    let closing = format!(
        "{}, {}; {} samples of sessions in {}.",
        told.standing.version,
        told.standing.database,
        told.seen.samples.len(),
        milliseconds(1e3 * told.seen.window_s)
    );
    text.push_str(&format!("\n{}", paragraph(&closing, "")));
    text
}

fn paragraph(text: &str, indent: &str) -> String {
    report::wrap(text, WIDTH, indent).iter().map(|line| format!("{line}\n")).collect()
}

fn some(names: &[String]) -> String {
    let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
    format!("{}{more}", names.iter().take(5).cloned().collect::<Vec<_>>().join(", "))
}

fn predicted(told: &Told) -> String {
    let figures = figures(told);
    let mut rows = vec![["", "now", "mirrored", "interval"].map(str::to_owned)];
    for one in &figures {
        let name = if one.unit.is_empty() { one.what.to_owned() } else { format!("{}, {}", one.what, one.unit) };
        let range = if one.then.low < one.then.high {
            format!("{} to {}", significant(one.then.low), significant(one.then.high))
        } else {
            String::new()
        };
        rows.push([name, one.now.map(significant).unwrap_or_default(), significant(one.then.value), range]);
    }
    let mut text = format!("\nPrediction\n{}\nWhat it rests on\n", columns(&rows));
    for one in &figures {
        text.push_str(&paragraph(&format!("- {}: {}", one.what, one.rests), "  "));
    }
    text
}

fn changes(told: &Told) -> String {
    if told.judged.changes.is_empty() {
        return "\nChanges: nothing was seen that would be worth one.\n".to_owned();
    }
    let mut text = "\nChanges, the most worth first\n".to_owned();
    for (at, one) in told.judged.changes.iter().enumerate() {
        let saved = interval(one.saved, |seconds| format!("{} ms", significant(1e3 * seconds)));
        let share = one.of_added.map_or(String::new(), |share| format!(", {} of what the mirror adds", percent(share)));
        let line = format!("{}. {}: saves {saved} of sessions' time a second{share}. {}.", at + 1, one.what, one.why);
        text.push_str(&paragraph(&line, "   "));
    }
    text
}

fn row(name: &str, rows: &Rows) -> [String; 5] {
    let [read, inserted, updated, deleted] = [rows.read, rows.inserted, rows.updated, rows.deleted].map(significant);
    [name.to_owned(), read, inserted, updated, deleted]
}

fn work(told: &Told) -> String {
    let mix = &told.judged.mix;
    let rate = |total| told.seen.rate(total);
    let written = match mix.written {
        Some(written) => {
            format!("{} of them write ({})", percent(written / mix.transactions().max(1e-12)), told.seen.written_from)
        }
        None => "how many of them write is not known: all are taken to".to_owned(),
    };
    let mut lines = vec![format!(
        "{} commits and {} rollbacks a second; {written}",
        significant(mix.commits),
        significant(mix.rollbacks)
    )];
    if let Some(log) = rate(Total::LogBytes) {
        let each = if mix.waiting() > 0.0 { log / mix.waiting() } else { 0.0 };
        lines.push(format!(
            "{} of log, {} for a commit that writes; an outage of an hour leaves {} to catch up",
            units::bytes_per_second(log),
            units::bytes(Bytes(each as u64)),
            units::bytes(Bytes((3600.0 * log) as u64))
        ));
    }
    lines.push(format!(
        "{} sessions worked, {} of them in a transaction at a time, {} waiting for a lock",
        significant(mix.sessions),
        significant(mix.busy),
        significant(mix.locked)
    ));
    lines.push(match mix.locked_rows {
        Some(rows) => format!("{} rows a second locked by reads for update or foreign keys", significant(rows)),
        None => "reads for update: not visible (see below)".to_owned(),
    });
    let mut text = "\nThe work\n".to_owned();
    lines.iter().for_each(|line| text.push_str(&paragraph(&format!("- {line}"), "  ")));
    for (title, named) in [("table", &mix.tables), ("user", &mix.users)] {
        if named.is_empty() {
            continue;
        }
        let heads =
            [format!("rows a second by {title}"), "read".into(), "inserted".into(), "updated".into(), "deleted".into()];
        let body = named.iter().take(ROWS).map(|(name, rows)| row(name, rows));
        text.push_str(&format!("\n{}", columns(&std::iter::once(heads).chain(body).collect::<Vec<_>>())));
        text.push_str(&more(named.len()));
    }
    if !mix.classes.is_empty() {
        let mut rows = vec![["statements a second", "calls", "rows", "ms each", "mirrored"].map(str::to_owned)];
        for (class, done) in &mix.classes {
            let each = 1e3 * done.seconds / done.calls;
            let then = each + 1e3 * told.judged.prediction.in_statement_s(told.pair.kind, *class, done);
            rows.push([
                class.word().to_owned(),
                significant(done.calls),
                significant(done.rows),
                significant(each),
                significant(then),
            ]);
        }
        text.push_str(&format!("\n{}", columns(&rows)));
    }
    if !mix.callers.is_empty() {
        let mut rows =
            vec![["application (user)", "sessions", "busy", "writing", "locked", "longest"].map(str::to_owned)];
        for one in mix.callers.iter().take(ROWS) {
            rows.push([
                one.shown(),
                significant(one.sessions),
                significant(one.busy),
                significant(one.writing),
                significant(one.locked),
                milliseconds(1e3 * one.longest_s),
            ]);
        }
        text.push_str(&format!("\n{}{}", columns(&rows), more(mix.callers.len())));
    }
    text
}

fn more(count: usize) -> String {
    if count > ROWS { format!("and {} more\n", count - ROWS) } else { String::new() }
}

fn left_out(told: &Told) -> String {
    let all = &told.judged.left_out;
    if all.is_empty() {
        return String::new();
    }
    let mut text = "\nWhat need not be mirrored\n".to_owned();
    for one in all.iter().take(ROWS) {
        let hint = if one.certain { "" } else { "a hint: " };
        let line = format!("- {} ({} of changed rows): {hint}{}", one.table, percent(one.share), one.reason);
        text.push_str(&paragraph(&line, "  "));
    }
    text.push_str(&more(all.len()));
    text
}
