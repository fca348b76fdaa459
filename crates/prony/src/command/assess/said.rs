//! The assessment in words: the answer first, then what is predicted, what to change, what the work is made of, and what was not seen.

use super::Told;
use crate::output::columns;
use advisor::assess::{FlushFrom, Home, Kind, Mix, Rows, Span, TARGET, Total};
use units::{Bytes, milliseconds, percent, significant};

/// Columns of a line, as long as names fit.
const WIDTH: usize = 80;
/// Rows of a list.
const ROWS: usize = 8;

/// The figure that is told in whole sessions.
const SESSIONS: &str = "sessions to compensate";

/// A figure that is predicted.
pub(super) struct Figure {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    pub(super) now: Option<f64>,
    pub(super) then: Span,
    pub(super) rests: String,
}

impl Figure {
    fn new(what: &'static str, unit: &'static str, now: Option<f64>, then: Span, rests: impl Into<String>) -> Figure {
        Figure { what, unit, now, then, rests: rests.into() }
    }

    /// What it is now and then, and the interval.
    fn shown(&self) -> [String; 3] {
        let shown = |value: f64| match value {
            value if value.is_infinite() => "none".to_owned(),
            value if self.what == SESSIONS => whole(value),
            value => significant(value),
        };
        let Span { low, value, high } = self.then;
        let range = if low < high { format!("{} to {}", shown(low), shown(high)) } else { String::new() };
        [self.now.map(shown).unwrap_or_default(), shown(value), range]
    }
}

/// Everything that is predicted, in the order in which it follows.
pub(super) fn figures(told: &Told) -> Vec<Figure> {
    let mut all = waits(told);
    all.extend(follows(told));
    all
}

/// What a commit waits for.
fn waits(told: &Told) -> Vec<Figure> {
    let one = &told.judged.prediction;
    let light = "light in fibre, 5 us a km, a route up to 1.3 times as long; 0.06 ms (0.02 to 0.2) of handling, assumed, \
        half of it on processors as busy as these";
    let (trips, flushes) = (significant(one.round_trips), significant(told.pair.kind.flushes()));
    let adds = match told.pair.home {
        Home::Own => format!("{trips} x round trip, {flushes} x the mirror's flush"),
        Home::Shared { .. } => "those, and all that waits longer for what both share".to_owned(),
    };
    vec![
        Figure::new("round trip", "ms", None, one.round_trip_s.times(1e3), light),
        Figure::new("mirror's flush", "ms", None, one.flush_s.times(1e3), flush(told)),
        Figure::new("added to a commit that writes", "ms", None, one.wait_s.times(1e3), adds),
    ]
}

/// What follows from that.
fn follows(told: &Told) -> Vec<Figure> {
    let (mix, one) = (&told.judged.mix, &told.judged.prediction);
    let response = one.response_s.map(|(now, then)| {
        let rests = format!(
            "mean of all transactions, {} of which write; {}, which are held longer",
            percent(mix.waiting() / mix.transactions()),
            waited(mix)
        );
        Figure::new("response", "ms", Some(1e3 * now), then.times(1e3), rests)
    });
    let throughput = one.throughput.map(|(now, then)| Figure::new("throughput", "1/s", Some(now), then, law(told)));
    let sessions = one.sessions.map(|(now, then)| Figure::new(SESSIONS, "", Some(now), then, "as the throughput"));
    let published = "published of a row-synchronous pair; a pair by log needs less";
    let cpu = Figure::new("mirror's CPU a transaction", "of source's", None, TARGET, published);
    let cores = one.target_cores.zip(told.seen.machine).map(|(cores, machine)| {
        let rests = format!("this server keeps {} busy", significant(machine.server_cores));
        Figure::new("mirror's cores", "", None, cores, rests)
    });
    let hot = one.hot_row.map(|(now, then)| {
        let rests = "1 / (work + flush + wait): one row that all change, locked for a whole transaction";
        Figure::new("changes of one row", "1/s", Some(now.value), then, rests)
    });
    [response, throughput, sessions, Some(cpu), cores, hot].into_iter().flatten().collect()
}

