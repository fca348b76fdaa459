//! What the same bytes would save as more buffer memory, or as a block cache on the fast tier in front of the slow one.
//!
//! The one idea: a cache keeps what was asked for lately, so that a block is there unless nobody asked for it for a characteristic
//! time (Che, Tung and Wang, IEEE JSAC 20(7), 2002; independent requests). An object's hits and reads say how unevenly its blocks are asked
//! for: the hottest share x of them by x^even of all requests (Gray et al., SIGMOD 1994), all of them evenly where that is 1. From there on time is
//! let grow until the bytes are used up. The same hits and reads fit a part of the blocks that is asked for evenly, and a rest that never is: then
//! more memory saves the most that it can.
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
    /// The same where a part of the blocks is asked for evenly and the rest never is, which is the most that it saves.
    pub memory_most: f64,
    /// As a block cache.
    pub cache: f64,
}

/// What is asked for of an object, or of a part of its blocks, within the window.
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
    let (counted, buffer) = (counted(&advice.objects, tiers, &advice.reach), buffer / BLOCK);
    let (uneven, part) = (unevenly(&counted, buffer), in_part(&counted, buffer));
    let wait: f64 = advice.gains.iter().map(|gain| gain.slow_s()).sum();
    let bytes: Vec<f64> = advice.curve.points.iter().map(|point| point.bytes).chain([advice.budget]).collect();
    let shares = |price: f64, of: &dyn Fn(f64) -> (f64, f64)| -> Vec<f64> {
        let saved = saved_s(bytes.iter().map(|bytes| bytes / price / BLOCK), of);
        saved.into_iter().map(|saved| if wait > 0.0 { saved / wait } else { 0.0 }).collect()
    };
    let memory = shares(price, &|time| memory(&uneven, time));
    let most = shares(price, &|time| self::memory(&part, time));
    let cache = shares(1.0, &|time| cache(&uneven, time, tiers));
    let at = |at: usize| Rival {
        bytes: bytes[at],
        memory: memory[at],
        memory_most: most[at].max(memory[at]),
        cache: cache[at],
    };
    (0..bytes.len()).map(at).collect()
}

/// The share that the plan saves of the same wait.
pub fn placed(advice: &Advice) -> f64 {
    let wait: f64 = advice.gains.iter().map(|gain| gain.slow_s()).sum();
    let saved: f64 = advice.taken.iter().map(|at| advice.pieces[*at].gain.saved_s()).sum();
    if wait > 0.0 { saved / wait } else { 0.0 }
}

/// What was asked for of the objects that hold data, with all of their blocks.
fn counted(objects: &[Object], tiers: &Tiers, reach: &Reach) -> Vec<Asked> {
    let data = objects.iter().filter(|object| !matches!(object.known.kind, Kind::Log | Kind::Temporary));
    let asked = data.map(|object| {
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
    });
    asked.filter(|one| one.missed > 0.0).collect()
}

/// As many blocks of each object as fit its hits and reads, asked for evenly: of n blocks, asked for at a rate r, exp(-r t / n) are missed after
/// a time t, and all that is kept fills the buffer.
fn in_part(counted: &[Asked], buffer: f64) -> Vec<Asked> {
    let kept = |one: &Asked| {
        let missed = one.missed / one.all;
        one.all * if missed < 1.0 { (1.0 - missed) / -missed.ln() } else { 1.0 }
    };
    let time = buffer / counted.iter().map(kept).sum::<f64>().max(f64::MIN_POSITIVE);
    let part = |one: &Asked| {
        // Where no hits are counted, all of them may be asked for.
        let even = one.all * time / (one.all / one.missed).ln();
        Asked { blocks: one.blocks.min(even.max(1.0)), ..*one }
    };
    counted.iter().map(part).collect()
}

/// Parts of an object's blocks, each half as large as the next.
const PARTS: usize = 16;

