//! What an array does when parts of it fail: nothing is lost, nothing is done twice, and nobody waits for ever.

use super::tests::{built, ends, spec};
use super::*;
use crate::machine::{Ended, Machine};
use units::Nanos;
use workload::{Operation, OperationKind};

const MS: u64 = 1_000_000;

fn write(number: u64) -> Operation {
    let (module, offset) = ((number % 4) as u16, number * 4_096);
    Operation { kind: OperationKind::Write, class: 0, module, offset, bytes: 4_096 }
}

/// Lets time pass to the end of all that is under way.
fn drained(array: &mut General, end: Nanos) -> Vec<Ended> {
    let (mut ended, mut all) = (Vec::new(), Vec::new());
    while array.advance(end, &mut ended) < end {
        all.append(&mut ended);
    }
    all.append(&mut ended);
    all
}

/// Ends of a closed load of writes in the first half of the time; in the other everything comes to an end.
fn writes(array: &mut General, slots: u32, half: Nanos) -> Vec<Ended> {
    let (mut ended, mut all, mut number) = (Vec::new(), Vec::new(), u64::from(slots));
    (0..slots).for_each(|slot| array.submit(Nanos(0), slot, &write(u64::from(slot))));
    while array.advance(half, &mut ended) < half {
        for one in ended.drain(..) {
            all.push(one);
            array.submit(one.at, one.slot, &write(number));
            number += 1;
        }
    }
    all.append(&mut ended);
    all.append(&mut drained(array, Nanos(2 * half.0)));
    assert_eq!(all.len() as u64, number, "everybody comes out");
    all
}

#[test]
fn a_path_that_returns_behind_a_dead_controller_stays_down() {
    let mut array = built(spec(), 16);
    array.plan(Nanos(MS), Change::ControllerLost(0));
    array.plan(Nanos(2 * MS), Change::PathLost(0));
    array.plan(Nanos(3 * MS), Change::PathBack(0));
    array.plan(Nanos(4 * MS), Change::PathLost(2));
    drained(&mut array, Nanos(5 * MS));
    assert!(!array.paths.all[0].up && !array.paths.all[2].up);
    array.plan(Nanos(6 * MS), Change::ControllerBack(0));
    drained(&mut array, Nanos(7 * MS));
    assert!(array.paths.all[0].up, "with its controller it is there again");
    assert!(!array.paths.all[2].up, "that one was lost for itself");
}

#[test]
fn a_write_that_waits_in_a_full_cache_is_held_once_when_its_path_is_lost() {
    let mut slow = spec();
    slow.cache.write_bytes = 8 * 4_096;
    slow.modules.fixed_ns = [10 * MS, 10 * MS];
    let mut array = built(slow, 32);
    (0..32).for_each(|slot| array.submit(Nanos(0), slot, &write(u64::from(slot))));
    array.plan(Nanos(MS), Change::PathLost(1));
    let all = drained(&mut array, Nanos(1_000 * MS));
    assert_eq!(all.iter().filter(|one| !one.failed).count(), 32);
    assert_eq!(array.cache.dirty + array.cache.gone, 32 * 4_096);
}

#[test]
fn a_promised_write_whose_answer_is_lost_is_answered_again_and_not_held_again() {
    let mut far = spec();
    far.link_km = 200.0;
    let mut array = built(far, 32);
    (0..32).for_each(|slot| array.submit(Nanos(0), slot, &write(u64::from(slot))));
    // The answers are on their way of a millisecond back.
    array.plan(Nanos(3 * MS / 2), Change::PathLost(3));
    let all = drained(&mut array, Nanos(100 * MS));
    assert!(all.len() == 32 && all.iter().any(|one| one.at.0 > 4 * MS), "some went again");
    assert_eq!(array.cache.dirty + array.cache.gone, 32 * 4_096);
}

#[test]
fn all_who_lose_their_last_path_in_one_moment_are_told() {
    let mut slow = spec();
    (slow.controllers, slow.controller) = (1, (1, MS));
    let mut array = built(slow.clone(), 64);
    (0..64).for_each(|slot| array.submit(Nanos(0), slot, &write(u64::from(slot))));
    array.plan(Nanos(3 * MS / 2), Change::ControllerLost(0));
    let all = drained(&mut array, Nanos(100 * MS));
    assert_eq!((all.len(), all.iter().filter(|one| one.failed).count()), (64, 63));
    slow.waits = true;
    let mut patient = built(slow, 64);
    (0..64).for_each(|slot| patient.submit(Nanos(0), slot, &write(u64::from(slot))));
    patient.plan(Nanos(3 * MS / 2), Change::ControllerLost(0));
    patient.plan(Nanos(50 * MS), Change::ControllerBack(0));
    let all = drained(&mut patient, Nanos(200 * MS));
    assert!(all.len() == 64 && all.iter().all(|one| !one.failed));
    assert_eq!(all.iter().filter(|one| one.at.0 > 50 * MS).count(), 63);
}

#[test]
fn a_loss_of_power_loses_nothing_that_was_answered() {
    let mut all_out = spec();
    (all_out.waits, all_out.cache.high, all_out.cache.low) = (true, 0.0, 0.0);
    let (lost, back) = (Nanos(20 * MS), Nanos(60 * MS));
    let run = || {
        let mut array = built(all_out.clone(), 64);
        array.power_loss(lost, Nanos(back.0 - lost.0));
        let all = writes(&mut array, 64, Nanos(100 * MS));
        (all, array)
    };
    let (all, array) = run();
    assert!(all.iter().all(|one| !one.failed));
    assert!(!all.iter().any(|one| lost < one.at && one.at <= back), "nothing is served without power");
    assert!(all.iter().any(|one| one.at <= lost) && all.iter().any(|one| one.at > back));
    let answered = all.len() as u64 * 4_096;
    assert_eq!((array.cache.gone, array.cache.dirty), (answered, 0), "all that was promised is on modules");
    let (there, passed) = array.little();
    assert!((there / passed - 1.0).abs() < 0.001, "{there} {passed}");
    assert_eq!(run().0, all, "equal seeds answer alike");
}

#[test]
fn what_was_promised_stays_promised_while_there_is_no_power() {
    let mut array = built(spec(), 64);
    array.plan(Nanos(4 * MS), Change::PowerLost);
    let all = writes(&mut array, 64, Nanos(6 * MS));
    let answered = all.iter().filter(|one| !one.failed).count() as u64 * 4_096;
    let kept = array.cache.dirty + array.cache.gone;
    // A write may be held whose answer was not out yet.
    assert!(answered > 0 && kept >= answered && kept <= answered + 64 * 4_096, "{answered} {kept}");
    assert!(all.iter().filter(|one| one.at.0 > 4 * MS).all(|one| one.failed), "without power it fails at once");
}

#[test]
fn a_rebuild_goes_on_behind_a_loss_of_power() {
    let rebuilt = |dark: u64| {
        let mut array = built(spec(), 16);
        array.plan(Nanos(0), Change::ModuleLost { group: 0, member: 2 });
        array.power_loss(Nanos(30 * MS), Nanos(dark * MS));
        ends(&mut array, 16, 1.0, 1.0);
        assert_eq!(array.lost[0], 0);
        array.state.rebuilt[0].0 / 1_000
    };
    // Some rows are begun anew, each some 300 us.
    let (short, long) = (rebuilt(1), rebuilt(401));
    assert!((399_000..401_000).contains(&(long - short)), "{short} us and {long} us");
}
