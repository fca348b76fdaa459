//! What the same bytes would save as more buffer memory, or as a block cache on the fast tier in front of the slow one.
//!
//! The one idea: a cache keeps what was asked for lately, so that a block is there unless nobody asked for it for a characteristic
//! time (Che, Tung and Wang, IEEE JSAC 20(7), 2002; independent requests). How many blocks of an object are asked for, evenly, is
//! what its hits and reads say of the buffer that the server has. From there on time is let grow until the bytes are used up.
//!
//! What it does not do: a cache in front absorbs no writes here, and nothing is said of the page cache that the server may have beside
//! its buffer.

use crate::BLOCK;
use crate::advice::Advice;
use crate::gain::{Tiers, UNWAITED};
use crate::object::{Kind, Object};
use crate::reach::Reach;

/// Shares of the wait for storage, with everything on the slow tier, that so many bytes save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// The bytes of the fast tier, and what else they are spent on.
    pub bytes: f64,
    /// As more buffer memory.
    pub memory: f64,
    /// As a block cache.
    pub cache: f64,
}

/// What is asked for of an object within the window.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Requests, in the buffer and beyond.
    all: f64,
    /// Those that the buffer does not have.
    missed: f64,
    /// Blocks that are asked for, evenly.
    blocks: f64,
    /// Seconds of one of these on the slow tier, and on the fast one, where a part of them reaches no device.
    slow_s: f64,
    fast_s: f64,
}

/// What is saved at the bytes of each point of the curve, and at the budget, which comes last. `buffer` is the bytes of the server's buffer
/// as it is; a byte of memory costs `price` times as much as one of the fast tier.
pub fn rivals(advice: &Advice, tiers: &Tiers, buffer: f64, price: f64) -> Vec<Rival> {
    let asked = asked(&advice.objects, tiers, &advice.reach, buffer);
    let wait: f64 = advice.gains.iter().map(|gain| gain.slow_s()).sum();
    let share = |saved: f64| if wait > 0.0 { saved / wait } else { 0.0 };
    let at = |bytes: f64| Rival {
        bytes,
        memory: share(memory(&asked, bytes / price)),
        cache: share(cache(&asked, bytes, tiers)),
    };
    advice.curve.points.iter().map(|point| point.bytes).chain([advice.budget]).map(at).collect()
}

/// The share that the plan saves of the same wait.
pub fn placed(advice: &Advice) -> f64 {
    let wait: f64 = advice.gains.iter().map(|gain| gain.slow_s()).sum();
    let saved: f64 = advice.taken.iter().map(|at| advice.pieces[*at].gain.saved_s()).sum();
    if wait > 0.0 { saved / wait } else { 0.0 }
}

/// What was asked for of the objects that hold data.
fn asked(objects: &[Object], tiers: &Tiers, reach: &Reach, buffer: f64) -> Vec<Asked> {
    let data = objects.iter().filter(|object| !matches!(object.known.kind, Kind::Log | Kind::Temporary));
    let mut asked: Vec<Asked> = data
        .map(|object| {
            let missed = object.sum(|counts| counts.reads);
            let in_order = object.in_order();
            let counted = object.sum(|counts| counts.read_s.unwrap_or(0.0));
            // What was measured where it lies needs no model.
            let slow_s = match counted > 0.0 && !object.known.fast {
                true => counted / missed.max(1.0),
                false => reach.share * tiers.slow.mean_read_s(in_order),
            };
            Asked {
                all: missed + object.sum(|counts| counts.hits),
                missed,
                blocks: (object.known.bytes / BLOCK).max(1.0),
                slow_s,
                fast_s: (reach.share * tiers.fast.mean_read_s(in_order)).min(slow_s),
            }
        })
        .filter(|one| one.missed > 0.0)
        .collect();
    // Of n blocks, asked for evenly at a rate r, exp(-r t / n) are missed after a time t; all that is kept fills the buffer.
    let kept = |one: &Asked| {
        let missed = one.missed / one.all;
        one.all * if missed < 1.0 { (1.0 - missed) / -missed.ln() } else { 1.0 }
    };
    let time = buffer / BLOCK / asked.iter().map(kept).sum::<f64>().max(f64::MIN_POSITIVE);
    for one in &mut asked {
        let even = one.all * time / -(one.missed / one.all).ln();
        one.blocks = one.blocks.min(even.max(1.0));
    }
    asked
}

