//! What a stream is called in a run file: its classes, and its load in numbers and in words.

use crate::experiment::StreamChoice;
use crate::{Operations, Pool, Stream, Work};
use load::{Arrivals, Spec as LoadSpec, Think};
use observation::{Asks, BY_THE_TRACE, ClassKind, Gives, StreamLabel};
use units::{Bytes, Nanos};
use workload::Storage;

/// The label of a stream.
pub(crate) fn label(choice: &StreamChoice, stream: &Stream) -> StreamLabel {
    let classes = stream.classes();
    let gives = (0..).zip(&classes).filter_map(|(number, class)| {
        let (what, amount) = class.gives?;
        let offered_per_s = class.offered_per_s;
        Some(Gives { class: number, amount, what: what.word().to_owned(), offered_per_s })
    });
    let gives: Vec<Gives> = gives.collect();
    let classes = classes.into_iter().map(|class| {
        let kind = match (class.age, class.upkeep) {
            (true, _) => ClassKind::Age,
            (_, true) => ClassKind::Upkeep,
            _ => ClassKind::Work,
        };
        (class.name, kind)
    });
    // Behind them stands, once for each kind of thing, what they gave.
    let mut classes: Vec<(String, ClassKind)> = classes.collect();
    for given in &gives {
        let counted = (given.what.clone(), ClassKind::Yield);
        if !classes.contains(&counted) {
            classes.push(counted);
        }
    }
    classes.extend(limited(stream));
    let (slots, think_mean, offered) = match stream.load {
        LoadSpec::Closed { slots, think } => (Some(slots), think.mean(), None),
        LoadSpec::Open { rate, .. } => (None, Nanos::ZERO, Some(rate)),
    };
    StreamLabel {
        name: choice.name.clone(),
        workload: choice.workload.clone(),
        asks: asks(stream),
        load: load_words(stream),
        slots,
        think_mean,
        offered,
        classes,
        gives,
    }
}

/// What counts the transactions of a stream with a limit of latency that miss it.
fn limited(stream: &Stream) -> Vec<(String, ClassKind)> {
    let limit = stream.transactions().map_or(Nanos::ZERO, |(_, pool)| pool.limit);
    let late = (format!("over {}", units::duration(limit)), ClassKind::Late);
    match stream.load {
        _ if limit == Nanos::ZERO => Vec::new(),
        LoadSpec::Open { .. } => vec![late, ("skipped".to_owned(), ClassKind::Skipped)],
        LoadSpec::Closed { .. } => vec![late],
    }
}

fn asks(stream: &Stream) -> Asks {
    match &stream.work {
        Work::Operations(Operations { of: Storage::Block(_), .. }) => Asks::Operations,
        Work::Operations(Operations { of: Storage::Files(_), .. }) => Asks::Files,
        Work::Transactions { .. } => Asks::Transactions,
    }
}

/// The load in words: `closed, 32 outstanding`.
pub(crate) fn load_words(stream: &Stream) -> String {
    match &stream.work {
        Work::Transactions { asked, pool } => {
            let unit = asked.unit().map_or_else(String::new, |unit| format!("{unit} a transaction; "));
            format!("{unit}{}", sessions_words(stream.load, pool))
        }
        Work::Operations(Operations { of: Storage::Files(spec), .. }) => {
            let loops = if spec.loops == 1 { "1 loop".to_owned() } else { format!("{} loops", spec.loops) };
            format!("{} wide, {loops} of {}", spec.width, size(spec.file))
        }
        Work::Operations(_) => operations_words(stream.load),
    }
}

fn operations_words(load: LoadSpec) -> String {
    match load {
        LoadSpec::Closed { slots, think: Think::None | Think::Given } => format!("closed, {slots} outstanding"),
        LoadSpec::Closed { slots, think: Think::Constant(time) } => {
            format!("closed, {slots} outstanding, {} think time", units::duration(time))
        }
        LoadSpec::Closed { slots, think: Think::Exponential(time) } => {
            format!("closed, {slots} outstanding, {} mean think time", units::duration(time))
        }
        LoadSpec::Open { rate, arrivals, slots } => {
            format!("open, {} {}, at most {slots} in flight", units::rate(rate.0), arrivals_word(arrivals))
        }
    }
}

fn arrivals_word(arrivals: Arrivals) -> &'static str {
    if arrivals == Arrivals::Constant { "constant gaps" } else { "Poisson" }
}

fn sessions_words(load: LoadSpec, pool: &Pool) -> String {
    let sessions = if pool.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", pool.sessions) };
    match load {
        LoadSpec::Closed { slots, think } if think.mean() > Nanos::ZERO || slots != pool.sessions => {
            let think = match think.mean() {
                Nanos::ZERO => String::new(),
                mean => format!(" {} mean think time,", units::duration(mean)),
            };
            format!("{slots} users,{think} {sessions}")
        }
        LoadSpec::Closed { think: Think::Given, .. } => format!("{BY_THE_TRACE}, {sessions}"),
        LoadSpec::Closed { .. } => format!("closed, {sessions}"),
        LoadSpec::Open { rate, arrivals, .. } => {
            format!("open, {} {}, {sessions}", units::rate(rate.0), arrivals_word(arrivals))
        }
    }
}

/// A size in the family of units that it is round in: 10 000 000 bytes are `10 MB`, not `9.54 MiB`.
fn size(size: Bytes) -> String {
    const DECIMAL: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let round = DECIMAL.iter().find(|(unit, _)| size.0 >= *unit && size.0.is_multiple_of(*unit));
    match round {
        Some((unit, name)) if !size.0.is_multiple_of(1024) || *unit > 1_000 => format!("{} {name}", size.0 / unit),
        _ => units::bytes(size),
    }
}
