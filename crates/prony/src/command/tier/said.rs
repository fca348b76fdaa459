//! The advice in words: the answer first, then the moves with their costs, then the curve, then what it stands on.

use super::advise::Told;
use super::times::Known;
use crate::output::{columns, on_one_line};
use advisor::{Advice, Band, Cost, How, Kind, Reason, Way};
use study::Engine;
use units::{Bytes, percent};

/// Rows of a list on a terminal.
const ROWS: usize = 20;

/// What saves less of the wait than this is worth no money.
const WORTH_BUYING: f64 = 0.01;

fn bytes(value: f64) -> String {
    units::bytes(Bytes(value.max(0.0).round() as u64))
}

fn seconds(value: f64) -> String {
    units::milliseconds(1e3 * value)
}

/// How long sessions wait: as the server measured it, or as what was counted would take on such a device.
pub(super) fn waits(advice: &Advice, known: &Known, window_s: f64) -> String {
    let (wait, window) = (seconds(advice.wait_s), seconds(window_s));
    match advice.reach.way {
        Way::AllTimed if advice.reach.from_memory => format!(
            "sessions wait {wait} for reads and the log in {window}, but reads were so short that memory must have answered them: that time no \
             tier saves"
        ),
        Way::Timed | Way::AllTimed => format!("sessions wait {wait} for storage in {window}"),
        Way::Device | Way::Requested => {
            let slow = known.from[0].strip_prefix("model ").unwrap_or("the slow tier at the times given");
            format!(
                "on {slow}, the reads and flushes seen in {window} would make sessions wait {wait}, counted one after the other"
            )
        }
    }
}

/// The answer in a sentence or two.
pub(super) fn answer(told: &Told) -> String {
    let (advice, answer) = (&told.advice, &told.advice.answer);
    let waits = waits(advice, &told.known, told.window_s);
    let share = |part: f64| percent(if advice.wait_s > 0.0 { part / advice.wait_s } else { 0.0 });
    let Some(reason) = answer.reason else {
        let there = advice.moves.iter().filter(|one| one.to_fast);
        let (count, all) = there.fold((0, 0.0), |(count, all), one| (count + 1, all + one.bytes));
        let interval = match advice.curve.band {
            Band::None => "one slice gives no interval".to_owned(),
            _ => format!("{} to {}", percent(answer.low), percent(answer.high)),
        };
        let (objects, all) = (units::counted(count, "objects"), bytes(all));
        let saved = format!("{} of the wait for storage is saved ({interval})", percent(answer.saved));
        // A plan that stands beside such a doubt is for who knows that other hours are unlike this one.
        return match advice.reach.from_memory {
            true => format!(
                "Watch another time before you move: {waits}. With {objects} ({all}) on the fast tier {saved}, if a device answers."
            ),
            false => format!("Move {objects} with {all} to the fast tier: {saved}. Now {waits}."),
        };
    };
    let why = match reason {
        Reason::TooFewReads => format!("{waits}, which is too little to save anything. Watch a busier time."),
        Reason::InCache => format!("what is read is in memory already; {waits}."),
        Reason::LogBound if !advice.log_timed => format!(
            "the log may be up to {} of the wait, and it stays where it is when tables move. The server does not time its flushes: \
             {} before you decide; {waits}{}.",
            share(advice.log_s),
            match told.engine {
                Engine::Mariadb => "give the time of one with `--slow-flush`",
                _ => "switch that on",
            },
            if advice.reach.from_memory { "" } else { " at most" }
        ),
        Reason::LogBound => format!(
            "{} of the wait is for the log, which stays where it is when tables move. Move the log to the fast tier, or nothing; {waits}.",
            share(advice.log_s)
        ),
        Reason::AlreadyThere => format!("what gains lies on the fast tier already; {waits}."),
        Reason::BudgetTooSmall if answer.saved <= 0.0 => {
            format!("nothing that gains fits {}; {waits}.", bytes(advice.budget))
        }
        Reason::BudgetTooSmall => format!(
            "nothing that fits {} saves more than {} of the wait; {waits}.",
            bytes(advice.budget),
            percent(answer.saved)
        ),
        Reason::NothingMoves => format!("what would gain cannot be moved, and the list says why; {waits}."),
        Reason::TiersAlike => format!(
            "the reads that were seen take about as long as they would on the fast tier by its times below; {waits}. If it is faster, give its \
             own with `--fast-read` and `--fast-flush`: `prony run flash` measures them."
        ),
    };
    format!("No benefit: {why}")
}