/// Seconds that so many more bytes of buffer save.
fn memory(asked: &[Asked], bytes: f64) -> f64 {
    // What is missed now is missed less the longer blocks stay, and what is missed less is kept.
    let gone = |one: &Asked, longer: f64| 1.0 - (-one.all * longer / one.blocks).exp();
    let used = |longer: f64| asked.iter().map(|one| one.blocks * one.missed / one.all * gone(one, longer)).sum();
    let longer = longest(used, bytes / BLOCK);
    asked.iter().map(|one| one.missed * gone(one, longer) * one.slow_s).sum()
}

/// Seconds that a block cache of so many bytes saves. It sees what the buffer does not have, and takes in all of it. A block that is
/// missed again has been in the buffer at least for as long as that keeps one, and then away for a time that is taken for exponential,
/// so that their sum has the mean that was counted: a small cache meets none of them.
fn cache(asked: &[Asked], bytes: f64, tiers: &Tiers) -> f64 {
    // How long the buffer keeps a block of the object, and the mean time away.
    let times = |one: &Asked| {
        let kept = one.blocks * -(one.missed / one.all).ln() / one.all;
        (kept, (one.blocks / one.missed - kept).max(f64::MIN_POSITIVE))
    };
    let hit = |one: &Asked, time: f64| {
        let (kept, away) = times(one);
        if time > kept { 1.0 - (-(time - kept) / away).exp() } else { 0.0 }
    };
    // A block is there from each time that it was missed on, until it is missed again or the time is over.
    let there = |one: &Asked, time: f64| {
        let (kept, away) = times(one);
        one.missed * (time.min(kept) + away * hit(one, time))
    };
    let time = longest(|time| asked.iter().map(|one| there(one, time)).sum(), bytes / BLOCK);
    let saved = |one: &Asked| {
        let hit = hit(one, time);
        one.missed * (hit * (one.slow_s - one.fast_s).max(0.0) - (1.0 - hit) * UNWAITED * tiers.fast.flush_s)
    };
    if bytes < BLOCK { 0.0 } else { asked.iter().map(saved).sum::<f64>().max(0.0) }
}

