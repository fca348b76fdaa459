//! Keeping hot objects on the fast tier while the heat moves.
//!
//! The one idea: heat is what an object saved lately, and fades; what lies on the fast tier is held to be hotter than it is, so that
//! two that are nearly alike do not change places; and a move is made only if it pays for itself within a stated time, before which
//! the object is not moved back. Reads that memory answered are no heat: no tier makes them shorter.

use crate::advice::{Advice, pieces};
use crate::choice::{chosen, stay};
use crate::cost::{Move, moves};
use crate::gain::Tiers;
use crate::reach::Reach;
use std::collections::BTreeMap;

/// What a balancer holds to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Bytes on the fast tier.
    pub budget: f64,
    /// Seconds after which heat counts half.
    pub half_life_s: f64,
    /// Seconds within which a move must pay for itself.
    pub pay_off_s: f64,
    /// How many times as hot the other must be before two change places.
    pub better: f64,
}

observation::words! {
    /// What becomes of a move.
    pub enum Decision {
        /// It is made.
        Move = "move",
        /// It would take longer to pay for itself than is allowed.
        DoesNotPay = "does-not-pay",
    }
}

/// A move that was weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The move.
    pub one: Move,
    /// What the object saves on the fast tier: seconds of wait a second.
    pub heat: f64,
    /// Seconds after which the move has paid for itself; infinite for one that makes room.
    pub pays_after_s: f64,
    /// How many times as long as their costs said the moves before took.
    pub slower: f64,
    /// What becomes of it.
    pub decision: Decision,
}

observation::words! {
    /// Why an object stays slow of which no move was weighed.
    pub enum Why {
        /// It was moved a short while ago.
        Held = "held",
        /// It is larger than all that may be used.
        TooLarge = "too-large",
        /// What lies there, or comes, saves more for its bytes.
        Cooler = "cooler",
    }
}

/// An object that sessions wait for and that stays slow.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: f64,
    /// What it would save on the fast tier: seconds of wait a second.
    pub heat: f64,
    /// Why it stays.
    pub why: Why,
}

/// So many of them are told.
const LEFT: usize = 3;

/// What is remembered between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balancer {
    /// By name: an index that is built anew has another id.
    heat: BTreeMap<String, f64>,
    /// Until when an object stays where it is, by name.
    held_s: BTreeMap<String, f64>,
    /// What moves were expected to take, and took, seconds; the later ones weigh more.
    took_s: (f64, f64),
}

/// What an earlier move still weighs when the next has been made.
const FADES: f64 = 0.7;
/// How much of what moves took beyond what was expected is still believed at the next look: whoever expected too little in an hour
/// that was unlike the others must not take every later move for too dear.
const BELIEVED: f64 = 0.9;

impl Balancer {
    /// A move was made: a busy device takes longer for it than an idle one, and what comes next is weighed by that.
    pub fn took(&mut self, one: &Move, seconds: f64) {
        self.took_s = (FADES * self.took_s.0 + one.cost.seconds, FADES * self.took_s.1 + seconds);
    }

    /// How many times as long as expected moves take here; never less than once.
    fn slower(&self) -> f64 {
        if self.took_s.0 > 0.0 { (self.took_s.1 / self.took_s.0).max(1.0) } else { 1.0 }
    }

