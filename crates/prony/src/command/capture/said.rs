//! What was heard, in words and as JSON.

use super::Told;
use crate::output::columns;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use units::{milliseconds, percent, significant};
use workload::replay::{Heard, Trace, shape, told as without_values};

const SCHEMA: &str = "prony/capture/1";
/// Kinds of statements that are named.
const NAMED: usize = 12;
/// Letters of a statement's text in a line.
const LETTERS: usize = 52;
/// Pieces into which the window is cut.
const PIECES: u64 = 10;

/// Statements that differ only in their values.
struct Kind {
    statement: String,
    count: u64,
    /// Of those whose time was heard: how many, and their time together in seconds.
    timed: (u64, f64),
}

/// By how often they were heard.
fn kinds(trace: &Trace) -> Vec<Kind> {
    let mut places: HashMap<String, Kind> = HashMap::new();
    for one in &trace.heard {
        let statement = without_values(&one.sql, &trace.server).split_whitespace().collect::<Vec<_>>().join(" ");
        let new = || Kind { statement: statement.clone(), count: 0, timed: (0, 0.0) };
        let kind = places.entry(statement.clone()).or_insert_with(new);
        kind.count += 1;
        if let Some(took) = one.took {
            kind.timed = (kind.timed.0 + 1, kind.timed.1 + took.seconds());
        }
    }
    let mut kinds: Vec<Kind> = places.into_values().collect();
    kinds.sort_by(|a, b| (b.count, &a.statement).cmp(&(a.count, &b.statement)));
    kinds
}

impl Kind {
    fn mean_ms(&self) -> Option<f64> {
        (self.timed.0 > 0).then(|| 1e3 * self.timed.1 / self.timed.0 as f64)
    }
}

