//! Closed loops by known answers.

use super::*;

fn one(demand_s: f64, cores: f64, rest_s: f64) -> Loop {
    Loop { pools: vec![Pool { demand_s, cores }], rest_s, growth: Growth::default(), waited: 1.0, users: None }
}

/// The machine repairman by the textbook sum (M/M/c with a finite population), for populations that it can carry.
fn repairman(population: u32, servers: u32, delay: f64, service: f64) -> f64 {
    let mut weights = vec![1.0f64];
    for n in 1..=population {
        let up = f64::from(population - n + 1) / delay;
        weights.push(weights[n as usize - 1] * up / (f64::from(n.min(servers)) / service));
    }
    let sum: f64 = weights.iter().sum();
    (1..=population).map(|n| weights[n as usize] / sum * f64::from(n.min(servers)) / service).sum()
}

#[test]
fn sessions_at_several_cores_are_the_machine_repairman() {
    for (sessions, cores) in [(1, 1), (5, 1), (20, 3), (40, 8)] {
        let (found, exact) =
            (one(0.004, f64::from(cores), 0.01).rate(sessions), repairman(sessions, cores, 0.01, 0.004));
        assert!((found / exact - 1.0).abs() < 1e-12, "{sessions} over {cores}: {found} {exact}");
    }
}

#[test]
fn two_queues_are_what_mean_value_analysis_says_by_hand() {
    let pools = vec![Pool { demand_s: 0.25, cores: 0.5 }, Pool { demand_s: 0.5, cores: 1.0 }];
    let its = Loop { pools, rest_s: 1.0, growth: Growth::default(), waited: 1.0, users: None };
    // Half a second at each alone: X(1) = 1/2, a quarter of a session at each. With two, R = 1/2 (1 + 1/4) at each.
    assert!((its.rate(1) - 0.5).abs() < 1e-12 && (its.rate(2) - 2.0 / 2.25).abs() < 1e-12, "{}", its.rate(2));
    // Two sessions on two cores wait for nobody.
    assert!((one(0.5, 2.0, 1.0).rate(2) - 2.0 / 1.5).abs() < 1e-12);
}

#[test]
fn a_thousand_sessions_reach_what_the_cores_carry_and_no_more() {
    assert!((one(0.004, 8.0, 0.1).rate(SESSIONS_MAX) - 2_000.0).abs() < 1e-6);
    assert!((one(0.004, 8.0, 0.0).rate(9) - 2_000.0).abs() < 1e-6, "nor without a rest");
    assert_eq!(one(0.004, 8.0, 0.1).sessions(2_001.0, 4), None);
}

#[test]
fn what_was_fitted_has_the_rate_that_was_seen_also_where_more_is_done_than_fits_into_a_loop() {
    for (demand_s, rate) in [(0.0, 400.0), (0.001, 400.0), (0.002, 800.0), (0.002, 950.0)] {
        let fitted = one(demand_s, 2.0, 0.0).fitted(2, rate);
        assert!((fitted.rate(2) / rate - 1.0).abs() < 1e-6, "{demand_s} {rate}: {fitted:?}");
        assert!((fitted.sessions(rate, 2).unwrap() - 2.0).abs() < 1e-5, "{fitted:?}");
    }
    // 1 ms in a loop, and 1.5 ms of processors for it: half a millisecond is done beside.
    let beside = one(0.0015, 2.0, 0.0).fitted(1, 1_000.0);
    assert!(beside.waited < 1.0 && (beside.rate(1) - 1_000.0).abs() < 1e-3 && beside.rate(9) < 1_334.0, "{beside:?}");
}

#[test]
fn users_who_think_start_no_more_however_many_sessions_there_are() {
    let users = Some(Users { count: 10, think_s: 0.09 });
    let its = Loop { pools: Vec::new(), rest_s: 0.01, growth: Growth::default(), waited: 1.0, users };
    // With a session each they go round in 100 ms, and with one it is a queue.
    assert!((its.rate(10) - 100.0).abs() < 1e-9);
    assert!((its.rate(1) - repairman(10, 1, 0.09, 0.01)).abs() < 1e-9);
    assert_eq!(its.sessions(101.0, 1), None);
}

#[test]
fn a_rest_grows_between_what_was_seen_and_beyond_it_and_never_shrinks() {
    let growth = Growth::of(&[(2.0, 1.0), (4.0, 0.9), (6.0, 1.5), (8.0, 2.5)]);
    let seen = [1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0].map(|sessions| growth.times(sessions));
    assert_eq!(seen, [1.0, 1.0, 1.0, 1.25, 1.5, 2.0, 2.5]);
    assert_eq!(Growth::of(&[(2.0, 1.0)]).times(9.0), 1.0, "one alone tells of no growth");
    assert_eq!(Growth::of(&[(2.0, 0.0), (4.0, 1.0)]), Growth::default());
    let its = Loop { growth, ..one(0.0, 1.0, 0.01) };
    assert!((its.rate(8) - 8.0 / 0.02).abs() < 1e-6);
    assert_eq!(its.sessions(its.rate(3), 2), Some(3.0));
}