    /// Weighs what a window of `window_s` seconds showed, at the moment `at_s`.
    pub fn weigh(&mut self, advice: &Advice, tiers: &Tiers, rules: &Rules, window_s: f64, at_s: f64) -> Vec<Decided> {
        let share = if advice.reach.from_memory { 0.0 } else { advice.reach.share };
        let (objects, reach) = (&advice.objects, Reach { share, ..advice.reach });
        let pieces = &pieces(objects, tiers, &reach);
        let name = |at: usize| &objects[pieces[at].first()].known.name;
        let fast = |at: usize| objects[pieces[at].first()].known.fast;
        let kept = 0.5f64.powf(window_s / rules.half_life_s);
        let mut heat = BTreeMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            let now = piece.gain.saved_s() / window_s;
            // What is seen for the first time is as hot as it looks.
            let before = self.heat.get(name(at)).copied().unwrap_or(now);
            heat.insert(name(at).clone(), kept * before + (1.0 - kept) * now);
        }
        self.heat = heat;
        self.took_s.1 = self.took_s.0 + BELIEVED * (self.took_s.1 - self.took_s.0);
        self.held_s.retain(|_, until| *until > at_s);
        let held = |at: usize| self.held_s.contains_key(name(at));
        let of = |at: usize| self.heat.get(name(at)).copied().unwrap_or(0.0);
        let (mut taken, mut room): (Vec<usize>, f64) = (Vec::new(), rules.budget);
        for at in (0..pieces.len()).filter(|at| held(*at) && fast(*at)) {
            taken.push(at);
            room -= pieces[at].bytes;
        }
        let free: Vec<usize> = (0..pieces.len()).filter(|at| !held(*at)).collect();
        let worth = |at: usize| of(at) * if fast(at) { rules.better } else { 1.0 };
        let items: Vec<(f64, f64)> = free.iter().map(|at| (pieces[*at].bytes, worth(*at))).collect();
        let mut more = chosen(&items, room);
        stay(&items, &mut more, |at| fast(free[at]), room);
        taken.extend(more.into_iter().map(|at| free[at]));
        let weighed =
            moves(objects, pieces, &taken, tiers).into_iter().map(|one| decided(one, &self.heat, self.slower(), rules));
        let mut decided: Vec<Decided> = weighed.collect();
        let kept_out = decided.iter().all(|one| !one.one.to_fast || one.decision != Decision::Move);
        // Nothing makes room for what does not come.
        decided.retain(|one| one.one.to_fast || !kept_out);
        for one in decided.iter().filter(|one| one.decision == Decision::Move) {
            self.held_s.insert(one.one.name.clone(), at_s + rules.pay_off_s);
        }
        decided
    }

    /// The hottest of what stays slow without a move that was weighed.
    pub fn left(&self, advice: &Advice, decided: &[Decided], rules: &Rules) -> Vec<Left> {
        let weighed = |name: &String| decided.iter().any(|one| one.one.name == *name);
        let why = |name: &String, bytes: f64| match () {
            () if self.held_s.contains_key(name) => Why::Held,
            () if bytes > rules.budget => Why::TooLarge,
            () => Why::Cooler,
        };
        let slow = advice.pieces.iter().map(|piece| (&advice.objects[piece.first()].known, piece.bytes));
        let mut left: Vec<Left> = slow
            .filter(|(known, _)| !known.fast && !weighed(&known.name))
            .filter_map(|(known, bytes)| {
                let heat = self.heat.get(&known.name).copied().filter(|heat| *heat > 0.0)?;
                Some(Left { name: known.name.clone(), bytes, heat, why: why(&known.name, bytes) })
            })
            .collect();
        left.sort_by(|a, b| b.heat.total_cmp(&a.heat));
        left.truncate(LEFT);
        left
    }

    /// A move was not made after all.
    pub fn forget(&mut self, name: &str) {
        self.held_s.remove(name);
    }
}

