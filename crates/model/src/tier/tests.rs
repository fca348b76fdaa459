//! What a tiered store must do, with round numbers of no real machine.

use super::*;
use crate::form::closed;
use crate::machine::{Ended, Machine};
use units::Nanos;
use workload::{Operation, OperationKind};

fn spec() -> Spec {
    Spec {
        disks: Place { count: 4, time_ns: 5e6, byte_ns: 5.0 },
        flash: Place { count: 8, time_ns: 2e5, byte_ns: 5.0 },
        ways: 4,
        extents: 1_000,
        extent_bytes: 4 << 20,
        fast: 100,
        skew: 1.0,
        period_s: 20.0,
        memory: 1_000.0,
        mover_bytes_per_s: 100e6,
        head_start_ns: 0,
        drift_per_hour: 0.0,
        cache: false,
        start: Start::Settled,
    }
}

/// What a closed load saw behind a warm-up.
struct Seen {
    rate_per_s: f64,
    response_s: f64,
    store: Tiered,
    ends: Vec<u64>,
}

const BYTES: u32 = 8_192;

fn run(spec: Spec, slots: u32, warm_s: u64, seconds: u64, seed: u64) -> Seen {
    let ask = Operation { kind: OperationKind::Read, class: 0, module: 0, offset: 0, bytes: BYTES };
    let mut store = Tiered::new(spec, slots, seed);
    let mut since = vec![0u64; slots as usize];
    (0..slots).for_each(|slot| store.submit(Nanos(0), slot, &ask));
    let (mut ended, mut ends, mut sum) = (Vec::<Ended>::new(), Vec::new(), 0u64);
    for (to, counts) in [(warm_s, false), (warm_s + seconds, true)] {
        let to = Nanos::from_secs(to);
        if counts {
            store.clear();
        }
        while store.advance(to, &mut ended) < to {
            for Ended { slot, at, .. } in ended.drain(..) {
                if counts {
                    ends.push(at.0);
                    sum += at.0 - since[slot as usize];
                }
                since[slot as usize] = at.0;
                store.submit(at, slot, &ask);
            }
        }
    }
    let done = ends.len() as f64;
    Seen { rate_per_s: done / seconds as f64, response_s: sum as f64 / done / 1e9, store, ends }
}

fn close(found: f64, wanted: f64, share: f64, what: &str) {
    assert!((found / wanted - 1.0).abs() < share, "{what}: {found} against {wanted}");
}

#[test]
fn a_settled_store_is_its_closed_form() {
    for (slots, fast, skew) in [(1, 100, 1.0), (16, 100, 1.0), (64, 400, 0.8), (32, 20, 1.3)] {
        let spec = Spec { fast, skew, ..spec() };
        let seen = run(spec, slots, 10, 400, 3);
        let law = operations_per_s(&spec, slots, f64::from(BYTES));
        close(seen.rate_per_s, law, 0.012, &format!("{slots} outstanding, {fast} fast, skew {skew}"));
        close(seen.store.hit_share(), spec.settled_hits(), 0.01, "hits");
        assert_eq!(seen.store.moved(), 0, "what is settled stays where it is");
    }
}

#[test]
fn the_ends_are_disks_alone_and_flash_alone() {
    let spec = spec();
    for (fast, tier, other) in [(0, spec.disks, 4..12), (1_000, spec.flash, 0..4)] {
        let mut seen = run(Spec { fast, ..spec }, 24, 5, 100, 1);
        let each_s = tier.mean_ns(f64::from(BYTES)) / 1e9 / f64::from(tier.count);
        let pure = closed::groups(24, 0.0, &[(tier.count, each_s)]).rate_per_s;
        close(seen.rate_per_s, pure, 0.012, "simulated");
        close(operations_per_s(&Spec { fast, ..spec }, 24, f64::from(BYTES)), pure, 1e-12, "in closed form");
        let idle = seen.store.reports();
        assert!(idle[other].iter().all(|report| report.completed == 0), "{fast}: the other tier does nothing");
        assert_eq!(seen.store.moved(), 0);
    }
}

