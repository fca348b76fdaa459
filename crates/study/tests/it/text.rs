//! A plan as text, for golden files.

use std::fmt::Write;
use study::{Plan, Trial};

/// Everything of a plan that a reader would check.
pub fn of(plan: &Plan) -> String {
    let mut text = format!("{} trials, seed {}\n", plan.trials.len(), plan.seed);
    let time = plan.estimated();
    let _ = writeln!(
        text,
        "time: {}, of which {} at an assumed speed; at most {}",
        units::duration(time.certain),
        units::duration(time.assumed),
        units::duration(time.at_most)
    );
    for written in plan.written() {
        let _ = writeln!(text, "writes on {}: {:?}: {:?}", written.system, written.occasion, written.amount);
    }
    for (system, bytes) in plan.occupied() {
        let _ = writeln!(text, "occupies on {system}: {}", units::bytes(bytes));
    }
    for found in &plan.detectable {
        let _ = writeln!(
            text,
            "detects in {}: {} pairs {:?}, the margin of {} in {:?}, at most {:?}",
            found.experiment, found.pairs, found.difference, found.margin, found.power, found.at_most
        );
    }
    for repeat in &plan.repeats {
        let _ = writeln!(
            text,
            "repeats {}: {:?}, at most {} trials",
            repeat.experiment,
            repeat.metric,
            repeat.trials_max()
        );
    }
    for search in &plan.searches {
        let _ = writeln!(text, "searches {} on {}: {}", search.experiment, search.system, search.words());
    }
    let _ = writeln!(text, "judges {:?}", plan.judgement.primary);
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    plan.trials.iter().for_each(|trial| line(trial, &mut text));
    text
}

fn line(trial: &Trial, text: &mut String) {
    let label = &trial.label;
    let factors: Vec<String> = label.factors.iter().map(|f| format!("{}={}", f.name, f.level.text())).collect();
    let streams: Vec<String> = label.streams.iter().map(|s| format!("{} ({})", s.name, s.load)).collect();
    let _ = writeln!(
        text,
        "{:>3} {} | {} | {} | {} | block {} | {} x {} | {}+{} by {} rounds {} | {} | {:016x}",
        label.index,
        label.experiment,
        label.system,
        streams.join(" + "),
        factors.join(" "),
        label.block,
        trial.modules,
        units::bytes(trial.module_bytes),
        units::duration(trial.phases.warm_up),
        units::duration(trial.phases.measure),
        units::duration(trial.phases.interval),
        units::duration(trial.phases.round),
        label.state,
        trial.seed,
    );
}