fn decided(one: Move, heat: &BTreeMap<String, f64>, slower: f64, rules: &Rules) -> Decided {
    let heat = heat.get(&one.name).copied().unwrap_or(0.0);
    let pays_after_s = if one.to_fast { slower * one.cost.seconds / heat } else { f64::INFINITY };
    let pays = !one.to_fast || pays_after_s <= rules.pay_off_s;
    Decided { decision: if pays { Decision::Move } else { Decision::DoesNotPay }, one, heat, pays_after_s, slower }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gain::tests::TIERS;
    use crate::object::tests::table;
    use crate::{Look, advise};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const RULES: Rules = Rules { budget: 1e6, half_life_s: 10.0, pay_off_s: 100.0, better: 1.3 };

    /// What a balancer decides of these tables, each with its reads and whether it is fast.
    fn weigh(balancer: &mut Balancer, at_s: f64, tables: &[(&str, f64, bool)]) -> Vec<(String, bool, Decision)> {
        let object = |(name, reads, fast): &(&str, f64, bool)| {
            let mut object = table(name, 1e6, &[*reads]);
            object.known.fast = *fast;
            object
        };
        let looks = [Look::default(), Look { at_s: 10.0, ..Look::default() }];
        let advice = advise(tables.iter().map(object).collect(), &looks, &TIERS, Some(RULES.budget), 1);
        let decided = balancer.weigh(&advice, &TIERS, &RULES, 10.0, at_s);
        decided.into_iter().map(|one| (one.one.name, one.one.to_fast, one.decision)).collect()
    }

    fn moved(name: &str, to_fast: bool) -> (String, bool, Decision) {
        (name.to_owned(), to_fast, Decision::Move)
    }

    #[test]
    fn heat_that_moves_is_followed_but_not_before_the_first_move_has_paid_for_itself() {
        let mut balancer = Balancer::default();
        assert_eq!(weigh(&mut balancer, 0.0, &[("a", 500.0, false), ("b", 10.0, false)]), [moved("a", true)]);
        assert_eq!(weigh(&mut balancer, 50.0, &[("a", 0.0, true), ("b", 900.0, false)]), []);
        let turned = weigh(&mut balancer, 101.0, &[("a", 0.0, true), ("b", 900.0, false)]);
        assert_eq!(turned, [moved("a", false), moved("b", true)]);
    }

    proptest! {
        #[test]
        fn no_object_moves_again_before_the_pay_off_time_is_over_however_the_heat_wanders(
            rounds in vec((1.0..60.0f64, [0u32..1000, 0..1000, 0..1000, 0..1000]), 1..60)
        ) {
            let mut balancer = Balancer::default();
            // Room is for one of them.
            let mut tables = ["a", "b", "c", "d"].map(|name| (name, 0.0, false));
            let (mut at_s, mut moved_s) = (0.0, BTreeMap::new());
            for (passed_s, reads) in rounds {
                at_s += passed_s;
                tables.iter_mut().zip(reads).for_each(|(table, reads)| table.1 = f64::from(reads));
                for (name, to_fast, decision) in weigh(&mut balancer, at_s, &tables) {
                    if decision != Decision::Move {
                        continue;
                    }
                    let before = moved_s.insert(name.clone(), at_s);
                    prop_assert!(before.is_none_or(|before: f64| at_s - before >= RULES.pay_off_s), "{name} at {at_s} s");
                    tables.iter_mut().filter(|table| table.0 == name).for_each(|table| table.2 = to_fast);
                }
                prop_assert!(tables.iter().filter(|table| table.2).count() <= 1);
            }
        }
    }

    #[test]
    fn two_that_are_nearly_alike_do_not_change_places() {
        let mut balancer = Balancer::default();
        assert_eq!(weigh(&mut balancer, 0.0, &[("a", 500.0, true), ("b", 600.0, false)]), []);
        let hotter = weigh(&mut balancer, 10.0, &[("a", 500.0, true), ("b", 900.0, false)]);
        assert_eq!(hotter, [moved("a", false), moved("b", true)]);
    }

    #[test]
    fn a_move_costs_a_balancer_what_it_costs_by_the_advice_for_the_same_window() {
        let objects = vec![table("a", 1e6, &[500.0]), table("b", 1e6, &[1.0])];
        let looks = [Look::default(), Look { at_s: 10.0, ..Look::default() }];
        let advice = advise(objects, &looks, &TIERS, Some(RULES.budget), 1);
        let mut balancer = Balancer::default();
        let decided = balancer.weigh(&advice, &TIERS, &RULES, 10.0, 0.0);
        let decided: Vec<&Move> = decided.iter().map(|one| &one.one).collect();
        assert_eq!(decided, advice.moves.iter().collect::<Vec<_>>());
        // All of it is read beside those who read already.
        let cost = decided[0].cost.seconds;
        assert!(
            (cost - 1e6 / crate::BLOCK * TIERS.slow.copied_s).abs() < 1e-9
                && TIERS.slow.copied_s > TIERS.slow.in_order_s
        );
    }

    #[test]
    fn what_memory_answered_is_not_hot_and_what_was_read_of_a_device_before_fades() {
        let look = |at_s, read_s| Look { at_s, read_s: Some(read_s), ..Look::default() };
        let advice = |read_s| {
            let looks = [look(0.0, 0.0), look(10.0, read_s)];
            advise(vec![table("a", 1e6, &[1e6])], &looks, &TIERS, Some(RULES.budget), 1)
        };
        let (memory, device) = (advice(1.0), advice(600.0));
        assert!(memory.reach.from_memory && !device.reach.from_memory);
        let mut balancer = Balancer::default();
        assert_eq!(balancer.weigh(&memory, &TIERS, &RULES, 10.0, 0.0), []);
        assert_eq!(balancer.left(&memory, &[], &RULES), []);
        let hot = balancer.weigh(&device, &TIERS, &RULES, 10.0, 10.0)[0].heat;
        balancer.forget("a");
        assert_eq!(balancer.weigh(&memory, &TIERS, &RULES, 10.0, 20.0)[0].heat, hot / 2.0);
    }

    #[test]
    fn what_stays_slow_though_sessions_wait_for_it_is_told_with_its_reason() {
        let mut balancer = Balancer::default();
        let objects = || vec![table("a", 1e6, &[500.0]), table("b", 1e6, &[400.0]), table("large", 2e6, &[900.0])];
        let looks = [Look::default(), Look { at_s: 10.0, ..Look::default() }];
        let advice = advise(objects(), &looks, &TIERS, Some(RULES.budget), 1);
        let decided = balancer.weigh(&advice, &TIERS, &RULES, 10.0, 0.0);
        let left = |balancer: &Balancer, decided: &[Decided]| -> Vec<(String, Why)> {
            balancer.left(&advice, decided, &RULES).into_iter().map(|left| (left.name, left.why)).collect()
        };
        let (large, cooler) = (("large".to_owned(), Why::TooLarge), ("b".to_owned(), Why::Cooler));
        assert_eq!(left(&balancer, &decided), [large.clone(), cooler.clone()]);
        // It was moved, and lies on the slow tier again.
        assert_eq!(left(&balancer, &[]), [large, ("a".to_owned(), Why::Held), cooler]);
    }

    #[test]
    fn moves_that_took_longer_than_expected_make_the_next_one_dearer() {
        let mut balancer = Balancer::default();
        let object = table("a", 1e6, &[500.0]);
        let looks = [Look::default(), Look { at_s: 10.0, ..Look::default() }];
        let advice = advise(vec![object], &looks, &TIERS, Some(RULES.budget), 1);
        let first = balancer.weigh(&advice, &TIERS, &RULES, 10.0, 0.0).remove(0);
        balancer.took(&first.one, 40.0 * first.one.cost.seconds);
        balancer.forget("a");
        let next = balancer.weigh(&advice, &TIERS, &RULES, 10.0, 10.0).remove(0);
        let dearer = 1.0 + BELIEVED * 39.0;
        assert!((next.pays_after_s / first.pays_after_s - dearer).abs() < 1e-6, "{next:?}");
        for look in 2..80 {
            balancer.forget("a");
            balancer.weigh(&advice, &TIERS, &RULES, 10.0, f64::from(10 * look));
        }
        assert!(balancer.slower() < 1.1, "what nothing confirms is forgotten: {}", balancer.slower());
        balancer.took(&first.one, 40.0 * first.one.cost.seconds);
        balancer.took(&first.one, 0.0);
        assert!(balancer.slower() < 40.0 && Balancer { took_s: (9.0, 1.0), ..Balancer::default() }.slower() == 1.0);
    }

    #[test]
    fn what_would_not_pay_is_told_and_nothing_makes_room_for_it() {
        let mut balancer = Balancer::default();
        let told = weigh(&mut balancer, 0.0, &[("a", 0.0, true), ("b", 0.001, false)]);
        assert_eq!(told, [("b".to_owned(), true, Decision::DoesNotPay)]);
    }
}