#[test]
fn a_mover_finds_what_is_hot_and_comes_to_the_hits_of_the_law() {
    let chance = Spec { start: Start::Chance, ..spec() };
    let before = run(Spec { mover_bytes_per_s: 0.0, ..chance }, 32, 1, 100, 2);
    assert!(before.store.hit_share() < 0.25, "a tenth lies there by chance: {}", before.store.hit_share());
    let after = run(chance, 32, 1_200, 100, 2);
    close(after.store.hit_share(), chance.settled_hits(), 0.03, "hits after twenty minutes");
    assert!(after.rate_per_s > 1.8 * before.rate_per_s, "{} after {}", after.rate_per_s, before.rate_per_s);
    assert!(after.store.on_flash() <= 100, "no more lies on flash than fits");
}

#[test]
fn a_mover_that_is_off_never_moves_and_one_with_a_limit_keeps_it() {
    let chance = Spec { start: Start::Chance, extent_bytes: 64 << 20, ..spec() };
    assert_eq!(run(Spec { mover_bytes_per_s: 0.0, ..chance }, 32, 1, 200, 2).store.moved(), 0);
    let mut before = 0;
    for speed in [2e6, 8e6] {
        let moved = run(Spec { mover_bytes_per_s: speed, ..chance }, 16, 0, 220, 2).store.moved();
        let most = speed * 200.0 / chance.extent_bytes as f64;
        assert!(moved as f64 <= most + 1.0 && moved as f64 > 0.8 * most, "{moved} of {most} at {speed}");
        assert!(moved > before);
        before = moved;
    }
}

#[test]
fn operations_meet_what_is_moved_and_a_head_start_protects_them() {
    // Extents so large that none arrives: nothing is gained yet.
    let busy = Spec { start: Start::Chance, extent_bytes: 64 << 30, period_s: 5.0, ..spec() };
    let response = |spec: Spec| run(spec, 4, 10, 100, 4).response_s;
    let still = response(Spec { mover_bytes_per_s: 0.0, ..busy });
    let (met, spared) = (response(busy), response(Spec { head_start_ns: 1_000_000_000, ..busy }));
    assert!(met > 1.05 * still && met > spared, "{still} s alone, {met} with moves, {spared} with a head start");
}

#[test]
fn heat_that_drifts_costs_hits_and_a_mover_wins_them_back() {
    let drifts = Spec { drift_per_hour: 2.0, memory: 4.0, ..spec() };
    let hits = |spec: Spec| run(spec, 64, 3_600, 1_200, 5).store.hit_share();
    let (moved, off) = (hits(drifts), hits(Spec { mover_bytes_per_s: 0.0, ..drifts }));
    let best = hit_share(1_000, 100, 1.0);
    assert!(off < 0.3 * best && moved > 0.8 * best && moved < best, "{off} off, {moved} on, {best} at best");
    close(moved, drifts.settled_hits(), 0.1, "hits while heat drifts");
    close(run(drifts, 64, 1, 60, 5).store.hit_share(), drifts.settled_hits(), 0.1, "and they begin there");
}

#[test]
fn littles_law_holds() {
    for mover_bytes_per_s in [0.0, 50e6] {
        let spec = Spec { mover_bytes_per_s, start: Start::Chance, ..spec() };
        let seen = run(spec, 24, 30, 100, 6);
        close(seen.rate_per_s * seen.response_s, 24.0, 2e-3, "outstanding");
    }
    let mut seen = run(Spec { fast: 0, ..spec() }, 24, 5, 100, 6);
    let there: f64 = seen.store.reports().iter().map(|report| report.mean_there).sum();
    close(there, 24.0, 1e-6, "who is at the places");
}

#[test]
fn equal_seeds_give_equal_times_and_others_do_not() {
    let ends = |seed| run(Spec { start: Start::Chance, drift_per_hour: 5.0, ..spec() }, 8, 0, 60, seed).ends;
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(2));
}

#[test]
fn without_a_skew_of_its_own_a_store_goes_where_operations_say() {
    let spec = Spec { skew: 0.0, start: Start::Chance, mover_bytes_per_s: 0.0, ..spec() };
    let mut store = Tiered::new(spec, 1, 1);
    let (mut ended, mut at) = (Vec::new(), Nanos(0));
    for (extent, hit) in [(0u64, 1.0), (99, 1.0), (100, 0.0), (999, 0.0)] {
        store.clear();
        let offset = extent * spec.extent_bytes + 4_096;
        store.submit(at, 0, &Operation { kind: OperationKind::Write, class: 0, module: 0, offset, bytes: BYTES });
        at = store.advance(Nanos(u64::MAX - 1), &mut ended);
        assert_eq!(store.hit_share(), hit, "extent {extent}");
    }
}
