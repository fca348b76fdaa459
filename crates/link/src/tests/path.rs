//! Which path a connection takes, and what a cut does to what is on its way.

use super::*;

fn paths(choice: Choice) -> Paths {
    let shape = |delay| Shape { delay: Nanos::from_millis(delay), ..Shape::default() };
    Paths::new(&[shape(1), shape(5)], choice, Nanos::from_millis(100), 3)
}

fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

#[test]
fn priority_prefers_the_first_path_that_carries_and_balance_the_one_with_fewer_connections() {
    let mut first = paths(Choice::Priority);
    first.all[0].connections = 9;
    assert_eq!(first.choose(), 0);
    first.set(ms(0), 0, [true, false]);
    assert_eq!(first.choose(), 1, "a half-open path is no path");
    let mut even = paths(Choice::Balance);
    assert_eq!(even.choose(), 0);
    even.all[0].connections = 1;
    assert_eq!(even.choose(), 1);
}

#[test]
fn what_a_cut_path_had_on_its_way_arrives_over_the_other_after_the_time_of_a_failover() {
    let mut paths = paths(Choice::Priority);
    let (early, late) = (paths.send(ms(0), 0, Way::There, 10), paths.send(ms(10), 0, Way::There, 10));
    paths.set(ms(5), 0, [false, false]);
    assert!(paths.holds(early, Way::There), "it arrived before the cut");
    let late = Travel { due: Some(ms(11)), ..late };
    assert!(!paths.holds(late, Way::There));
    assert_eq!(paths.send(ms(20), 0, Way::There, 10), Travel { path: 1, due: Some(ms(110)) });
}

#[test]
fn without_another_path_a_piece_waits_for_the_healing() {
    let mut paths = paths(Choice::Priority);
    (0..2).for_each(|path| paths.set(ms(5), path, [false, false]));
    let held = paths.send(ms(6), 0, Way::Back, 10);
    assert_eq!(held.due, None);
    assert!(!paths.holds(held, Way::Back));
    paths.set(ms(50), 0, [true, true]);
    assert_eq!(paths.send(ms(50), 0, Way::Back, 10).due, Some(ms(51)));
}

#[test]
fn a_half_open_path_carries_there_and_nothing_back() {
    let mut paths = Paths::new(&[Shape::default()], Choice::Priority, ms(0), 3);
    paths.set(ms(5), 0, [true, false]);
    assert!(paths.is_plain(0, Way::There) && !paths.is_plain(0, Way::Back));
    assert_eq!(paths.send(ms(6), 0, Way::There, 10).due, Some(ms(6)));
    assert_eq!(paths.send(ms(6), 0, Way::Back, 10).due, None);
}
