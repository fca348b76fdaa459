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
    let mut search = Search { items, order: &order, best: 0.0, taken: Vec::new(), found: Vec::new(), steps: 0 };
    search.from(0, budget, 0.0);
    search.found
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

struct Search<'a> {
    items: &'a [(f64, f64)],
    order: &'a [usize],
    best: f64,
    taken: Vec<usize>,
    found: Vec<usize>,
    steps: u32,
}

impl Search<'_> {
    /// Goes on behind the first so many of the order, with so much room left and such a gain so far. What was left out is kept on a
    /// stack of its own, because a thousand objects are too deep for that of a thread.
    fn from(&mut self, first: usize, room: f64, gain: f64) {
        let mut open = vec![(first, room, gain, 0)];
        while let Some((mut next, mut room, mut gain, taken)) = open.pop() {
            self.taken.truncate(taken);
            while next < self.order.len() && self.bound(next, room, gain) > self.best * (1.0 + 1e-12) {
                self.steps += 1;
                let (bytes, more) = self.items[self.order[next]];
                if bytes <= room {
                    // Later it is tried without this one.
                    open.push((next + 1, room, gain, self.taken.len()));
                    self.taken.push(self.order[next]);
                    (room, gain) = (room - bytes, gain + more);
                    if gain > self.best {
                        self.best = gain;
                        self.found.clone_from(&self.taken);
                    }
                }
                next += 1;
            }
            if self.steps > STEPS {
                return;
            }
        }
    }

    /// The most that can still come of it: what follows in its order, the last of it cut to fit.
    fn bound(&self, next: usize, mut room: f64, mut gain: f64) -> f64 {
        for at in &self.order[next..] {
            let (bytes, more) = self.items[*at];
            if bytes > room {
                return gain + more * room / bytes;
            }
            room -= bytes;
            gain += more;
        }
        gain
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