/// Which use of the budget saves most.
pub(super) fn rivals(told: &Told) -> String {
    let Some(rival) = told.rivals.last().filter(|rival| rival.bytes > 0.0) else {
        return "No budget, so that nothing else can be bought for it.".to_owned();
    };
    let placed = advisor::placed(&told.advice);
    if matches!(told.advice.answer.reason, Some(Reason::TooFewReads | Reason::InCache)) {
        return "Sessions wait so little that nothing is worth buying.".to_owned();
    }
    // Where nothing is gained nothing is the best use, and the parts of a remainder are no order.
    if told.advice.answer.reason.is_some() && placed.max(rival.memory).max(rival.cache) < WORTH_BUYING {
        return format!("Nothing that {} buys saves {} of the wait.", bytes(rival.bytes), percent(WORTH_BUYING));
    }
    let most = match rival.memory_most - rival.memory >= WORTH_BUYING {
        true => format!(" (simulated; up to {} where only a part of the rows is read)", percent(rival.memory_most)),
        false => " (simulated)".to_owned(),
    };
    let mut uses = [
        (placed, "tables and indexes on the fast tier", ""),
        (rival.memory, "more buffer memory", most.as_str()),
        (rival.cache, "a block cache on the fast tier", " (simulated)"),
    ];
    uses.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [(most, best, how), others @ ..] = uses;
    let told = |(saved, what, how): &(f64, &str, &str)| format!("{what} {}{how}", percent(*saved));
    let others = others.iter().map(told).collect::<Vec<_>>().join(", ");
    format!("The best use of {} is {best}: it saves {} of the wait{how}; {others}.", bytes(rival.bytes), percent(most))
}

/// What the intervals are.
pub(super) fn interval(told: &Told) -> &'static str {
    match told.advice.curve.band {
        Band::Bootstrap => "intervals hold 95 percent of 400 windows drawn of the slices",
        Band::Range => "intervals reach from the least to the most of a slice",
        Band::None => "one slice gives no interval",
    }
}

/// What the advice stands on, and what could make it wrong.
pub(super) fn doubts(told: &Told) -> Vec<String> {
    let (advice, reach) = (&told.advice, &told.advice.reach);
    let way = reach.way.says();
    let mut all = vec![if (reach.low, reach.high) == (1.0, 1.0) || reach.way == Way::Requested {
        format!("Reads: {way}.")
    } else {
        let (low, high) = (percent(reach.low), percent(reach.high));
        format!(
            "Reads: {} of those asked for reach the device ({low} to {high} by slice); {way}.",
            percent(reach.share)
        )
    }];
    all.push(times(&told.known));
    let heat = match advice.curve.stability {
        Some(rank) => format!("the order of both halves of the window correlates by {rank:.2} (1 is the same order)"),
        None => "too little was read in both halves of the window to compare their orders".to_owned(),
    };
    all.push(format!(
        "Window: {} in {}; {}; {heat}.",
        seconds(told.window_s),
        units::counted(u64::from(told.slices), "slices"),
        interval(told)
    ));
    if !told.vanished.is_empty() {
        let count = told.vanished.len();
        let some: Vec<&str> = told.vanished.iter().take(3).map(String::as_str).collect();
        all.push(format!(
            "Vanished meanwhile: {} ({}).",
            units::counted(count as u64, "objects"),
            on_one_line(&some.join(", "))
        ));
    }
    if advice.objects.iter().any(|object| object.known.kind == Kind::Index) {
        all.push("Sizes are those of the last VACUUM or ANALYZE; of what was read, as they are.".to_owned());
    }
    all.extend(told.standing.lacking.iter().map(|lacking| format!("Lacking: {lacking}.")));
    all
}

/// The times of both tiers, on which costs and gains stand.
pub(super) fn times(known: &Known) -> String {
    let of = |times: &advisor::Times, from: &str| {
        format!("{} a random read, {} a flush ({from})", seconds(times.read_s), seconds(times.flush_s))
    };
    let Known { tiers, from: [slow, fast], depth } = known;
    let depth = units::significant(*depth);
    format!("Times: slow {}; fast {}; at {depth} at once.", of(&tiers.slow, slow), of(&tiers.fast, fast))
}

/// What a move costs, in a line.
pub(super) fn cost(engine: Engine, cost: &Cost) -> String {
    let lock = match (cost.how, engine) {
        (_, Engine::Mariadb) => {
            format!("nobody writes it for about {}, nor reads it for a moment at the end", seconds(cost.locked_s))
        }
        (How::Rebuild, _) => "no lock but for moments at both ends".to_owned(),
        (How::Copy, _) => format!("nobody reads or writes it for about {}", seconds(cost.locked_s)),
    };
    let log = match cost.log_bytes {
        all if engine == Engine::Mariadb => format!("{} of redo log, and nothing for replicas", bytes(all)),
        0.0 => "nothing in the log, nor for replicas".to_owned(),
        all if cost.how == How::Rebuild => format!("{} of log, which every replica receives", bytes(all)),
        all => format!("{} of log, which every replica receives and replays under the same lock", bytes(all)),
    };
    format!("about {}; {lock}; {log}; {} more room until it ends", seconds(cost.seconds), bytes(cost.room_bytes))
}

