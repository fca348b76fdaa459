//! How the numbers came about, in words that hold for every run, and what the generator itself can do.

use crate::view::Quantity;
use analysis::Findings;
use maud::{Markup, html};
use observation::{Ceiling, Provenance};

/// The method.
pub(super) fn section(findings: &Findings) -> Markup {
    let simulated = findings.trials.iter().any(|trial| trial.provenance == Provenance::Simulated);
    html! {
        ul class="method" {
            li { b { "Response" } " is completed minus intended: it counts from the moment at which an operation was due, whatever the load. "
                b { "Service" } " is completed minus issued, " b { "lateness" } " issued minus intended. Operations that never ended count in the percentiles at the age they had reached." }
            li { b { "Intervals" } " are at 95 percent unless a number says otherwise: over replicates where there are several, else over batches of one trial's own intervals. A single sample has none, and says so by having none." }
            li { b { "Steady" } " means that the rates of five equal parts of the window range over at most 20 percent of their mean and that their fitted line rises or falls by less than 10 percent (SNIA PTS)." }
            li { b { "The knee" } " is the fewest outstanding (or sessions) that reach 95 percent of the peak; it is stated where the noise of the levels leaves one, and otherwise lies between the last level that is surely below and the first that surely reached it, or the peak. The peak is freed of what chance adds to the highest of several." }
            li { b { "Comparisons" } " are between trials that alternate in blocks. One metric is primary, declared before the run; all others are exploratory and adjusted for their number (Holm). Equivalent means that the whole interval lies inside the margin." }
            li { b { "Little's law" } " is checked where each session (or place in the queue) waits for its answer before it asks again, which is called a closed loop: the time that operations spent must add up to the sessions times the window, or a caveat says by how much it does not. In a mean latency the wait for a session counts too, so that rate times latency may be more than the sessions." }
            @if simulated { li { b { "Simulated" } " numbers come from a model or a script in virtual time. They are drawn hollow and dashed." } }
        }
        (order(findings))
        @if let Some(ceiling) = &findings.run.ceiling { (generator(ceiling)) }
    }
}

/// How many trials, in how many blocks.
fn order(findings: &Findings) -> Markup {
    let ended = || findings.trials.iter().filter(|trial| !trial.interrupted);
    let blocks: std::collections::BTreeSet<(&str, u32)> =
        ended().map(|trial| (trial.label.experiment.as_str(), trial.label.block)).collect();
    let states: std::collections::BTreeSet<String> =
        findings.trials.iter().map(|trial| trial.label.state.to_string()).filter(|state| !state.is_empty()).collect();
    html! {
        @if ended().next().is_some() {
            p { (counted(ended().count(), "trial")) " in " (counted(blocks.len(), "block")) ", levels in random order inside each." }
        }
        @if !states.is_empty() {
            p { "What trials found when they started: " (states.into_iter().collect::<Vec<_>>().join("; ")) "." }
        }
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("one {what}") } else { format!("{n} {what}s") }
}

fn generator(ceiling: &Ceiling) -> Markup {
    let ns = |value: f64| Quantity::Milliseconds.text(value / 1e6);
    html! {
        p {
            "The generator measured itself on a system that answers at once: " b { (ns(ceiling.null_operation_ns)) }
            " an operation, " b { (ns(ceiling.clock_read_ns)) } " a reading of the clock, late by "
            b { (ns(ceiling.lateness_p99_ns)) } " at p99 under an open load, its rate true to "
            b { (Quantity::Share.text(ceiling.open_rate_error_pct / 100.0)) } "."
        }
    }
}
