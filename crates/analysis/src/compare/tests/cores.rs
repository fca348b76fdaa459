//! Cores that make up for a mirror, told from trials made by hand.

use super::*;
use crate::compare::mirrors::mirrors;
use crate::point::groups;
use crate::run::tests::{judgement, trial};
use crate::{MirrorFinding, ServerSummary, TrialSummary, judge};
use study::{Judgement, Mirrored, Pairing, Waits};

/// So many transactions a second of these CPU times, ms, on servers of so many cores.
fn at(index: u32, system: &str, sessions: u32, (cores, per_s): (f64, f64), [first, mirror]: [f64; 2]) -> TrialSummary {
    let mut one = trial(index, system, index / 4, per_s);
    one.label.factors.push(crate::run::tests::level(CORES, cores));
    one.label.streams[0].slots = Some(sessions);
    let mut server = ServerSummary::default();
    (server.per_transaction.cpu_ms, server.per_transaction.mirror_cpu_ms) = (Some(first), Some(mirror));
    one.server = Some(server);
    one
}

/// A system alone and one with a mirror, of which nothing else is known.
pub(in crate::compare) fn judged() -> Judgement {
    let mirrored = Mirrored {
        system: "mirrored".to_owned(),
        pairing: Pairing::Postgres,
        waits: Waits::Flushed,
        apart: false,
        published: false,
        both: false,
    };
    Judgement { baseline: Some("alone".to_owned()), mirrored: vec![mirrored], primary: None, ..judgement() }
}

fn found(trials: &[TrialSummary]) -> MirrorFinding {
    let [one] = mirrors(&groups(trials), &judged()).try_into().expect("one system with a mirror");
    one
}

/// 10 ms a transaction alone, and 12 ms with 3 ms of the mirror, at servers that have nothing else to do.
fn busy() -> Vec<TrialSummary> {
    (0..4_u32)
        .flat_map(|block| {
            let scatter = 1.0 + 0.001 * f64::from(block);
            let one = |k, system, cores, per_s, cpu| at(4 * block + k, system, 64, (cores, per_s * scatter), cpu);
            [
                one(0, "alone", 0.5, 50.0, [10.0, 0.0]),
                one(1, "mirrored", 0.5, 500.0 / 12.0, [12.0, 3.0]),
                one(2, "mirrored", 0.7, 700.0 / 12.0, [12.0, 3.0]),
            ]
        })
        .collect()
}

#[test]
fn one_session_waits_for_its_own_quota_alone_and_no_core_above_one_shortens_its_loop() {
    let one = |k, system, cores, ms: f64| at(k, system, 1, (cores, 1e3 / ms), [4.0, 1.0]);
    // 5 ms of CPU take 10 at half a core, beside 7.5 of rest; 15.5 are wanted, which leaves 8 for them.
    let told = &found(&[one(0, "alone", 0.5, 15.5), one(1, "mirrored", 0.5, 17.5)]).core_compensations[0];
    assert!((told.predicted.as_ref().unwrap().value - 0.625).abs() < 1e-6, "{told:?}");
    assert!(told.observed.is_none() && told.says().ends_with("; more cores were not measured"));
    let told = &found(&[one(0, "alone", 1.0, 10.0), one(1, "mirrored", 1.0, 12.5)]).core_compensations[0];
    assert!(told.predicted.is_none() && (told.ceiling - 0.8).abs() < 1e-6, "{told:?}");
    let none = "no number of cores gives the rate of 1 cores back by the response-time law, which leaves 80% of it; ";
    assert!(told.says().starts_with(none), "{}", told.says());
    assert!(
        told.more().starts_with("where each server is held to 1 cores, no number of cores (not observed"),
        "{}",
        told.more()
    );
}

#[test]
fn busy_servers_need_as_many_more_cores_as_a_transaction_takes_more_cpu_and_what_was_measured_stands_beside_it() {
    let found = found(&busy());
    let [told] = found.core_compensations.as_slice() else { panic!("{found:?}") };
    assert_eq!(told.cpu_ms, [10.0, 12.0, 3.0]);
    let (predicted, observed) = (told.predicted.unwrap(), told.observed.unwrap());
    assert!((predicted.value - 0.6).abs() < 1e-3, "{told:?}");
    assert!((observed.value - 0.6).abs() < 1e-6, "{told:?}");
    for one in [predicted, observed] {
        assert!(one.low <= one.value && one.value <= one.high && one.high < 0.7, "{one:?}");
    }
    let said = found.says();
    assert!(said.contains("; to make up for the mirror, 0.5 cores of each server become 0.600 ("), "{said}");
    assert!(
        said.contains("by the response-time law; 0.600 (") && said.ends_with(" measured, between levels"),
        "{said}"
    );
}

#[test]
fn a_rate_that_may_not_be_back_at_the_most_cores_has_no_upper_end() {
    let mut trials = busy();
    for (i, one) in trials.iter_mut().filter(|one| one.label.factors[0].level.number() == Some(0.7)).enumerate() {
        one.streams[0].throughput_per_s.value = [40.0, 70.0, 45.0, 60.0][i];
    }
    let told = &found(&trials).core_compensations[0];
    let observed = told.observed.expect("on the mean it was reached");
    assert!(observed.high == f64::INFINITY && told.says().contains(" (from 0."), "{}", told.says());
}

#[test]
fn a_rate_that_no_measured_number_of_cores_brought_back_is_told_with_how_near_it_came() {
    let mut trials = busy();
    for one in trials.iter_mut().filter(|one| one.label.factors[0].level.number() == Some(0.7)) {
        one.streams[0].throughput_per_s.value *= 0.8;
    }
    let told = found(&trials).says();
    assert!(
        told.ends_with("; no number of cores up to 0.7 gives it back: at most 93.3% of the rate, with 0.7"),
        "{told}"
    );
}

#[test]
fn the_answer_says_sessions_or_cores_where_cores_are_varied() {
    let answer = judge(Default::default(), busy(), &judged()).answer.join(" ");
    let said = "To compensate for mirrored in random-read: where each server is held to 0.5 cores, +0.1 cores (predicted; +0.1 observed).";
    assert!(answer.contains(said), "{answer}");
}
