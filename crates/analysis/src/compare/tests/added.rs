//! Parts of added time, told from trials made by hand.

use super::*;
use crate::point::groups;
use crate::run::tests::trial;
use crate::{InSessions, MirrorWaits, TrialSummary};

/// Trials of one session of 1 ms without a mirror and 2.5 ms with one, of which such was seen.
fn found(pairing: Pairing, waits: Waits, mirror: MirrorWaits) -> AddedTime {
    found_of(
        &Mirrored { system: "mirrored".to_owned(), pairing, waits, apart: false, published: false, both: false },
        mirror,
    )
}

fn found_of(mirrored: &Mirrored, mirror: MirrorWaits) -> AddedTime {
    let at = |index: u32, system: &str, ms: f64, mirror: MirrorWaits, flush_ms: f64| -> TrialSummary {
        let mut one = trial(index, system, index / 2, 1e3 / ms);
        one.streams[0].response.mean_ms = ms;
        let in_sessions = InSessions { busy: 1.0, per_s: 1e3 / ms };
        let counters = vec![(Counter::LogSyncs, 100.0), (Counter::LogSyncSeconds, flush_ms / 10.0)];
        one.server = Some(ServerSummary { mirror, in_sessions, counters, ..ServerSummary::default() });
        one
    };
    let trials: Vec<TrialSummary> = (0..4)
        .flat_map(|pair| {
            [at(2 * pair, "alone", 1.0, MirrorWaits::default(), 0.25), at(2 * pair + 1, "mirrored", 2.5, mirror, 0.5)]
        })
        .collect();
    let groups = groups(&trials);
    added(&groups[0], &groups[1], mirrored, 0.95).expect("both points are there")
}

/// Half of the transactions change something and wait for 2.4 ms: 480 of 1000 ms in which a session waits.
fn seen() -> MirrorWaits {
    MirrorWaits {
        waiting: Some(0.48),
        changing_per_s: Some(200.0),
        written_ms: Some(0.6),
        flushed_ms: Some(1.8),
        applied_ms: Some(2.2),
        flush_ms: Some(0.9),
        wire_ms: Some(0.2),
        trips_per_s: None,
    }
}

fn parts(found: &AddedTime) -> Vec<(PartOf, f64)> {
    let sum: f64 = found.parts.iter().map(|part| part.ms).sum();
    assert!((sum - found.added_ms.value).abs() < 1e-9, "the parts are the whole: {found:?}");
    found.parts.iter().map(|part| (part.part, (part.ms * 1e6).round() / 1e6)).collect()
}

#[test]
fn the_parts_of_the_wait_are_those_that_the_commit_waits_for_and_the_rest_is_told_as_such() {
    use PartOf::{Applied, Elsewhere, Flushed, Queued, Wire, Written};
    let on = found(Pairing::Postgres, Waits::Flushed, seen());
    assert!((on.added_ms.value - 1.5).abs() < 1e-9 && on.alone_ms == 1.0, "{on:?}");
    assert_eq!(parts(&on), [(Wire, 0.1), (Written, 0.2), (Flushed, 0.6), (Queued, 0.3), (Elsewhere, 0.3)]);
    assert_eq!((on.mirror_flush_ms, on.round_trips), (Some(0.9), None));
    let (alone, with) = on.own_flush_ms.expect("both servers time theirs");
    assert!((alone - 0.25).abs() < 1e-9 && (with - 0.5).abs() < 1e-9, "{on:?}");
    let applied = found(Pairing::Postgres, Waits::Applied, seen());
    assert!(parts(&applied).contains(&(Applied, 0.2)) && parts(&applied).contains(&(Queued, 0.1)));
    let written = found(Pairing::Postgres, Waits::Written, seen());
    assert!(!parts(&written).iter().any(|(part, _)| *part == Flushed));
    let told = on.says(&Point::default(), true);
    assert!(
        told.starts_with("alone is 2.5 times as fast; the mirror adds 1.5 ms (")
            && told.contains(" to a mean of 1 ms: 100 us on the wire, "),
        "{told}"
    );
}

