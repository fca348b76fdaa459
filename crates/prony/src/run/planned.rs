//! A plan in words: a few before a run, all of it for `prony plan`.
//!
//! The one idea: whoever reads it knows before anything is touched how long it takes, what is written where, and what
//! difference can be found.

use super::devices::Judged;
use std::fmt::Write as _;
use study::{
    ASSUMED_BYTES_PER_S, Amount, At, DatabaseSpec, Detectable, Engine, Occasion, Place, Plan, Storage, Stream, Study,
    SystemSpec, Trial, Written,
};
use units::{Bytes, Nanos};

/// The plan in a few plain words, as a run begins.
pub fn words(study: &Study, plan: &Plan) -> String {
    let mut lines = vec![format!("{} on {}", study.title, systems(study).join(" and "))];
    let time = [time(study, plan)].into_iter().chain(jobs(plan)).collect::<Vec<_>>().join(", ");
    lines.push(format!("{}; {time}{}; seed {}", trials(plan), virtual_time(study), plan.seed));
    lines.extend(plan.written().iter().map(|written| format!("writes {}", sentence(written))));
    lines.extend(read_back(plan).iter().map(|back| format!("reads back {back}")));
    lines.extend(plan.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}

/// The whole plan as text.
pub fn table(study: &Study, plan: &Plan, devices: &[Judged<'_>]) -> String {
    let mut text = format!("{}\n{}\n\n", study.title, study.question);
    let mut part = |name: &str, lines: Vec<String>| {
        for (index, line) in lines.iter().enumerate() {
            let _ = writeln!(text, "{:<11} {line}", if index == 0 { name } else { "" });
        }
    };
    part("systems", systems(study));
    part("trials", vec![format!("{}; order and offsets from seed {}", trials(plan), plan.seed)]);
    part("time", [time(study, plan)].into_iter().chain(jobs(plan)).collect());
    part("detectable", plan.detectable.iter().map(detectable).collect());
    let mut written: Vec<String> = plan.written().iter().map(sentence).collect();
    written.extend(databases(study));
    written.extend(read_only(study).map(|name| format!("nothing to `{name}`, which is read as it is found")));
    written.extend(models(study).map(|name| format!("nothing for `{name}`, which is a model: no disk is touched")));
    part("writes", if written.is_empty() { vec!["nothing".to_owned()] } else { written });
    part("reads back", read_back(plan));
    part("consent", devices.iter().flat_map(Judged::lines).collect());
    part(
        "run file",
        vec![format!("takes {} until it is closed", units::bytes(Bytes(super::reserve(study, plan).bytes())))],
    );
    part("searches", plan.searches.iter().map(search).collect());
    part("notes", plan.notes.clone());
    text.push('\n');
    text.push_str(&order(plan));
    text
}

/// The notes of a plan for programs, which do not read what cannot be counted.
pub fn notes(plan: &Plan) -> Vec<String> {
    let written = plan.written();
    let uncounted = written.iter().filter(|written| matches!(written.amount, Amount::AsFastAsItGoes { .. }));
    let told = uncounted.map(|written| format!("not counted in bytes_written: {}", sentence(written)));
    plan.notes.iter().cloned().chain(told).collect()
}

/// What a trial is expected to take. Fixed work is taken at the speed that the plan assumes.
pub fn expected(trial: &Trial) -> Nanos {
    let window =
        if trial.phases.fixed_work { fixed_work(trial).min(trial.phases.measure) } else { trial.phases.measure };
    let back = at_speed(trial.read_back_in_all());
    trial.state.settle.saturating_add(trial.phases.warm_up).saturating_add(window).saturating_add(back)
}

fn at_speed(bytes: Bytes) -> Nanos {
    Nanos::from_seconds(bytes.0 as f64 / ASSUMED_BYTES_PER_S)
}

pub(super) fn fixed_work(trial: &Trial) -> Nanos {
    let moved = trial.streams.iter().filter_map(Stream::operations).map(|operations| match &operations.of {
        Storage::Files(spec) => spec.written().0 as f64 * 1.5,
        Storage::Block(spec) => operations.count.unwrap_or(0) as f64 * spec.transfer_max().0 as f64,
    });
    Nanos::from_seconds(moved.sum::<f64>() / ASSUMED_BYTES_PER_S)
}

/// Whether its transactions are a whole job, whose time nobody knows before.
pub(super) fn is_job(trial: &Trial) -> bool {
    trial.phases.fixed_work && trial.streams.iter().any(|stream| stream.transactions().is_some())
}

/// What jobs on databases take, which is no part of the estimate.
fn jobs(plan: &Plan) -> Option<String> {
    let jobs = || plan.trials.iter().filter(|trial| is_job(trial));
    let most = jobs().map(|trial| trial.phases.measure).max()?;
    let each = if jobs().count() == 1 { "" } else { " each" };
    Some(format!("plus the time of {}, {} at most{each}", units::counted(jobs().count() as u64, "jobs"), roughly(most)))
}

/// Databases write what transactions change, and nobody counts that before.
fn databases(study: &Study) -> impl Iterator<Item = String> {
    let databases = study.systems().iter().filter_map(|spec| match &spec.place {
        Place::Database(database) => Some((&spec.name, database.layout.as_ref())),
        _ => None,
    });
    databases.map(|(name, layout)| match layout {
        Some(layout) => format!(
            "data sets, changed rows and log to `{name}`, as much as its transactions change, by the layout {}; the data set is \
             filled once in the cache folder, and copied from there",
            layout.shown()
        ),
        None => format!("data sets, changed rows and log to `{name}`, as much as its transactions change"),
    })
}

/// Each system with the place that it stands for.
pub fn systems(study: &Study) -> Vec<String> {
    study.systems().iter().map(system).collect()
}

fn system(spec: &SystemSpec) -> String {
    let place = match &spec.place {
        Place::File { dirs } => study::folders_shown(dirs),
        Place::Device { paths, .. } => paths.join(", "),
        Place::Model { model, changes } => {
            return format!("`{}` (model {}, in virtual time)", spec.name, study::model_shown(model, changes));
        }
        Place::Null | Place::Scripted(_) => return format!("`{}` ({})", spec.name, spec.place.word()),
        Place::Database(at) => return format!("`{}` ({})", spec.name, at.placed()),
    };
    format!("`{}` ({} {place})", spec.name, spec.place.word())
}

/// Names of the devices that are opened for reading only.
fn read_only(study: &Study) -> impl Iterator<Item = &str> {
    let unfilled = study.systems().iter().filter(|spec| matches!(spec.place, Place::Device { fill: false, .. }));
    unfilled.map(|spec| spec.name.as_str())
}

/// A model takes its time from no clock: nobody waits for it.
fn virtual_time(study: &Study) -> &'static str {
    if models(study).count() == study.systems().len() { " of simulated time" } else { "" }
}

/// Names of the models.
fn models(study: &Study) -> impl Iterator<Item = &str> {
    let models = study.systems().iter().filter(|spec| matches!(spec.place, Place::Model { .. }));
    models.map(|spec| spec.name.as_str())
}

fn trials(plan: &Plan) -> String {
    let (certain, most) = (plan.trials.len(), plan.trials_max() as usize);
    match (certain, most > certain) {
        (0, _) => format!("at most {}, as the searches need", units::counted(most as u64, "trials")),
        (certain, true) => {
            format!("{}, at most {most} as pilots and searches need", units::counted(certain as u64, "trials"))
        }
        (certain, false) => units::counted(certain as u64, "trials"),
    }
}

fn time(study: &Study, plan: &Plan) -> String {
    let estimated = plan.estimated();
    let on_models: Vec<&str> = models(study).collect();
    let simulated = plan.trials.iter().filter(|trial| on_models.contains(&trial.label.system.as_str()));
    let simulated = simulated.map(expected).fold(Nanos::ZERO, Nanos::saturating_add);
    // Where only some of it is simulated, the rest is what somebody waits for.
    let beside = simulated > Nanos::ZERO && on_models.len() < study.systems().len();
    let certain = if beside { estimated.certain.saturating_sub(simulated) } else { estimated.certain };
    let mut text = format!("about {}", roughly(certain));
    if beside {
        let _ = write!(text, ", and {} that are simulated in less", roughly(simulated));
    }
    if estimated.at_most > estimated.certain {
        let _ = write!(text, ", at most {}", roughly(estimated.at_most));
    }
    if estimated.assumed > Nanos::from_secs(1) {
        let speed = units::bytes_per_second(ASSUMED_BYTES_PER_S);
        let _ = write!(text, " ({} of it for fills and fixed work at {speed})", roughly(estimated.assumed));
    }
    text.push_str(study.systems().iter().map(uncounted).max_by_key(|text| text.len()).unwrap_or_default());
    text
}

/// What a system takes before its trials that no plan can know.
fn uncounted(spec: &SystemSpec) -> &'static str {
    match &spec.place {
        Place::Database(DatabaseSpec { layout: Some(_), .. }) => {
            " for trials; the fill, a copy of it for each layout, and starts of servers come on top"
        }
        Place::Database(DatabaseSpec { at: At::Local, .. }) => " for trials; fills and starts of servers come on top",
        Place::Database(DatabaseSpec { engine, .. }) if *engine != Engine::Null => " for trials; fills come on top",
        _ => "",
    }
}

