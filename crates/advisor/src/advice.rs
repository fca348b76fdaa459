//! The advice: what is gained, for how many bytes, by which moves; or why nothing is.

use crate::choice::{chosen, stay};
use crate::cost::{Move, moves};
use crate::curve::{Curve, curve};
use crate::gain::{Gain, Tiers};
use crate::object::{Kind, Look, Object};
use crate::reach::{Reach, reach};

/// Sessions wait for storage for less than this share of the window: there is nothing to save.
const WAIT_MIN: f64 = 0.01;
/// An object that saves less than this share of the wait is not worth its move.
const WORTH_MIN: f64 = 0.001;
/// A saving below this share of the wait is none.
const SAVED_MIN: f64 = 0.05;
/// The log holds at least this share of the wait, and is what there is to move.
const LOG_SHARE: f64 = 0.5;
/// Of so many blocks that are asked for, nearly all are found in the buffer.
const HIT_SHARE: f64 = 0.99;

observation::words! {
    /// Why nothing is gained.
    pub enum Reason {
        /// Sessions hardly wait for storage.
        TooFewReads = "too-few-reads",
        /// What is read is in memory.
        InCache = "in-cache",
        /// Sessions wait for the log, which no statement moves.
        LogBound = "log-bound",
        /// What gains is there already.
        AlreadyThere = "already-there",
        /// Nothing that fits the budget saves much.
        BudgetTooSmall = "budget-too-small",
        /// What would gain cannot be moved.
        NothingMoves = "nothing-moves",
        /// Both tiers are alike for what is asked of them.
        TiersAlike = "tiers-alike",
    }
}

/// What is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Why nothing is gained; none where something is.
    pub reason: Option<Reason>,
    /// The share of the wait, as it is now, that the plan saves.
    pub saved: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Bytes on the fast tier then.
    pub bytes: f64,
}

/// What goes together: a table with its TOAST, an index, or a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Indices of its objects; the first names it.
    pub objects: Vec<usize>,
    /// All bytes.
    pub bytes: f64,
    /// What it makes sessions wait.
    pub gain: Gain,
}

impl Piece {
    /// The object that names it.
    pub(crate) fn first(&self) -> usize {
        self.objects[0]
    }
}

/// Everything that is said of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The objects.
    pub objects: Vec<Object>,
    /// What each makes sessions wait, in their order.
    pub gains: Vec<Gain>,
    /// What goes together and can be moved.
    pub pieces: Vec<Piece>,
    /// How it was found out what reaches the device.
    pub reach: Reach,
    /// Seconds that sessions waited for storage, as it lies now.
    pub wait_s: f64,
    /// Seconds of it for the log.
    pub log_s: f64,
    /// Whether the server timed its flushes; else that is what they would take on the tier, at most all of the window.
    pub log_timed: bool,
    /// The curve over the pieces.
    pub curve: Curve,
    /// The bytes that may be used: what was asked for, else those of the knee.
    pub budget: f64,
    /// Indices of the pieces that lie on the fast tier then.
    pub taken: Vec<usize>,
    /// The moves that bring them there.
    pub moves: Vec<Move>,
    /// The answer.
    pub answer: Answer,
}

impl Advice {
    /// How the gain grows with the bytes of these pieces, as a share of what they save together.
    pub fn growth(&self, pieces: &[usize], seed: u64) -> Curve {
        let own = pieces.iter().map(|at| &self.pieces[*at]);
        let drawn: Vec<(f64, Gain)> = own.map(|piece| (piece.bytes, piece.gain.clone())).collect();
        let slices = drawn.first().map_or(0, |(_, gain)| gain.slow.len());
        let whole = |slice| drawn.iter().map(|(_, gain)| gain.saved_in(slice)).sum();
        let whole: Vec<f64> = (0..slices).map(whole).collect();
        let mut curve = curve(&drawn, &whole, seed);
        curve.points.iter_mut().for_each(|point| point.piece = point.piece.map(|at| pieces[at]));
        curve
    }
}

/// What goes together and can be moved.
pub(crate) fn pieces(objects: &[Object], tiers: &Tiers, reach: &Reach) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let movable = |object: &Object| {
        matches!(object.known.kind, Kind::Table | Kind::Index | Kind::File) && object.known.stays.is_empty()
    };
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| movable(object)) {
        pieces.push(Piece { objects: vec![at], bytes: object.known.bytes, gain: Gain::of(object, tiers, reach) });
    }
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| object.known.kind == Kind::Toast) {
        let table = |piece: &&mut Piece| Some(&objects[piece.first()].known.id) == object.known.table.as_ref();
        if let Some(piece) = pieces.iter_mut().find(table) {
            piece.gain = piece.gain.and(&Gain::of(object, tiers, reach));
            piece.bytes += object.known.bytes;
            piece.objects.push(at);
        }
    }
    pieces
}

