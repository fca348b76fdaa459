//! What is decided on few operations, or on none that scatter, is true.

use crate::truth::floors::{compared, told};
use crate::truth::thresholds::decided;
use analysis::Verdict;
use random::Draws;

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