/// A time as people plan with it: an estimate of 97.6 s is no better than 98 s.
pub fn roughly(time: Nanos) -> String {
    let seconds = time.seconds().ceil() as u64;
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

fn detectable(found: &Detectable) -> String {
    let spread = units::percent(found.spread_assumed);
    let pairs = units::counted(u64::from(found.pairs), "pairs");
    let mut text = match found.difference {
        Some(difference) => {
            format!("{}: {} with {pairs}{}", found.experiment, units::percent(difference), of_margin(found))
        }
        None => format!("{}: nothing with {pairs}; a verdict needs 4", found.experiment),
    };
    if let Some((pairs, difference)) = found.at_most {
        let _ = write!(text, ", {} with {pairs} pairs at most", units::percent(difference));
    }
    let _ = write!(text, " (if trials spread by {spread})");
    text
}

/// How often the planned pairs find the margin.
fn of_margin(found: &Detectable) -> String {
    let hundred = |power: f64| units::significant((100.0 * power).round());
    let text = |power: f64| format!(" ({} in {} of 100 runs)", units::percent(found.margin), hundred(power));
    found.power.map_or_else(String::new, text)
}

/// What is read back from each system when trials have ended, as the rest of a sentence that begins with "reads back".
fn read_back(plan: &Plan) -> Vec<String> {
    let mut systems: Vec<(&str, u64)> = Vec::new();
    for trial in plan.trials.iter().filter(|trial| trial.read_back() > Bytes(0)) {
        let (name, bytes) = (trial.label.system.as_str(), trial.read_back_in_all().0);
        match systems.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => systems.push((name, bytes)),
        }
    }
    let told = |(name, bytes): (&str, u64)| {
        let time = roughly(at_speed(Bytes(bytes)));
        format!("{} from `{name}` to check it after trials that write, about {time}", units::bytes(Bytes(bytes)))
    };
    systems.into_iter().map(told).collect()
}