/// Everything, for a terminal.
pub(super) fn text(told: &Told) -> String {
    let mut text = format!("{}\n", answer(told));
    if !told.advice.moves.is_empty() {
        text.push_str("\nThe plan\n");
        for one in &told.advice.moves {
            let way = if one.to_fast { "to the fast tier" } else { "back to the slow tier" };
            let (kind, name, size) = (one.kind.word(), on_one_line(&one.name), bytes(one.bytes));
            text.push_str(&format!("  {kind} {name} ({size}) {way}\n    {}\n", cost(told.engine, &one.cost)));
        }
    }
    text.push_str(&curve(told));
    text.push_str(&format!("\n{}\n\n", rivals(told)));
    doubts(told).iter().for_each(|doubt| text.push_str(&format!("{doubt}\n")));
    text
}

/// The ranked list, which is the curve.
fn curve(told: &Told) -> String {
    let (advice, curve) = (&told.advice, &told.advice.curve);
    let head =
        ["object", "kind", "size", "reads/s", "wait", "all so far", "saved so far", "interval", ""].map(str::to_owned);
    let mut rows = vec![head];
    for (at, point) in curve.points.iter().enumerate().skip(1).take(ROWS) {
        let piece = &advice.pieces[point.piece.unwrap_or_default()];
        let object = &advice.objects[piece.objects[0]];
        // TOAST goes with its table and counts with it, in the reads as in the wait.
        let reads: f64 = piece.objects.iter().map(|at| advice.objects[*at].sum(|counts| counts.reads)).sum();
        let knee = if curve.knee == Some(at) { "knee" } else { "" };
        let here = if object.known.fast { "on the fast tier" } else { "" };
        rows.push([
            object.known.name.clone(),
            object.known.kind.word().to_owned(),
            bytes(piece.bytes),
            units::significant(reads / told.window_s.max(1e-9)),
            seconds(if object.known.fast { piece.gain.fast_s() } else { piece.gain.slow_s() }),
            bytes(point.bytes),
            percent(point.saved),
            match curve.band {
                Band::None => String::new(),
                _ => format!("{} to {}", percent(point.low), percent(point.high)),
            },
            [knee, here].iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", "),
        ]);
    }
    let mut text = format!("\nObjects by gain for each byte\n{}", columns(&rows));
    let more = curve.points.len().saturating_sub(1 + ROWS);
    if more > 0 {
        text.push_str(&format!("and {more} more, which gain less for each byte\n"));
    }
    let stay = advice.objects.iter().zip(&advice.gains).filter(|(object, _)| !object.known.stays.is_empty());
    for (object, gain) in stay.filter(|(_, gain)| gain.saved_s() > 0.0).take(ROWS) {
        let wait = seconds(if object.known.fast { gain.fast_s() } else { gain.slow_s() });
        let why = format!("{}: {wait} of wait; not moved: {}", object.known.name, object.known.stays);
        text.push_str(&format!("{}\n", on_one_line(&why)));
    }
    let hand = advice
        .objects
        .iter()
        .zip(&advice.gains)
        .filter(|(object, gain)| matches!(object.known.kind, Kind::Log | Kind::Temporary) && gain.saved_s() > 0.0);
    for (object, gain) in hand {
        let share = percent(gain.saved_s() / advice.wait_s.max(1e-12));
        text.push_str(&format!(
            "{}: {} of wait; by hand, {share} of the wait could be saved\n",
            object.known.name,
            seconds(gain.slow_s())
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use advisor::{Look, Tiers, Times};

    #[test]
    fn a_wait_that_was_not_measured_is_told_as_what_the_slow_tier_would_make_of_it() {
        let times = Times { read_s: 6e-3, in_order_s: 1e-3, flush_s: 6e-3, copied_s: 2e-3 };
        let tiers = Tiers { slow: times, fast: times };
        let looks = [Look::default(), Look { at_s: 10.0, ..Look::default() }];
        let mut advice = advisor::advise(Vec::new(), &looks, &tiers, None, 1);
        let known = |from: &str| Known { tiers, from: [from.to_owned(), String::new()], depth: 1.0 };
        let mut told = |way, wait_s, window_s, from| {
            (advice.reach.way, advice.wait_s) = (way, wait_s);
            waits(&advice, &known(from), window_s)
        };
        for (way, wait_s, window_s, from, says) in [
            (Way::Timed, 1.5, 10.0, "model disk-15k", "sessions wait 1.5 s for storage in 10 s"),
            (Way::AllTimed, 0.02, 4.0, "given, scans by model disk-15k", "sessions wait 20 ms for storage in 4 s"),
            (
                Way::Device,
                12.0,
                2.0,
                "model disk-15k",
                "on disk-15k, the reads and flushes seen in 2 s would make sessions wait 12 s, counted one after the other",
            ),
            (
                Way::Requested,
                0.25,
                60.0,
                "given, scans by model disk-15k",
                "on the slow tier at the times given, the reads and flushes seen in 60 s would make sessions wait 250 ms, counted one \
                 after the other",
            ),
        ] {
            assert_eq!(told(way, wait_s, window_s, from), says);
        }
    }
}
