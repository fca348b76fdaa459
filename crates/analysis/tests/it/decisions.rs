//! What is decided on few operations, or on none that scatter, is true.

use crate::truth::floors::{compared, told};
use crate::truth::hand::course;
use crate::truth::thresholds::decided;
use analysis::{BetweenRuns, Findings, Verdict, compare_runs};
use observation::RunFacts;
use random::Draws;
use study::Metric;
use units::Nanos;

/// A limit of 430 ms against a p99 of 460 was decided wrongly 53 times of 100.
#[test]
fn a_threshold_on_the_tail_of_forty_operations_fails_only_what_exceeds_it_and_passes_nothing() {
    let wrong = decided(1.0, 200, 3);
    assert!(wrong.failed <= 16 && wrong.passed == 0, "{wrong:?}");
    assert_eq!(decided(0.93, 200, 3).passed, 0);
    assert!(decided(0.25, 200, 3).failed >= 150, "a limit that is exceeded four times is seen to be");
}

/// 900 against 990 ms was "20 % worse (0.800 to 0.800)".
#[test]
fn two_constant_times_are_compared_no_better_than_to_one_operation() {
    let found = compared(0.9, 0.99, &mut Draws::numbered(5, 0));
    assert!(found.ratio.low < 0.909 && 0.910 < found.ratio.high && found.verdict == Verdict::Inconclusive, "{found:?}");
    let short = compared(0.01, 0.011, &mut Draws::numbered(5, 1));
    assert!(short.verdict == Verdict::Worse && short.ratio.high / short.ratio.low < 1.02, "{short:?}");
}

/// Of 150 the interval held none, and 39 were `equivalent` and were not.
#[test]
fn systems_without_scatter_are_never_falsely_equivalent() {
    let told = told(150, 7);
    assert_eq!((told.held, told.false_equivalent, told.wrong_way), (150, 0, 0), "{told:?}");
    assert!(told.verdicts >= 50, "short times still have verdicts: {told:?}");
}

/// A p99 of forty operations is a bound, in this run, in the other one, and in those from which scatter is learned.
#[test]
fn a_bound_is_no_value_in_which_two_runs_could_differ() {
    let run = |rates: &[f64]| {
        let trials = vec![course(rates, Nanos::from_millis(1000))];
        Findings { run: RunFacts::default(), trials, ..Findings::default() }
    };
    let (long, short) = ([2_000.0; 10], [4.0; 10]);
    let p99 = Metric::ResponseQuantile(0.99);
    let learned = |rates: &[f64]| BetweenRuns::learn(&[vec![run(rates), run(rates), run(rates)]], p99);
    assert_eq!(learned(&short), None);
    let between = learned(&long);
    assert!(between.is_some());
    for runs in [[run(&long), run(&short)], [run(&short), run(&long)]] {
        let found = compare_runs(&runs, p99, 0.05, 0.95, between.as_ref());
        let comparison = found.comparisons().next().expect("one point").clone();
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let reason = comparison.reason.expect("why");
        assert!(reason.contains("is only known to be at least"), "{reason}");
    }
}
