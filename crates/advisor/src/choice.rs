//! Which objects fill a budget best.
//!
//! The one idea: objects are taken by gain for each byte, and a bounded search tries what a large object that does not fit any
//! more would be worth. A bound (what were left if the next object could be cut) ends nearly all of its branches.

/// Steps of the search at most: a thousand objects take fewer, and what it has by then is at least what the order alone gives.
const STEPS: u32 = 200_000;

/// The order by gain for each byte; what gains nothing comes last, small before large.
pub(crate) fn ranked(items: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let density = |(bytes, gain): (f64, f64)| gain.max(0.0) / bytes.max(1.0);
    order.sort_by(|a, b| {
        let by_gain = density(items[*b]).total_cmp(&density(items[*a]));
        by_gain.then(items[*a].0.total_cmp(&items[*b].0)).then(a.cmp(b))
    });
    order
}

/// Indices of the items, each of so many bytes and of such a gain, that fit the budget and gain most.
pub fn chosen(items: &[(f64, f64)], budget: f64) -> Vec<usize> {
    let order: Vec<usize> = ranked(items).into_iter().filter(|at| items[*at].1 > 0.0).collect();
    let mut before = vec![(0.0, 0.0)];
    for at in &order {
        let (bytes, gain) = before[before.len() - 1];
        before.push((bytes + items[*at].0, gain + items[*at].1));
    }
    // The most that can still come of it: what follows in its order, the last of it cut to fit.
    let bound = |next: usize, room: f64, gain: f64| {
        let end = before.partition_point(|(bytes, _)| *bytes <= before[next].0 + room).max(next + 1) - 1;
        let left = room - (before[end].0 - before[next].0);
        let cut = order.get(end).map_or(0.0, |at| items[*at].1 * left / items[*at].0.max(1.0));
        gain + before[end].1 - before[next].1 + cut
    };
    let (mut best, mut found, mut taken, mut steps) = (0.0, Vec::new(), Vec::new(), 0);
    let mut open = vec![(0, budget.max(0.0), 0.0, 0)];
    while let Some((mut next, mut room, mut gain, kept)) = open.pop() {
        taken.truncate(kept);
        while next < order.len() && bound(next, room, gain) > best * (1.0 + 1e-12) {
            let (bytes, more) = items[order[next]];
            if bytes <= room {
                // Later it is tried without this one.
                open.push((next + 1, room, gain, taken.len()));
                taken.push(order[next]);
                (room, gain) = (room - bytes, gain + more);
            }
            (next, steps) = (next + 1, steps + 1);
        }
        if gain > best {
            best = gain;
            found.clone_from(&taken);
        }
        if steps > STEPS {
            break;
        }
    }
    found
}

/// Adds what lies on the fast tier already, `there`, as long as there is room: nobody makes room that nobody needs.
pub(crate) fn stay(items: &[(f64, f64)], taken: &mut Vec<usize>, there: impl Fn(usize) -> bool, budget: f64) {
    let mut room = budget - taken.iter().map(|at| items[*at].0).sum::<f64>();
    for at in ranked(items) {
        if there(at) && !taken.contains(&at) && items[at].0 <= room {
            room -= items[at].0;
            taken.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gain(items: &[(f64, f64)], chosen: &[usize]) -> f64 {
        chosen.iter().map(|at| items[*at].1).sum()
    }

    /// The best of all subsets.
    fn best(items: &[(f64, f64)], budget: f64) -> f64 {
        let subset = |bits: u32| -> Vec<usize> { (0..items.len()).filter(|at| bits >> at & 1 == 1).collect() };
        let fits = |chosen: &Vec<usize>| chosen.iter().map(|at| items[*at].0).sum::<f64>() <= budget + 1e-9;
        (0..1u32 << items.len()).map(subset).filter(fits).map(|chosen| gain(items, &chosen)).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn what_is_chosen_of_eight_is_within_5_percent_of_the_best_at_every_budget(
            items in proptest::collection::vec((1..1000u32, 0.0..100.0f64), 8),
        ) {
            let items: Vec<(f64, f64)> = items.into_iter().map(|(bytes, gain)| (f64::from(bytes), gain)).collect();
            let all: f64 = items.iter().map(|(bytes, _)| bytes).sum();
            for step in 0..=40 {
                let budget = (all * f64::from(step) / 40.0).floor();
                let chosen = chosen(&items, budget);
                prop_assert!(chosen.iter().map(|at| items[*at].0).sum::<f64>() <= budget + 1e-9);
                prop_assert!(gain(&items, &chosen) >= 0.95 * best(&items, budget), "{items:?} {budget}");
            }
        }
    }

    #[test]
    fn a_large_object_is_not_lost_to_a_small_one_that_is_denser() {
        let items = [(1.0, 2.0), (100.0, 100.0)];
        assert_eq!(chosen(&items, 100.0), [1]);
        assert_eq!(chosen(&items, 101.0), [0, 1]);
        assert_eq!(chosen(&items, 0.5), [0usize; 0]);
    }

    #[test]
    fn thousands_of_objects_end_and_are_no_worse_than_their_order() {
        let mut draws = random::Draws::named(7, &[1]);
        let items: Vec<(f64, f64)> = (0..5000).map(|_| (1.0 + 1e6 * draws.uniform(), draws.uniform())).collect();
        let budget = 2e8;
        let (mut room, mut greedy) = (budget, 0.0);
        for at in ranked(&items) {
            if items[at].0 <= room {
                room -= items[at].0;
                greedy += items[at].1;
            }
        }
        assert!(gain(&items, &chosen(&items, budget)) >= greedy);
    }
}
