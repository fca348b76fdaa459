//! What the loss of a mirror came to: in a sentence, and in a table of several.

use super::figure::Figure;
use super::quantity::Quantity;
use super::table::{Field, Table, number, optional, word};
use analysis::{Findings, PairFinding, Work};
use observation::MirrorState;
use units::Bytes;

/// What came of it, in a sentence.
pub fn pair(found: &PairFinding) -> String {
    let seconds = |s: f64| Quantity::Seconds.text(s);
    let rate = |per_s: f64| Work::Transactions.rate(per_s);
    let bytes = |count: f64| units::bytes(Bytes(count.max(0.0).round() as u64));
    let still = match found.freeze_s > 0.0 {
        true => {
            format!(
                "nothing ended for {} at the longest, in steps of {}",
                seconds(found.freeze_s),
                seconds(found.interval_s)
            )
        }
        false => format!("no stall of {} or more", seconds(found.interval_s)),
    };
    let mut parts = vec![format!("`{}` at {} (trial {}): {still}", found.event, seconds(found.at_s), found.trial)];
    parts.extend((found.errors > 0).then(|| format!("{} failed", units::counted(found.errors, "transactions"))));
    parts.extend(alone_says(found));
    let kept = found.kept_bytes.zip(found.kept_per_s).filter(|(kept, _)| *kept > 0.0);
    parts.extend(kept.map(|(kept, per_s)| {
        format!("{} of log were kept for the mirror, {} more a second", bytes(kept), bytes(per_s))
    }));
    let beside = found.rate_resync_per_s.map(|beside| format!(", at {} beside", rate(beside))).unwrap_or_default();
    // A model may know no bytes.
    let sent = found.resync_bytes.map(|sent| format!(" with {} over the wire", bytes(sent))).unwrap_or_default();
    parts.extend(found.resync_s.map(|lasted| format!("the mirror caught up in {}{sent}{beside}", seconds(lasted))));
    parts.extend(found.rate_after_per_s.map(|since| format!("{} since", rate(since))));
    let truth = |holds: Option<bool>, yes: &str, no: &str| holds.map(|holds| if holds { yes } else { no }.to_owned());
    parts.extend(truth(found.kept, "no acknowledged work is missing", "the data disagrees with acknowledged work"));
    parts.extend(truth(found.equal, "both servers hold the same rows", "both servers hold different rows"));
    let alike = found.alike().map(|alike| format!(". {alike}")).unwrap_or_default();
    parts.join("; ") + &alike
}

fn alone_says(found: &PairFinding) -> Option<String> {
    let rate = |per_s: f64| Work::Transactions.rate(per_s);
    if found.alone.is_none() && !found.takes_away() {
        return None;
    }
    let Some((after, state)) = found.alone else {
        return Some("nobody went on alone: the mirror was back before patience was lost".to_owned());
    };
    let who = if state == MirrorState::TakenOver { "the mirror took over" } else { "the other server went on alone" };
    let before = found.rate_before_per_s.map(|before| format!(" after {} before", rate(before))).unwrap_or_default();
    let rates = found.rate_alone_per_s.map(|alone| format!(", at {}{before}", rate(alone))).unwrap_or_default();
    let released = match found.released {
        0 => String::new(),
        1 => "; the commit that waited then was acknowledged without the mirror, as all were while it was alone"
            .to_owned(),
        waited => format!(
            "; the {} that waited then were acknowledged without the mirror, as all were while it was alone",
            units::counted(waited, "commits")
        ),
    };
    let when = if after > 0.0 { format!("{} later", Quantity::Seconds.text(after)) } else { "at once".to_owned() };
    Some(format!("{who} {when}{rates}{released}"))
}

/// The table of an experiment in which mirrors went away.
pub fn figure(findings: &Findings, experiment: &str) -> Option<Figure> {
    let found = findings.findings.iter().filter_map(PairFinding::of);
    let rows: Vec<Vec<Field>> = found.filter(|found| found.point.experiment == experiment).map(row).collect();
    let note = "\"Still\" is the longest time in which nothing ended. Rates before, alone, while the mirror caught up, and since; what the \
                wire carried meanwhile holds new log, too.";
    let table = Table::new("Every trial in which something happened to a pair", rows.clone()).without_empty_columns();
    (!rows.is_empty()).then(|| Figure::new("When the mirror went away", vec![note.to_owned()], Vec::new(), table))
}

fn row(found: &PairFinding) -> Vec<Field> {
    let rate = |title: &str, key: &str, rate: Option<f64>| optional(title, key, rate, Quantity::Rate);
    let seconds = |title: &str, key: &str, time: Option<f64>| optional(title, key, time, Quantity::Seconds);
    let truth = |holds: Option<bool>| holds.map_or("", |holds| if holds { "yes" } else { "NO" });
    vec![
        number("trial", "trial", f64::from(found.trial), Quantity::Count),
        word("workload", "stream", &found.point.stream),
        word("event", "event", &found.event),
        seconds("still", "freeze_s", Some(found.freeze_s)),
        number("failed", "errors", found.errors as f64, Quantity::Count),
        seconds("alone after", "alone_after_s", found.alone.map(|(after, _)| after)),
        rate("before", "rate_before_per_s", found.rate_before_per_s),
        rate("alone", "rate_alone_per_s", found.rate_alone_per_s),
        optional("log kept", "kept_bytes", found.kept_bytes, Quantity::Bytes),
        seconds("caught up in", "resync_s", found.resync_s),
        optional("over the wire", "resync_bytes", found.resync_bytes, Quantity::Bytes),
        rate("beside", "rate_resync_per_s", found.rate_resync_per_s),
        rate("since", "rate_after_per_s", found.rate_after_per_s),
        word("all kept", "acknowledged_kept", truth(found.kept)),
        word("equal", "rows_equal", truth(found.equal)),
    ]
}
