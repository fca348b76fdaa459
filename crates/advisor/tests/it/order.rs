//! Whether the order of the list is the best that there is: every placement of eight objects is tried.

use crate::world::{OBJECTS, PLACEMENTS, Placement, advice, fast_mib, gains, prefixes, requests, simulated_s};

/// The gain of every placement, simulated over the same requests; the window that is sampled for the advice is another.
fn all() -> Vec<f64> {
    let asked = requests(3_000, 1);
    let half = |odd: Placement| {
        let asked = &asked;
        move || PLACEMENTS.filter(|one| one % 2 == odd).map(|one| simulated_s(one, asked)).collect::<Vec<f64>>()
    };
    let (even, odd) = std::thread::scope(|scope| {
        let odd = scope.spawn(half(1));
        (half(0)(), odd.join().expect("it ends"))
    });
    gains(&even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect::<Vec<f64>>())
}

fn best(gains: &[f64], mib: u64) -> f64 {
    PLACEMENTS.filter(|one| fast_mib(*one) <= mib).map(|one| gains[one as usize]).fold(0.0, f64::max)
}

#[test]
fn the_order_and_the_plan_of_the_advice_are_within_5_percent_of_the_best_of_all_placements_at_every_budget() {
    let (gains, window) = (all(), requests(3_000, 2));
    let order = prefixes(&advice(&window, None));
    assert_eq!(order.len(), OBJECTS.len() + 1);
    for placement in order {
        let (own, best) = (gains[placement as usize], best(&gains, fast_mib(placement)));
        assert!(own >= 0.95 * best, "{placement:#b} of {} MiB gains {own:.3}, the best {best:.3}", fast_mib(placement));
    }
    let mut budgets: Vec<u64> = PLACEMENTS.map(fast_mib).collect();
    budgets.sort_unstable();
    budgets.dedup();
    for mib in budgets {
        let advice = advice(&window, Some(mib));
        let taken = advice.taken.iter().fold(0, |fast, piece| fast | 1 << advice.pieces[*piece].objects[0]);
        let (own, best) = (gains[taken as usize], best(&gains, mib));
        assert!(
            fast_mib(taken) <= mib && own >= 0.95 * best,
            "{mib} MiB: {taken:#b} gains {own:.3}, the best {best:.3}"
        );
    }
}