/// Where flushes are not timed, they take at most all of the window: a log has one at a time.
fn bound_flushes(log: &mut Object, looks: &[Look], tiers: &Tiers) {
    let each = tiers.here(log).flush_s;
    for (counts, looks) in log.slices.iter_mut().zip(looks.windows(2)) {
        let most = (looks[1].at_s - looks[0].at_s).max(0.0);
        if counts.flush_s.is_none() && counts.flushes * each > most {
            counts.flush_s = Some(most);
        }
    }
}

/// Judges a window: objects with their slices, and the looks that they were taken of.
pub fn advise(mut objects: Vec<Object>, looks: &[Look], tiers: &Tiers, budget: Option<f64>, seed: u64) -> Advice {
    let mut log_timed = true;
    for log in objects.iter_mut().filter(|object| object.known.kind == Kind::Log) {
        log_timed &= log.slices.iter().all(|counts| counts.flush_s.is_some());
        bound_flushes(log, looks, tiers);
    }
    let reach = reach(&objects, looks, tiers);
    let gains: Vec<Gain> = objects.iter().map(|object| Gain::of(object, tiers, &reach)).collect();
    let pieces = pieces(&objects, tiers, &reach);
    let slices = looks.len().saturating_sub(1);
    let wait: Vec<f64> = (0..slices).map(|slice| gains.iter().map(|gain| gain.slow[slice]).sum()).collect();
    let drawn: Vec<(f64, Gain)> = pieces.iter().map(|piece| (piece.bytes, piece.gain.clone())).collect();
    let curve = curve(&drawn, &wait, seed);
    let knee = curve.knee.map_or(0.0, |at| curve.points[at].bytes);
    let there = |at: usize| objects[pieces[at].first()].known.fast;
    // Whoever names no budget has at least the room that is used.
    let used: f64 = (0..pieces.len()).filter(|at| there(*at)).map(|at| pieces[at].bytes).sum();
    let budget = budget.unwrap_or(knee.max(used));
    let least = WORTH_MIN * wait.iter().sum::<f64>();
    let worth = |piece: &Piece| Some(piece.gain.saved_s()).filter(|saved| *saved >= least).unwrap_or(0.0);
    let items: Vec<(f64, f64)> = pieces.iter().map(|piece| (piece.bytes, worth(piece))).collect();
    let mut taken = chosen(&items, budget);
    stay(&items, &mut taken, there, budget);
    let moves = moves(&objects, &pieces, &taken, tiers);
    let here = |(object, gain): (&Object, &Gain)| if object.known.fast { gain.fast_s() } else { gain.slow_s() };
    let waits = || objects.iter().zip(&gains);
    let wait_s = waits().map(here).sum();
    let log_s = waits().filter(|(object, _)| object.known.kind == Kind::Log).map(here).sum();
    let mut advice = Advice {
        answer: Answer {
            // A sum of nothing is a negative zero, which JSON would show.
            bytes: taken.iter().map(|at| items[*at].0).sum::<f64>() + 0.0,
            ..Answer::default()
        },
        objects,
        gains,
        pieces,
        reach,
        wait_s,
        log_s,
        log_timed,
        curve,
        budget,
        taken,
        moves,
    };
    let window_s = looks.last().map_or(0.0, |look| look.at_s);
    advice.answer = answer(&advice, window_s, wait.iter().sum());
    if advice.answer.reason.is_some() {
        advice.moves.clear();
        // What would only bring something back saves nothing.
        let Answer { saved, low, high, .. } = &mut advice.answer;
        [saved, low, high].into_iter().for_each(|part| *part = part.max(0.0));
    }
    advice
}