/// All blocks of each object in parts, the hot ones first, so unevenly that they fit its hits and reads and fill the buffer.
fn unevenly(counted: &[Asked], buffer: f64) -> Vec<Asked> {
    let all = |time: f64| counted.iter().flat_map(move |one| parts(one, even(one, time), time));
    let time = longest(|time| all(time).map(|part| part.blocks * (1.0 - part.missed / part.all)).sum(), buffer);
    let fitted = |one: &Asked| {
        let parts = parts(one, even(one, time), time);
        let sum = parts.iter().map(|part| part.missed).sum::<f64>();
        // A buffer that holds all of them was filled within the window.
        let share = |part: &Asked| if sum > 0.0 { part.missed / sum } else { part.all / one.all };
        parts.map(|part| Asked { missed: (one.missed * share(&part)).min(part.all), ..part })
    };
    // What is never missed tells nothing.
    counted.iter().flat_map(fitted).filter(|part| part.missed > 1e-9 * part.all).collect()
}

/// The parts of an object, with what is missed of each after a time.
fn parts(one: &Asked, even: f64, time: f64) -> [Asked; PARTS] {
    let mut before = 0.0f64;
    std::array::from_fn(|at| {
        let end = 0.5f64.powi((PARTS - 1 - at) as i32);
        let (blocks, all) = (one.blocks * (end - before), one.all * (end.powf(even) - before.powf(even)));
        before = end;
        Asked { all, missed: all * (-all * time / blocks).exp(), blocks, ..*one }
    })
}

/// How evenly the blocks of an object are asked for, so that as much is missed after a time as was counted; 1 where even that would miss less.
fn even(one: &Asked, time: f64) -> f64 {
    let missed = |even: f64| parts(one, even, time).iter().map(|part| part.missed).sum::<f64>();
    if missed(1.0) <= one.missed {
        return 1.0;
    }
    let (mut low, mut high) = (0.02, 1.0);
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if missed(middle) > one.missed { high = middle } else { low = middle }
    }
    high
}

