//! A mirror that goes away while transactions run, and comes back.

use super::{close, plan, run, run_through};
use crate::machine::{Machine, Stand, Standing};
use crate::pair::{Mode, PairPlan, Resync};
use units::Nanos;
use workload::happening::{Fault, Happening, Mishap, Part};

const CUT: [(f64, Mishap); 2] = [(10.0, Mishap::Cut), (20.0, Mishap::Resume)];

/// How the nodes stood, by the seconds at which that began.
fn stood(course: &[Stand]) -> Vec<(f64, Standing)> {
    course.iter().map(|stand| (stand.at.seconds(), stand.standing)).collect()
}

#[test]
fn a_cut_wire_stops_those_who_change_data_until_patience_is_lost_and_then_they_go_on_alone() {
    let fast = PairPlan { resync: Resync { sends_per_s: 20_000.0, ..plan().resync }, ..plan() };
    let mut seen = run_through(&fast, &CUT, 8, 1, 0.0, 40.0);
    let ended = |from_s: f64, to_s: f64| {
        seen.ends.iter().filter(|at| (from_s..to_s).contains(&(**at as f64 / 1e9))).count() as f64 / (to_s - from_s)
    };
    let (before, still, alone) = (ended(2.0, 10.0), ended(10.1, 10.5), ended(11.0, 20.0));
    assert_eq!(still, 0.0, "all eight wait for the mirror");
    let apart = run(&PairPlan { apart: true, ..plan() }, 8, 1, 2.0, 40.0).rate_per_s;
    close(alone, apart, 0.02, "alone behind a cut");
    close(ended(25.0, 40.0), before, 0.04, "mirrored again");
    let course = seen.pair.course();
    let [(_, first), (silent_s, silent), (back_s, back), (level_s, level), _] = stood(&course)[..] else {
        panic!("{course:?}")
    };
    use Standing::{CatchesUp, Follows, Silent};
    assert_eq!((first, silent, back, level), (Follows, Silent, CatchesUp, Follows));
    assert_eq!((silent_s, back_s, course[1].waiting), (10.5, 20.0, 8), "half a second of patience");
    close(seen.pair.resync_s().expect("it ends"), level_s - back_s, 1e-6, "resync");
    // Two rows of 1,000 bytes a transaction, and those that changed while others were sent.
    close(course[2].kept_bytes as f64, 9.5 * 2_000.0 * apart, 0.02, "bytes kept");
    let sent = (course[3].sent_bytes - course[2].sent_bytes) as f64;
    assert!((1.0..1.3).contains(&(sent / course[2].kept_bytes as f64)), "{sent} of {course:?}");
}

#[test]
fn a_wire_that_is_whole_before_patience_is_lost_leaves_nobody_alone_and_nothing_to_send() {
    for wire in [Mishap::Cut, Mishap::HalfOpen] {
        let short = [(10.0, wire), (10.3, Mishap::Resume)];
        let mut seen = run_through(&plan(), &short, 8, 1, 0.0, 20.0);
        let waits = |at: &&u64| (10.02..10.3).contains(&(**at as f64 / 1e9));
        assert_eq!(seen.ends.iter().filter(waits).count(), 0, "{wire:?}");
        let course = seen.pair.course();
        assert!(course.iter().all(|stand| stand.standing == Standing::Follows && stand.kept_bytes == 0), "{course:?}");
        close(seen.rate_per_s, 0.985 * run(&plan(), 8, 1, 0.0, 20.0).rate_per_s, 0.02, "but for 0.3 s of 20");
    }
}

#[test]
fn a_mirror_that_ends_or_is_suspended_is_missed_at_once() {
    for (what, standing) in
        [(Mishap::KillMirror, Standing::Gone), (Mishap::StopMirror, Standing::Gone), (Mishap::Suspend, Standing::Asked)]
    {
        let mut seen = run_through(&plan(), &[(10.0, what)], 8, 1, 0.0, 20.0);
        assert_eq!(stood(&seen.pair.course())[1], (10.0, standing), "{what:?}");
        let soon = seen.ends.iter().filter(|at| (10.0..10.1).contains(&(**at as f64 / 1e9))).count();
        assert!(soon > 20, "{what:?}: {soon} ended within a tenth of a second");
        assert!(seen.pair.waiting_rows() > 0 && seen.pair.resync_s().is_none());
    }
}

#[test]
fn a_second_silence_has_a_patience_of_its_own_and_a_pair_of_two_writers_goes_on_behind_it() {
    let both = PairPlan { mode: Mode::Active, conflicts: 0.1, workers: 2, ..plan() };
    let happens = [(5.0, Mishap::Cut), (5.4, Mishap::Resume), (5.6, Mishap::HalfOpen), (9.0, Mishap::Resume)];
    let mut seen = run_through(&both, &happens, 8, 3, 0.0, 20.0);
    let course = seen.pair.course();
    let silent = course.iter().find(|stand| stand.standing == Standing::Silent).expect("it falls silent");
    assert_eq!(silent.at, Nanos::from_millis(6_100));
    assert_eq!(course.last().map(|stand| stand.standing), Some(Standing::Follows));
    assert!(seen.response_s[1] > 0.0 && seen.pair.little().abs() < 1e-2, "{}", seen.pair.little());
}

#[test]
fn a_cut_while_rows_come_late_keeps_them_for_the_next_resync() {
    let happens = [(2.0, Mishap::Suspend), (12.0, Mishap::Resume), (12.2, Mishap::Cut), (15.0, Mishap::Resume)];
    let mut seen = run_through(&plan(), &happens, 4, 3, 0.0, 40.0);
    let course = seen.pair.course();
    use Standing::{Asked, CatchesUp, Follows, Silent};
    let standings: Vec<Standing> = course.iter().map(|stand| stand.standing).collect();
    assert_eq!(standings, [Follows, Asked, CatchesUp, Silent, CatchesUp, Follows, Follows]);
    assert_eq!(seen.pair.waiting_rows(), 0);
    assert!(course[3].kept_bytes < course[2].kept_bytes, "what was sent by then is not sent again: {course:?}");
}

#[test]
fn what_a_machine_does_not_know_it_says() {
    let mut pair = super::Pair::new(plan(), 1, 1);
    for what in [Happening::Pair(Mishap::Swap), Happening::Fail(Part::Path, 0), Happening::Fault(Fault::Full)] {
        assert!(!pair.happen(Nanos(1), what), "{what}");
    }
    let mut alone = super::Pair::new(PairPlan { mode: Mode::Alone, ..plan() }, 1, 1);
    assert!(!alone.happen(Nanos(1), Happening::Pair(Mishap::Cut)), "there is nobody to lose");
    assert_eq!((alone.course(), alone.next()), (Vec::new(), None));
}