/// How many sessions waited for locks, as far as this user is shown that.
fn waited(mix: &Mix) -> String {
    let (seen, most) = (significant(mix.locked), significant(mix.locked_most()));
    let hidden = significant(mix.hidden);
    match mix.hidden > 0.0 {
        true => format!("{seen} to {most} sessions waited for locks ({hidden} sessions are not shown to this user)"),
        false => format!("{seen} sessions waited for locks"),
    }
}

fn law(told: &Told) -> String {
    let Some(machine) = told.seen.machine else {
        return "response-time law; how busy the processors are is not known, so that a queue may hide any of it"
            .to_owned();
    };
    if let Home::Shared { one_disk } = told.pair.home {
        let disk = if one_disk { "and one disk" } else { "and a disk each" };
        return format!(
            "played in virtual time with {} cores {disk} for both, of which others keep {} busy; 0.1 ms (0.05 to 0.25) of either's \
             processors for each flush that is sent, assumed",
            machine.cores,
            significant((machine.cores * machine.busy - machine.server_cores).max(0.0))
        );
    }
    let own = machine.server_cores / machine.cores;
    format!(
        "response-time law, one queue for {} cores; the server keeps {} of them busy; the {} that others keep busy count in the interval only",
        machine.cores,
        percent(own),
        percent((machine.busy - own).max(0.0))
    )
}

fn flush(told: &Told) -> String {
    // What it takes, and what a commit waits for one that is under way: together what the table says.
    let own = told.judged.mix.flush.map_or(String::new(), |(seconds, _)| {
        let more = (told.judged.prediction.flush_s.value - seconds).max(0.0);
        format!("{}, and {} for one that is under way", milliseconds(1e3 * seconds), milliseconds(1e3 * more))
    });
    match told.judged.prediction.flush_from {
        FlushFrom::Given => "as given, up to twice where it finds another under way".to_owned(),
        FlushFrom::Measured => "measured in the folder of --mirror-dir".to_owned(),
        FlushFrom::Timed => {
            format!("this server's, as it times it: {own}; up to twice where it finds one always")
        }
        FlushFrom::Sampled => format!("this server's, from how many sessions were seen in one: {own}"),
        FlushFrom::Assumed => "assumed: this server's is not seen; give --mirror-flush".to_owned(),
        FlushFrom::None => "nobody waits for it: a write set is acknowledged when it is received".to_owned(),
    }
}