/// The answer to a plan; `slow_s` is what sessions would wait with everything on the slow tier.
fn answer(advice: &Advice, window_s: f64, slow_s: f64) -> Answer {
    let (Advice { wait_s, log_s, curve, .. }, mut answer) = (advice, advice.answer);
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    answer.saved = share(advice.moves.iter().map(|one| one.saved_s).sum(), *wait_s);
    // The band of the curve where it holds as many bytes, as a part of what the plan saves.
    let at = curve.points.iter().rev().find(|point| point.bytes <= answer.bytes.max(advice.budget) + 0.5);
    if let Some(point) = at.filter(|point| point.saved > 0.0) {
        answer.low = answer.saved * point.low / point.saved;
        answer.high = (answer.saved * point.high / point.saved).min(1.0);
    }
    // What reaches the device swings, and the wait for the log does not swing with it.
    let swings = |reaches: f64| {
        let times = share(reaches, advice.reach.share);
        let reads = wait_s - log_s;
        share(times * wait_s, times * reads + log_s)
    };
    answer.low *= swings(advice.reach.low).min(1.0);
    answer.high = (answer.high * swings(advice.reach.high).max(1.0)).min(1.0);
    let movable = share(advice.pieces.iter().map(|piece| piece.gain.saved_s()).sum(), slow_s);
    // What gains and lies on the slow tier still.
    let slow = advice.pieces.iter().filter(|piece| !advice.objects[piece.first()].known.fast);
    let away = share(slow.map(|piece| piece.gain.saved_s().max(0.0)).sum(), slow_s);
    let staying = advice.objects.iter().zip(&advice.gains).filter(|(object, _)| !object.known.stays.is_empty());
    let stays: f64 = staying.map(|(_, gain)| gain.saved_s()).sum();
    let data = || advice.objects.iter().filter(|object| object.known.kind != Kind::Log);
    let (read, hit) = data().fold((0.0, 0.0), |(read, hit), object| {
        (read + object.sum(|counts| counts.reads), hit + object.sum(|counts| counts.hits))
    });
    answer.reason = match () {
        () if share(*wait_s, window_s) < WAIT_MIN && share(hit, hit + read) >= HIT_SHARE => Some(Reason::InCache),
        () if share(*wait_s, window_s) < WAIT_MIN => Some(Reason::TooFewReads),
        () if answer.saved >= SAVED_MIN => None,
        () if share(*log_s, *wait_s) >= LOG_SHARE => Some(Reason::LogBound),
        () if movable < SAVED_MIN && share(stays, slow_s) >= SAVED_MIN => Some(Reason::NothingMoves),
        () if movable < SAVED_MIN => Some(Reason::TiersAlike),
        () if away < SAVED_MIN && !advice.taken.is_empty() => Some(Reason::AlreadyThere),
        () => Some(Reason::BudgetTooSmall),
    };
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counts;
    use crate::gain::tests::TIERS;
    use crate::object::tests::table;

    fn looks(slices: usize) -> Vec<Look> {
        (0..=slices).map(|at| Look { at_s: at as f64, ..Look::default() }).collect()
    }

    fn of(objects: Vec<Object>, budget: Option<f64>) -> Advice {
        let slices = objects[0].slices.len();
        advise(objects, &looks(slices), &TIERS, budget, 1)
    }

    fn log(flushes: f64) -> Object {
        let mut log = table("log", 1e9, &[0.0]);
        log.known.kind = Kind::Log;
        log.slices = vec![Counts { flushes, ..Counts::default() }];
        log
    }

    #[test]
    fn a_quarter_of_the_bytes_that_holds_the_heat_is_the_plan_and_its_saving_is_told() {
        let advice = of(vec![table("cold", 750.0, &[30.0, 30.0]), table("hot", 250.0, &[70.0, 70.0])], None);
        assert_eq!((advice.answer.reason, advice.budget, advice.answer.bytes), (None, 250.0, 250.0));
        let moved: Vec<&str> = advice.moves.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(moved, ["hot"]);
        // Seven tenths of the wait, of which a read of the fast tier leaves a thirtieth.
        let expected = 0.7 * (1.0 - 0.2 / 6.0);
        assert!((advice.answer.saved - expected).abs() < 1e-9, "{:?}", advice.answer);
        assert!(advice.answer.low <= advice.answer.saved && advice.answer.saved <= advice.answer.high);
    }

    #[test]
    fn the_interval_of_the_answer_holds_what_the_share_of_reads_that_reach_the_device_may_be() {
        let device = |blocks: [f64; 2]| {
            let objects = vec![table("t", 1e6, &[100.0, 100.0]), log(100.0)];
            let mut looks = looks(2);
            for (look, read) in looks.iter_mut().zip([0.0, blocks[0], blocks[0] + blocks[1]]) {
                look.device_bytes = Some(read * crate::BLOCK);
            }
            let mut objects = objects;
            objects[1].slices = vec![Counts { flushes: 50.0, ..Counts::default() }; 2];
            advise(objects, &looks, &TIERS, None, 1).answer
        };
        let (steady, swinging) = (device([50.0, 50.0]), device([90.0, 10.0]));
        assert!((steady.saved - swinging.saved).abs() < 1e-9 && steady.high - steady.low < 1e-9, "{steady:?}");
        assert!(swinging.low < 0.7 * steady.low && swinging.high > 1.05 * steady.high, "{swinging:?} {steady:?}");
    }

    #[test]
    fn a_night_that_waits_for_its_log_is_told_so_and_nothing_is_moved() {
        let advice = of(vec![table("t", 1e6, &[1.0]), log(5000.0)], Some(1e9));
        assert_eq!((advice.answer.reason, advice.moves.len()), (Some(Reason::LogBound), 0));
        assert!(advice.log_s > 0.99 * advice.wait_s);
        // Nobody timed the flushes: 5000 of 6 ms do not fit into one second, and a log has one at a time.
        assert_eq!((advice.log_s, advice.log_timed), (1.0, false));
    }

    #[test]
    fn too_few_reads_and_all_in_memory_are_told_apart() {
        let quiet = table("t", 1e6, &[1.0, 0.0]);
        assert_eq!(of(vec![quiet.clone()], None).answer.reason, Some(Reason::TooFewReads));
        let mut cached = quiet;
        cached.slices[0].hits = 1e6;
        assert_eq!(of(vec![cached], None).answer.reason, Some(Reason::InCache));
    }

    #[test]
    fn what_is_there_already_stays_and_a_budget_that_nothing_fits_is_told() {
        let mut there = table("hot", 250.0, &[7000.0]);
        there.known.fast = true;
        let advice = of(vec![there, table("cold", 750.0, &[1.0])], Some(300.0));
        assert_eq!(advice.answer.reason, Some(Reason::AlreadyThere));
        // What lies there is not asked for, and what is asked for does not fit.
        let mut idle = table("idle", 250.0, &[0.0]);
        idle.known.fast = true;
        let advice = of(vec![idle, table("asked", 750.0, &[7000.0])], Some(300.0));
        assert_eq!(advice.answer.reason, Some(Reason::BudgetTooSmall));
        let mut large = table("large", 1e9, &[900.0]);
        for fast in [false, true] {
            large.known.fast = fast;
            let Advice { answer, moves, .. } = of(vec![large.clone()], Some(1e6));
            assert_eq!((answer.reason, answer.saved, answer.low), (Some(Reason::BudgetTooSmall), 0.0, 0.0));
            assert!(moves.is_empty());
        }
    }

    #[test]
    fn what_is_cold_leaves_the_fast_tier_only_when_its_room_is_needed() {
        let mut cold = table("cold", 500.0, &[0.0]);
        cold.known.fast = true;
        let moved = |budget| {
            let advice = of(vec![cold.clone(), table("hot", 500.0, &[900.0])], Some(budget));
            advice.moves.iter().map(|one| (one.name.clone(), one.to_fast)).collect::<Vec<_>>()
        };
        assert_eq!(moved(1000.0), [("hot".to_owned(), true)]);
        assert_eq!(moved(999.0), [("cold".to_owned(), false), ("hot".to_owned(), true)]);
    }

    #[test]
    fn what_cannot_be_moved_is_in_no_plan_however_hot_it_is() {
        let mut bound = table("bound", 100.0, &[9000.0]);
        bound.known.stays = "it is partitioned".to_owned();
        let alone = of(vec![bound.clone()], None);
        assert_eq!((alone.answer.reason, alone.moves.len()), (Some(Reason::NothingMoves), 0));
        let advice = of(vec![bound, table("free", 100.0, &[900.0])], Some(1e9));
        let moved: Vec<&str> = advice.moves.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((moved, advice.pieces.len(), advice.objects.len()), (vec!["free"], 1, 2));
    }

    #[test]
    fn tiers_that_are_alike_gain_nothing() {
        let alike = Tiers { slow: TIERS.fast, fast: TIERS.fast };
        let advice = advise(vec![table("t", 1e6, &[9000.0])], &looks(1), &alike, None, 1);
        assert_eq!(advice.answer.reason, Some(Reason::TiersAlike));
    }

    #[test]
    fn long_values_go_with_their_table() {
        let mut long = table("long", 500.0, &[900.0]);
        (long.known.kind, long.known.table) = (Kind::Toast, Some("t".to_owned()));
        let advice = of(vec![long, table("t", 100.0, &[1.0]), table("other", 600.0, &[10.0])], Some(600.0));
        let moved: Vec<(&str, f64)> = advice.moves.iter().map(|one| (one.name.as_str(), one.bytes)).collect();
        assert_eq!(moved, [("t", 600.0)]);
    }
}