/// Blocks that more buffer uses when it keeps a block for so much longer, and seconds that it saves.
fn memory(asked: &[Asked], longer: f64) -> (f64, f64) {
    // What is missed now is missed less the longer blocks stay, and what is missed less is kept.
    let of = |one: &Asked| {
        let gone = 1.0 - (-one.all * longer / one.blocks).exp();
        (one.blocks * one.missed / one.all * gone, one.missed * gone * one.slow_s)
    };
    asked.iter().map(of).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Blocks that a block cache uses when it keeps one for so long, and seconds that it saves. It sees what the buffer does not have, and takes in
/// all of it. A block that is missed again has been in the buffer at least for as long as that keeps one, and then away for a time that is taken
/// for exponential, so that their sum has the mean that was counted: a small cache meets none of them.
fn cache(asked: &[Asked], time: f64, tiers: &Tiers) -> (f64, f64) {
    let of = |one: &Asked| {
        // How long the buffer keeps a block of the object, and the mean time away.
        let kept = one.blocks * -(one.missed / one.all).ln() / one.all;
        let away = (one.blocks / one.missed - kept).max(f64::MIN_POSITIVE);
        let hit = if time > kept { 1.0 - (-(time - kept) / away).exp() } else { 0.0 };
        let saved = hit * (one.slow_s - one.fast_s).max(0.0) - (1.0 - hit) * UNWAITED * tiers.fast.flush_s;
        // A block is there from each time that it was missed on, until it is missed again or the time is over.
        (one.missed * (time.min(kept) + away * hit), one.missed * saved)
    };
    asked.iter().map(of).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Times that are tried, windows, each a tenth longer than the one before.
const TIMES: (f64, f64, i32) = (1e-9, 1.1, 512);

/// Seconds that are saved with so many blocks each, by the longest time within which no more are used; `of` is the blocks and the seconds of a time.
fn saved_s(blocks: impl Iterator<Item = f64>, of: &dyn Fn(f64) -> (f64, f64)) -> Vec<f64> {
    let steps: Vec<(f64, f64)> = (0..TIMES.2).map(|step| of(TIMES.0 * TIMES.1.powi(step))).collect();
    let saved = |blocks: f64| {
        let next = steps.partition_point(|(used, _)| *used <= blocks);
        match (next.checked_sub(1).map(|last| steps[last]), steps.get(next)) {
            _ if blocks < 1.0 => 0.0,
            (Some(last), Some(next)) => last.1 + (next.1 - last.1) * (blocks - last.0) / (next.0 - last.0),
            (Some(last), None) => last.1,
            (None, _) => 0.0,
        }
    };
    blocks.map(|blocks| saved(blocks).max(0.0)).collect()
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
            let there = self.0.iter().rposition(|known| *known == block);
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

    /// Hits and misses of each table behind a buffer of so many blocks, and the hits of a cache behind that. The hottest share x of what is
    /// asked for is asked for by x^even of all requests.
    fn simulated(buffer: usize, behind: usize, even: f64) -> Vec<[f64; 3]> {
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
            let place = TABLES[which].1 as f64 * draws.fraction().powf(1.0 / even);
            let block = which as u64 * 10_000 + place as u64;
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

    fn advice(buffer: usize, even: f64) -> Advice {
        let object = |(at, [hits, missed, _]): (usize, &[f64; 3])| {
            let (blocks, asked, _) = TABLES[at];
            let blocks = if even < 1.0 { asked } else { blocks };
            let mut object = table(&format!("t{at}"), blocks as f64 * BLOCK, &[*missed]);
            object.slices[0].hits = *hits;
            object
        };
        let objects = simulated(buffer, 1, even).iter().enumerate().map(object).collect();
        advise(objects, &[Look::default(), Look { at_s: 100.0, ..Look::default() }], &TIERS, None, 1)
    }

    /// Where few rows are asked for often and many seldom, more memory was promised to save up to twice of what it does.
    #[test]
    fn more_memory_and_a_cache_in_front_save_what_a_simulation_of_both_says_by_how_evenly_blocks_are_asked_for() {
        let missed = |counts: &[[f64; 3]]| counts.iter().map(|one| one[1]).sum::<f64>();
        let (slow, gained) = (TIERS.slow.read_s, TIERS.slow.read_s - TIERS.fast.read_s);
        for (even, more) in [(1.0, 100), (1.0, 300), (1.0, 700), (0.4, 300)] {
            let advice = advice(200, even);
            let counted = counted(&advice.objects, &TIERS, &advice.reach);
            let (now, behind) = (missed(&simulated(200, 1, even)), simulated(200, more, even));
            let share = |of: &dyn Fn(f64) -> (f64, f64)| saved_s([more as f64].into_iter(), of)[0] / now;
            let (uneven, part) = (unevenly(&counted, 200.0), in_part(&counted, 200.0));
            let [low, most] = [&uneven, &part].map(|asked| share(&|time| memory(asked, time)) / slow);
            let asked = if even < 1.0 { &uneven } else { &part };
            let in_front = share(&|time| cache(asked, time, &TIERS)) / gained;
            let truth = 1.0 - missed(&simulated(200 + more, 1, even)) / now;
            assert!(low < truth + 0.03 && truth < most + 0.03, "{more} more: {low} to {most} said, {truth} simulated");
            let (said, other) = if even < 1.0 { (low, most) } else { (most, low) };
            assert!(
                (said - truth).abs() < 0.03 && (other - truth).abs() > 0.02,
                "{more} more: {low} to {most}, {truth}"
            );
            let truth = behind.iter().map(|one| one[2]).sum::<f64>() / now;
            assert!((in_front - truth).abs() < 0.05, "a cache of {more}: {in_front} said, {truth} simulated");
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
        // No hits were counted, as by MariaDB: a tenth of the blocks does not hold all that is asked for.
        let tenth = rivals(&Advice { budget: 10.0 * BLOCK, ..advice }, &TIERS, 8.0 * BLOCK, 1.0);
        assert!(tenth[tenth.len() - 1].memory_most < 0.2, "{tenth:?}");
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
        let advice = advice(200, 1.0);
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