fn reads(one: &Heard) -> bool {
    let first = one.sql.split_whitespace().next().unwrap_or_default();
    ["select", "with", "values", "show", "table"].iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// Statements a second in each piece of the window: when it begins, those that read, all others.
fn over_time(told: &Told) -> Vec<(f64, f64, f64)> {
    let trace = &told.captured.trace;
    let length_s = trace.window.seconds() / PIECES as f64;
    let mut pieces = vec![(0u64, 0u64); PIECES as usize];
    for one in &trace.heard {
        let at =
            (one.at.0 as u128 * u128::from(PIECES) / u128::from(trace.window.0)).min(u128::from(PIECES - 1)) as usize;
        let into = &mut pieces[at];
        if reads(one) { into.0 += 1 } else { into.1 += 1 }
    }
    let rates = |(at, (reads, others)): (usize, (u64, u64))| {
        (at as f64 * length_s, reads as f64 / length_s, others as f64 / length_s)
    };
    pieces.into_iter().enumerate().map(rates).collect()
}

/// The command that sends it again: one text with values in it is enough to need the protocol that sends texts as they are.
fn again(told: &Told) -> String {
    let trace = &told.captured.trace;
    let valued = |one: &Heard| one.parameters.is_none() && !shape(&one.sql, &trace.server).1.is_empty();
    let protocol = if trace.heard.iter().any(valued) { " --set protocol=simple" } else { "" };
    format!(
        "prony run replay --on URL-OF-A-COPY --set trace={} --set sessions={} --set measure={}s{protocol}",
        units::for_shell(told.trace.display()),
        trace.sessions(),
        significant(trace.window.seconds())
    )
}

pub(super) fn json(told: &Told) -> Value {
    let (captured, trace) = (&told.captured, &told.captured.trace);
    let kinds = kinds(trace);
    json!({
        "schema": SCHEMA,
        "place": told.shown,
        "server": trace.server,
        "source": captured.source,
        "sampled": captured.sampled,
        "window_s": trace.window.seconds(),
        "trace": told.trace,
        "statements": trace.heard.len(),
        "sessions": trace.sessions(),
        "left_out": captured.left_out.iter().map(|(why, count)| json!({ "why": why, "count": count })).collect::<Vec<_>>(),
        "lacking": captured.lacking,
        "mix": kinds.iter().map(|kind| json!({
            "statement": kind.statement, "count": kind.count, "mean_ms": kind.mean_ms(),
        })).collect::<Vec<_>>(),
        "over_time": over_time(told).iter().map(|(at_s, reads, others)| json!({
            "at_s": at_s, "reads_per_s": reads, "others_per_s": others,
        })).collect::<Vec<_>>(),
        "again": again(told),
    })
}

pub(super) fn text(told: &Told) -> String {
    let (captured, trace) = (&told.captured, &told.captured.trace);
    let (count, sessions, window_s) = (trace.heard.len(), trace.sessions(), trace.window.seconds());
    let mut text = format!(
        "{count} statements of {sessions} sessions in {} s of `{}`: {} a second.\n",
        significant(window_s),
        told.shown,
        significant(count as f64 / window_s)
    );
    let _ = writeln!(text, "Heard in {}.", captured.source);
    if captured.sampled {
        text.push_str("Statements that were over between two looks are missing: this is less than all.\n");
    }
    text.push('\n');
    text.push_str(&columns(&mix(told)));
    text.push('\n');
    text.push_str(&columns(&drawn(told)));
    for (why, count) in &captured.left_out {
        let _ = writeln!(text, "\nleft out: {count} because {why}");
    }
    for lack in &captured.lacking {
        let _ = writeln!(text, "\nnot heard: {lack}");
    }
    let _ = write!(
        text,
        "\ntrace   {}  (readable by you alone: it has the values of your clients)\n",
        told.trace.display()
    );
    let _ = writeln!(text, "again   {}", again(told));
    text
}

fn mix(told: &Told) -> Vec<[String; 4]> {
    let heard = &told.captured.trace.heard;
    let kinds = kinds(&told.captured.trace);
    let mut rows = vec![["statement", "count", "share", "mean"].map(str::to_owned)];
    for kind in kinds.iter().take(NAMED) {
        let cut: String = kind.statement.chars().take(LETTERS).collect();
        let shown = if cut.len() < kind.statement.len() { format!("{cut}…") } else { cut };
        let mean = kind.mean_ms().map_or_else(|| "–".to_owned(), milliseconds);
        rows.push([shown, kind.count.to_string(), percent(kind.count as f64 / heard.len() as f64), mean]);
    }
    if kinds.len() > NAMED {
        let rest: u64 = kinds[NAMED..].iter().map(|kind| kind.count).sum();
        let others = format!("{} others", kinds.len() - NAMED);
        rows.push([others, rest.to_string(), percent(rest as f64 / heard.len() as f64), String::new()]);
    }
    rows
}

fn drawn(told: &Told) -> Vec<[String; 4]> {
    let pieces = over_time(told);
    let most = pieces.iter().map(|(_, reads, others)| reads + others).fold(1e-9, f64::max);
    let bar = |rate: f64, letter: &str| letter.repeat((30.0 * rate / most).round() as usize);
    let mut rows = vec![["from", "reads/s", "others/s", "█ reads ░ others"].map(str::to_owned)];
    rows.extend(pieces.iter().map(|(at, reads, others)| {
        let drawn = format!("{}{}", bar(*reads, "█"), bar(*others, "░"));
        [format!("{} s", significant(*at)), significant(*reads), significant(*others), drawn]
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_with_any_value_in_a_text_is_sent_again_as_texts() {
        let heard = |sql: &str, parameters| Heard {
            at: units::Nanos(0),
            session: 0,
            took: None,
            sql: sql.to_owned(),
            parameters,
        };
        let command = |heard: Vec<Heard>| {
            let trace = Trace { server: String::new(), window: units::Nanos::from_secs(1), heard };
            let captured = database::capture::Captured {
                trace,
                source: String::new(),
                sampled: false,
                left_out: Default::default(),
                lacking: Vec::new(),
            };
            again(&Told { shown: String::new(), trace: "a.trace".into(), captured })
        };
        let beside = || heard("SELECT $1", Some(vec![None]));
        assert!(!command(vec![beside(), heard("COMMIT", None)]).contains("protocol"));
        assert!(
            command(vec![beside(), beside(), beside(), heard("SELECT 'x'", None)]).ends_with(" --set protocol=simple")
        );
    }
}
