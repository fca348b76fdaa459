//! What the generator says of itself: a sentence where it was slowest, and a table by trial.

use super::conclusion::Conclusion;
use super::curve::{Sweep, factors_text};
use super::figure::Figure;
use super::quantity::Quantity;
use super::table::{Field, Table, number, optional, word};
use analysis::{Findings, LooksSummary, TrialSummary};

/// How long it went between two looks at what had ended, in the trial in which that was longest; none where what ends waits
/// for no look.
pub fn conclusion(findings: &Findings, sweep: &Sweep) -> Option<Conclusion> {
    let looks = trials(findings, sweep).filter_map(|trial| Some((trial, trial.generator.looks?)));
    let (trial, LooksSummary { mean_ms, p99_ms, max_ms }) = looks.max_by(|a, b| a.1.p99_ms.total_cmp(&b.1.p99_ms))?;
    let [mean, p99, max] = [mean_ms, p99_ms, max_ms].map(|ms| Quantity::Milliseconds.text(ms));
    // Of few looks the longest is p99.
    let p99 = if p99 == max { String::new() } else { format!(" {p99} at p99,") };
    let says = format!(
        "it looked for answers every {mean} on average,{p99} {max} at most (in trial {}, where that took longest); \
         latencies are no finer",
        trial.label.index
    );
    Some(Conclusion::plain(sweep.experiment, "generator", "the load generator".to_owned(), &says))
}

/// Every trial; none where nothing was observed.
pub fn figure(findings: &Findings, sweep: &Sweep) -> Option<Figure> {
    let rows = trials(findings, sweep).map(|trial| {
        let label = &trial.label;
        let mut row = vec![
            number("trial", "trial", f64::from(label.index), Quantity::Count),
            word("system", "system", &label.system),
            word("at", "factors", factors_text(&label.factors)),
        ];
        row.extend(fields(trial));
        row
    });
    let table = Table::new(
        "How long the load generator went without looking for completions, while operations were in flight",
        rows,
    );
    let seen = table.rows.iter().any(|row| row[3..].iter().any(|cell| cell.raw().is_some()));
    let notes = [
        ("ring", "“Ring” is how much of what helps the kernel gave it, 3 for all."),
        ("registered", "“Registered” is the share of rings whose buffers the kernel knew."),
        (
            "waited for CPU",
            "“Waited for CPU” is the share of the window in which a worker could have run and did not, of the worker that waited \
             longest.",
        ),
        (
            "p99",
            "An operation that ends between two polls waits for the next one, and that wait is part of its service.",
        ),
        (
            "clock, ppm",
            "“Clock” is how much faster the clock of the measurement ran than the kernel's, in parts in a million.",
        ),
    ];
    let table = table.without_empty_columns();
    let notes = table.notes_of(&notes);
    seen.then(|| Figure { folded: true, ..Figure::new("The generator", notes, Vec::new(), table) })
}

fn trials<'a>(findings: &'a Findings, sweep: &Sweep) -> impl Iterator<Item = &'a TrialSummary> {
    let experiment = sweep.experiment.to_owned();
    findings.trials.iter().filter(move |trial| trial.label.experiment == experiment && !trial.interrupted)
}

fn fields(trial: &TrialSummary) -> Vec<Field> {
    let (looks, rings) = (trial.generator.looks, trial.generator.rings);
    let time = |title, key, of: fn(LooksSummary) -> f64| optional(title, key, looks.map(of), Quantity::Milliseconds);
    vec![
        time("mean", "between_looks_mean_ms", |looks| looks.mean_ms),
        time("p99", "between_looks_p99_ms", |looks| looks.p99_ms),
        time("most", "between_looks_max_ms", |looks| looks.max_ms),
        optional("waited for CPU", "waited_for_cpu", trial.generator.waited_for_cpu, Quantity::Share),
        optional("ring", "ring_generation", rings.map(|rings| rings.generation), Quantity::Plain),
        optional("registered", "registered_buffers", rings.and_then(|rings| rings.registered_buffers), Quantity::Share),
        optional("hung", "hung", Some(trial.generator.hung as f64).filter(|hung| *hung > 0.0), Quantity::Count),
        optional("clock, ppm", "clock_error_ppm", trial.generator.clock.map(|clock| clock.error_ppm), Quantity::Plain),
    ]
}