#[test]
fn lags_that_come_to_more_than_the_wait_are_scaled_to_it() {
    let long = found(Pairing::Postgres, Waits::Flushed, MirrorWaits { waiting: Some(0.18), ..seen() });
    use PartOf::{Elsewhere, Flushed, Queued, Wire, Written};
    assert_eq!(parts(&long), [(Wire, 0.05), (Written, 0.1), (Flushed, 0.3), (Queued, 0.0), (Elsewhere, 1.05)]);
}

#[test]
fn where_no_commit_waits_or_nobody_saw_it_all_is_added_elsewhere() {
    let off = found(Pairing::Postgres, Waits::Nothing, seen());
    assert_eq!(parts(&off), [(PartOf::Elsewhere, 1.5)]);
    let unseen = found(Pairing::Postgres, Waits::Flushed, MirrorWaits { written_ms: None, ..seen() });
    assert_eq!(parts(&unseen), [(PartOf::Elsewhere, 1.5)]);
}

#[test]
fn a_subscriber_tells_its_steps_apart_from_nothing_but_the_wire() {
    let (system, pairing) = ("mirrored".to_owned(), Pairing::Postgres);
    let mirrored = Mirrored { system, pairing, waits: Waits::Flushed, apart: false, published: true, both: false };
    use PartOf::{Decoded, Elsewhere, Wire};
    // It is timed once a second at most, and may not have been in a short window.
    let rarely = MirrorWaits { written_ms: None, flushed_ms: None, applied_ms: None, ..seen() };
    for seen in [seen(), rarely] {
        assert_eq!(parts(&found_of(&mirrored, seen)), [(Wire, 0.1), (Decoded, 1.1), (Elsewhere, 0.3)]);
    }
}

#[test]
fn in_lock_step_the_wire_takes_as_many_round_trips_as_were_counted() {
    let seen = MirrorWaits { trips_per_s: Some(2_000.0), wire_ms: Some(0.2), ..MirrorWaits::default() };
    let both = found(Pairing::TwoPhase, Waits::Flushed, seen);
    assert_eq!(both.round_trips, Some(5.0));
    assert_eq!(parts(&both), [(PartOf::Wire, 1.0), (PartOf::Second, 0.5)]);
    assert!(
        both.says(&Point::default(), true).ends_with("; 5 round trips a transaction"),
        "{}",
        both.says(&Point::default(), true)
    );
}

#[test]
fn an_interval_from_fewer_than_four_pairs_is_not_told_however_tight() {
    let on = found(Pairing::Postgres, Waits::Flushed, seen());
    assert!(
        on.open().is_none() && on.says(&Point::default(), true).contains("; the mirror adds 1.5 ms ("),
        "four pairs: {}",
        on.says(&Point::default(), true)
    );
    let n = |one: Estimate| Estimate { n: 3, ..one };
    let few = AddedTime { added_ms: n(on.added_ms), times: n(on.times), ..on };
    assert!(
        few.says(&Point::default(), true).contains(" ms (no interval from 3 pairs: --set replicates=4) to a mean of "),
        "{}",
        few.says(&Point::default(), true)
    );
    assert!(few.shown().iter().all(|one| !one.has_interval()));
    assert!(few.added_ms.has_interval(), "the ends stay for the JSON");
}

#[test]
fn an_interval_of_a_factor_beyond_a_hundred_is_told_in_words() {
    let on = found(Pairing::Postgres, Waits::Flushed, seen());
    // 1 ms alone: with the mirror it is 0.2 ms to 23.7 hours.
    let wide = AddedTime { added_ms: Estimate { low: -0.8, high: 8.5e7, ..on.added_ms }, ..on.clone() };
    assert!(
        wide.says(&Point::default(), true).contains(" ms (interval unknown: too noisy) to a mean of "),
        "{}",
        wide.says(&Point::default(), true)
    );
    assert!(wide.shown().iter().all(|one| !one.has_interval()) && wide.added_ms.high == 8.5e7);
    // Next to nothing, and known to be.
    let none = AddedTime { added_ms: Estimate { low: -0.5, value: 0.001, high: 0.6, ..on.added_ms }, ..on };
    assert!(
        none.open().is_none() && none.says(&Point::default(), true).contains("(-500 to 600 us)"),
        "{}",
        none.says(&Point::default(), true)
    );
}