/// The longest time within which no more than so many blocks are used, by halving; `used` grows with time and ends somewhere.
fn longest(used: impl Fn(f64) -> f64, blocks: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while used(high) < blocks && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if used(middle) <= blocks { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gain::tests::TIERS;
    use crate::object::tests::table;
    use crate::{Look, advise};
    use random::Draws;

    /// A list of blocks with the one that was asked for last at its end.
    struct Lru(Vec<u64>, usize);

    impl Lru {
        fn hits(&mut self, block: u64) -> bool {
            let there = self.0.iter().position(|known| *known == block);
            there.map(|at| self.0.remove(at));
            self.0.push(block);
            if self.0.len() > self.1 {
                self.0.remove(0);
            }
            there.is_some()
        }
    }

    /// Tables of so many blocks, of which a part is asked for so often; of the second only a fifth.
    const TABLES: [(u64, u64, f64); 3] = [(400, 400, 0.5), (1_000, 200, 0.3), (800, 800, 0.2)];
    const ASKED: u32 = 200_000;

    /// Hits and misses of each table behind a buffer of so many blocks, and the hits of a cache behind that.
    fn simulated(buffer: usize, behind: usize) -> Vec<[f64; 3]> {
        let (mut first, mut second) = (Lru(Vec::new(), buffer), Lru(Vec::new(), behind));
        let mut draws = Draws::named(5, &[1]);
        let mut counts = vec![[0.0; 3]; TABLES.len()];
        for n in 0..ASKED {
            let mut left = draws.uniform();
            let which = TABLES.iter().position(|(.., part)| {
                left -= part;
                left < 0.0
            });
            let which = which.unwrap_or(0);
            let block = which as u64 * 10_000 + draws.below(TABLES[which].1);
            let hit = first.hits(block);
            let hit_behind = !hit && second.hits(block);
            // What comes first is missed by every cache.
            if n >= ASKED / 4 {
                counts[which][usize::from(!hit)] += 1.0;
                counts[which][2] += f64::from(u8::from(hit_behind));
            }
        }
        counts
    }

    fn advice(buffer: usize) -> Advice {
        let object = |(at, [hits, missed, _]): (usize, &[f64; 3])| {
            let mut object = table(&format!("t{at}"), TABLES[at].0 as f64 * BLOCK, &[*missed]);
            object.slices[0].hits = *hits;
            object
        };
        let objects = simulated(buffer, 1).iter().enumerate().map(object).collect();
        advise(objects, &[Look::default(), Look { at_s: 100.0, ..Look::default() }], &TIERS, None, 1)
    }

    #[test]
    fn more_memory_and_a_cache_in_front_save_what_a_simulation_of_both_says() {
        let buffer = 200;
        let missed = |counts: &[[f64; 3]]| counts.iter().map(|one| one[1]).sum::<f64>();
        let now = missed(&simulated(buffer, 1));
        let advice = advice(buffer);
        let asked = asked(&advice.objects, &TIERS, &advice.reach, buffer as f64 * BLOCK);
        for more in [100, 300, 700] {
            let bytes = more as f64 * BLOCK;
            let saved = memory(&asked, bytes) / TIERS.slow.read_s / now;
            let truth = 1.0 - missed(&simulated(buffer + more, 1)) / now;
            assert!((saved - truth).abs() < 0.03, "{more} more: {saved} said, {truth} simulated");
            let behind = simulated(buffer, more);
            let truth = behind.iter().map(|one| one[2]).sum::<f64>() / now;
            let each = TIERS.slow.read_s - TIERS.fast.read_s;
            let saved = cache(&asked, bytes, &TIERS) / each / now;
            assert!((saved - truth).abs() < 0.05, "a cache of {more}: {saved} said, {truth} simulated");
        }
    }

    #[test]
    fn nothing_saves_more_than_all_of_the_wait_where_the_server_timed_its_reads() {
        let mut timed = table("t", 100.0 * BLOCK, &[1_000.0]);
        timed.slices[0].read_s = Some(0.01);
        let looks = [Look::default(), Look { at_s: 10.0, ..Look::default() }];
        let advice = advise(vec![timed], &looks, &TIERS, Some(1e9), 1);
        let all = rivals(&advice, &TIERS, 8.0 * BLOCK, 1.0);
        assert!(all.iter().all(|one| one.memory <= 1.0 + 1e-9 && one.cache <= 1.0 + 1e-9), "{all:?}");
        assert!(all[all.len() - 1].memory > 0.99, "{all:?}");
    }

    /// Where the page cache answered most reads, a seventh of a table that is asked for evenly was said to save all of the wait.
    #[test]
    fn reads_that_the_page_cache_answers_are_no_hits_of_the_buffer() {
        let blocks = 15_000.0;
        let mut object = table("even", blocks * BLOCK, &[87_000.0]);
        object.slices[0].hits = 13_000.0;
        let look = |at_s: f64, read_s: f64| Look { at_s, read_s: Some(read_s), ..Look::default() };
        let advice = advise(vec![object], &[look(0.0, 0.0), look(10.0, 5.0)], &TIERS, Some(2_200.0 * BLOCK), 1);
        assert!(advice.reach.share < 0.05, "{:?}", advice.reach);
        let all = rivals(&advice, &TIERS, 2_000.0 * BLOCK, 1.0);
        let last = all.last().unwrap();
        assert!((0.1..0.25).contains(&last.memory), "{last:?}");
    }

    #[test]
    fn a_cache_keeps_the_hot_part_of_a_table_that_a_tier_takes_whole_and_memory_keeps_no_block_twice() {
        let advice = advice(200);
        let all = rivals(&advice, &TIERS, 200.0 * BLOCK, 1.0);
        assert_eq!(all.len(), advice.curve.points.len() + 1);
        assert!(all[0].memory < 1e-9 && all[0].cache == 0.0, "nothing saves nothing: {:?}", all[0]);
        assert!(
            all.windows(2)
                .take(all.len() - 2)
                .all(|pair| pair[0].memory <= pair[1].memory && pair[0].cache <= pair[1].cache)
        );
        assert!(all.iter().all(|one| one.memory + 1e-9 >= one.cache), "{all:?}");
        let dear = rivals(&advice, &TIERS, 200.0 * BLOCK, 10.0);
        assert!(dear[1].memory < all[1].memory && dear[1].cache == all[1].cache);
    }
}