/// A value with its interval.
fn interval(span: Span, show: impl Fn(f64) -> String) -> String {
    let show = |value: f64| if value.is_infinite() { "none".to_owned() } else { show(value) };
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

/// Sessions are whole ones, in sentences and in tables. A mean that is above a whole number by less than anybody reads is that number.
fn whole(sessions: f64) -> String {
    format!("{:.0}", ((sessions * 100.0).round() / 100.0).ceil().max(1.0))
}

/// So many sessions, in whole ones.
fn counted(sessions: f64) -> String {
    let whole = whole(sessions);
    if whole == "1" { "1 session".to_owned() } else { format!("{whole} sessions") }
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
            if more.value.is_infinite() {
                return format!(
                    "{adds}: {} -> {} transactions a second at the same {}. No number of sessions gives the rate back: \
                     processors or the disk, which the mirror shares, are the limit.",
                    significant(rate),
                    interval(then, significant),
                    counted(sessions)
                );
            }
            let (rate, then) = (significant(rate), interval(then, significant));
            let rates = format!("{adds}: {rate} -> {then} transactions a second");
            if whole(more.high) == whole(sessions) {
                let there = counted(sessions);
                return format!("{rates} at the same load; {there} can make up for it.");
            }
            format!("{rates} at the same {}, or {} sessions to compensate.", counted(sessions), interval(more, whole))
        }
        _ if mix.waiting() > 0.0 => {
            format!("{adds}. No session was seen at work, so that nothing can be said of throughput.")
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
        let [now, then, range] = one.shown();
        rows.push([name, now, then, range]);
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
        let line = format!("{}. {}: {}. Saves {saved} of sessions' time a second{share}.", at + 1, one.what, one.why);
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
    let mut text = "\nThe work\n".to_owned();
    facts(told).iter().for_each(|line| text.push_str(&paragraph(&format!("- {line}"), "  ")));
    for (title, named) in
        [("table", &mix.tables), ("user", &mix.users)].into_iter().filter(|(_, named)| !named.is_empty())
    {
        let heads = [&format!("rows a second by {title}"), "read", "inserted", "updated", "deleted"]
            .map(|head: &str| head.to_owned());
        let body = named.iter().take(ROWS).map(|(name, rows)| row(name, rows));
        text.push_str(&format!("\n{}", columns(&std::iter::once(heads).chain(body).collect::<Vec<_>>())));
        text.push_str(&more(named.len()));
    }
    if !mix.classes.is_empty() {
        text.push_str(&format!("\n{}", columns(&classes(told))));
    }
    if !mix.callers.is_empty() {
        text.push_str(&format!("\n{}{}", columns(&callers(told)), more(mix.callers.len())));
    }
    text
}

/// What the work is as a whole.
fn facts(told: &Told) -> Vec<String> {
    let mix = &told.judged.mix;
    let written = match mix.written {
        Some(written) => {
            format!("{} of them write ({})", percent(written / mix.transactions().max(1e-12)), told.seen.written_from)
        }
        None => "how many of them write is not known: all are taken to".to_owned(),
    };
    let log = told.seen.rate(Total::LogBytes).map(|log| {
        let each = if mix.waiting() > 0.0 { log / mix.waiting() } else { 0.0 };
        format!(
            "{} of log, {} for a commit that writes; an outage of an hour leaves {} to catch up",
            units::bytes_per_second(log),
            units::bytes(Bytes(each as u64)),
            units::bytes(Bytes((3600.0 * log) as u64))
        )
    });
    let locked = match mix.locked_rows {
        Some(rows) => format!("{} rows a second locked by reads for update or foreign keys", significant(rows)),
        None => "reads for update: not visible (see below)".to_owned(),
    };
    let [commits, rollbacks] = [mix.commits, mix.rollbacks].map(significant);
    let [sessions, busy] = [mix.sessions, mix.busy].map(significant);
    let ended = format!("{commits} commits and {rollbacks} rollbacks a second; {written}");
    let at_work =
        format!("{sessions} sessions carry the work, {busy} of them in a transaction at a time; {}", waited(mix));
    [Some(ended), log, Some(at_work), Some(locked)].into_iter().flatten().collect()
}

fn classes(told: &Told) -> Vec<[String; 5]> {
    let mut rows = vec![["statements a second", "calls", "rows", "ms each", "mirrored"].map(str::to_owned)];
    for (class, done) in &told.judged.mix.classes {
        let each = 1e3 * done.seconds / done.calls;
        let then = each + 1e3 * told.judged.prediction.in_statement_s(told.pair.kind, *class, done);
        let [calls, found, each, then] = [done.calls, done.rows, each, then].map(significant);
        rows.push([class.word().to_owned(), calls, found, each, then]);
    }
    rows
}

fn callers(told: &Told) -> Vec<[String; 6]> {
    let mut rows = vec![["application (user)", "sessions", "busy", "writing", "locked", "longest"].map(str::to_owned)];
    for one in told.judged.mix.callers.iter().take(ROWS) {
        let [sessions, busy, writing, locked] = [one.sessions, one.busy, one.writing, one.locked].map(significant);
        rows.push([one.shown(), sessions, busy, writing, locked, milliseconds(1e3 * one.longest_s)]);
    }
    rows
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_the_same_whole_number_in_the_sentence_and_in_the_table() {
        let then = Span { low: 4.5, value: 4.61, high: f64::INFINITY };
        for (now, told, counts) in [(4.003, "4", "4 sessions"), (4.02, "5", "5 sessions"), (0.3, "1", "1 session")] {
            let [shown, ..] = Figure::new(SESSIONS, "", Some(now), then, "").shown();
            assert_eq!((shown.as_str(), counted(now).as_str()), (told, counts));
        }
        let shown = Figure::new(SESSIONS, "", Some(4.003), then, "").shown();
        assert_eq!(
            (shown[1].as_str(), shown[2].as_str(), interval(then, whole).as_str()),
            ("5", "5 to none", "5 (5 to none)")
        );
        assert_eq!(Figure::new("throughput", "1/s", Some(4.003), then, "").shown()[1], "4.61");
    }
}
