//! Plays of commits against what is known of them.

use super::super::session_loop::{Growth, Loop};
use super::*;

const POOL: Pool = Pool { demand_s: 0.5e-3, cores: 2.0 };

fn near(played: f64, known: f64, share: f64) {
    assert!((played / known - 1.0).abs() < share, "{played} for {known}");
}

#[test]
fn one_session_waits_for_nobody() {
    let one = Commits { pools: vec![POOL], rest_s: 1e-3, share: 0.25, flush_s: vec![4e-3, 2e-3] };
    near(one.rate(1), 1.0 / (0.5e-3 + 1e-3 + 0.25 * 6e-3), 0.02);
}

#[test]
fn sessions_that_do_nothing_but_commit_flush_half_of_them_at_a_time() {
    let pools = vec![Pool { demand_s: 1e-9, cores: 64.0 }];
    let all = Commits { pools, rest_s: 0.0, share: 1.0, flush_s: vec![4e-3] };
    for sessions in [2, 8, 32] {
        near(all.rate(sessions), f64::from(sessions) / 2.0 / 4e-3, 0.02);
    }
}

/// A mirror's log works while the first one does, and each commit waits for both.
#[test]
fn two_logs_work_at_a_time() {
    let with = |flush_s: &[f64]| {
        let pools = vec![Pool { demand_s: 1e-9, cores: 64.0 }];
        Commits { pools, rest_s: 0.0, share: 1.0, flush_s: flush_s.to_vec() }.rate(16)
    };
    let (one, both) = (with(&[4e-3]), with(&[4e-3, 4e-3]));
    assert!((0.45..0.75).contains(&(both / one)), "{both} with both, {one} with one");
}

#[test]
fn without_commits_it_is_the_loop_in_closed_form() {
    for sessions in [1, 3, 8] {
        let played = Commits { pools: vec![POOL], rest_s: 1e-3, share: 0.0, flush_s: vec![4e-3] }.rate(sessions);
        let growth = Growth::default();
        let closed = Loop { pools: vec![POOL], rest_s: 1e-3, growth, waited: 1.0, users: None };
        near(played, closed.rate(sessions), 0.025);
    }
}

#[test]
fn the_rest_is_found_again_and_a_rate_that_none_explains_is_scaled() {
    let known = Commits { pools: vec![POOL], rest_s: 0.7e-3, share: 0.25, flush_s: vec![4e-3, 2e-3] };
    let bare = Commits { rest_s: 0.0, ..known.clone() };
    let (rest_s, scale) = bare.fitted(4, known.rate(4));
    near(rest_s, 0.7e-3, 0.05);
    assert_eq!(scale, 1.0);
    let (rest_s, scale) = bare.fitted(4, 1.2 * bare.rate(4));
    assert!(rest_s == 0.0 && (scale - 1.2).abs() < 1e-9, "{rest_s} {scale}");
}