/// What is written, as the rest of a sentence that begins with "writes".
fn sentence(written: &Written) -> String {
    let system = &written.system;
    let amount = amount(&written.amount);
    match &written.occasion {
        Occasion::Fill => format!("{amount} to `{system}` once, before the first trial"),
        Occasion::Refill => format!("{amount} to `{system}` before its trials, to fill it again"),
        Occasion::Precondition => format!("{amount} to `{system}` before its trials, to precondition it"),
        Occasion::Trials { experiment } => format!("{amount} to `{system}` in the trials of {experiment}"),
    }
}

fn amount(amount: &Amount) -> String {
    match amount {
        Amount::Exactly(size) => units::bytes(*size),
        Amount::AtMost(size) => format!("at most {}", units::bytes(*size)),
        Amount::AsFastAsItGoes { time, within, besides } => {
            let besides =
                if besides.0 > 0 { format!(", and {} besides", units::bytes(*besides)) } else { String::new() };
            format!("as fast as it goes for {} within {}{besides}", units::duration(*time), units::bytes(*within))
        }
    }
}

fn search(search: &study::Search) -> String {
    format!("{} on `{}`: {}", search.experiment, search.system, search.words())
}

/// The trials in order, one line each.
fn order(plan: &Plan) -> String {
    let mut rows =
        vec![["#", "EXPERIMENT", "SYSTEM", "STREAMS", "FACTORS", "REPEAT", "TIME", "STATE"].map(str::to_owned)];
    rows.extend(plan.trials.iter().map(row));
    crate::output::columns(&rows)
}

fn row(trial: &Trial) -> [String; 8] {
    let label = &trial.label;
    let streams: Vec<&str> = label.streams.iter().map(|stream| stream.name.as_str()).collect();
    let factors: Vec<String> = label.factors.iter().map(observation::Factor::as_set).collect();
    [
        (label.index + 1).to_string(),
        label.experiment.clone(),
        label.system.clone(),
        streams.join(" + "),
        factors.join(" "),
        (label.replicate + 1).to_string(),
        if is_job(trial) {
            format!("≤ {}", units::duration(trial.phases.measure))
        } else {
            units::duration(expected(trial))
        },
        label.state.to_string(),
    ]
}

/// What the certain trials and the first fill are expected to take; what the progress line counts down from.
pub fn expected_in_all(plan: &Plan) -> Nanos {
    let fills = plan.written().into_iter().filter(|written| written.occasion == Occasion::Fill);
    let fills: f64 = fills.map(|written| written.bytes().0 as f64 / ASSUMED_BYTES_PER_S).sum();
    let trials = plan.trials.iter().map(expected).fold(Nanos::ZERO, Nanos::saturating_add);
    trials.saturating_add(Nanos::from_seconds(fills))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_unit_that_people_plan_in() {
        let told: Vec<String> = [0, 59, 99, 100, 3_600, 7_260].map(Nanos::from_secs).map(roughly).to_vec();
        assert_eq!(told, ["0 s", "59 s", "99 s", "2 min", "60 min", "2 h 01 min"]);
    }
}
