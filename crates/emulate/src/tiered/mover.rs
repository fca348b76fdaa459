//! Who moves extents between the tiers.
//!
//! The one idea: what is hottest on the slow tier takes the place of what is coldest on the fast one, if it is so many times as hot,
//! and no more moves in a second than the budget allows. An extent is copied, then the table says that it lies there, then its old
//! place is given up.

use super::map::Key;
use super::rules::Goes;
use super::{SLOTS, Tiered, emptied, place};
use crate::locked;
use crate::place::EXTENT;
use crate::tree::Node;
use recorder::Clock;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use workload::OperationKind;

/// Bytes that are copied at once; a file is not cut meanwhile.
const CHUNK: u64 = 64 << 10;

/// An extent that is written again and again is copied so often beside its writers, and then while they wait.
const TRIES: u32 = 4;

/// The thread that moves; dropping it ends that.
pub(crate) struct Mover {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    pub(crate) fn start(tiered: Arc<Tiered>, trace: Option<File>) -> io::Result<Mover> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut rounds = Rounds { tiered, stop: stop.clone(), credit: 0.0, buffer: vec![0; CHUNK as usize], trace };
        let thread = std::thread::Builder::new().name("mover".into()).spawn(move || rounds.run())?;
        Ok(Mover { stop, thread: Some(thread) })
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // What it panicked with was told when it did.
            let _ = thread.join();
        }
    }
}

/// An extent with its heat.
type Warm = (Key, f64);

struct Rounds {
    tiered: Arc<Tiered>,
    stop: Arc<AtomicBool>,
    /// Bytes that may still be moved.
    credit: f64,
    buffer: Vec<u8>,
    trace: Option<File>,
}

impl Rounds {
    fn run(&mut self) {
        let every = Duration::from_nanos(self.tiered.tiering.every.0);
        while !self.stop.load(Ordering::Acquire) {
            std::thread::park_timeout(every);
            let each = self.tiered.tiering.budget.0 as f64 * every.as_secs_f64();
            // What was not used in one round is not saved up.
            self.credit = (self.credit + each).min(each.max(2.0 * EXTENT as f64));
            self.round();
        }
    }

    fn round(&mut self) {
        let (mut slow, mut fast) = self.by_heat();
        slow.sort_by(|a, b| b.1.total_cmp(&a.1));
        fast.sort_by(|a, b| b.1.total_cmp(&a.1));
        let each = EXTENT as f64;
        // What a rule keeps away goes first.
        while fast.last().is_some_and(|(_, heat)| *heat < 0.0) && self.credit >= each {
            let Some((key, heat)) = fast.pop() else { break };
            self.shift(key, false, heat, 0.0);
        }
        for (key, heat) in slow.into_iter().filter(|(_, heat)| *heat > 0.0) {
            let free = self.tiered.read_placed().map.room() > 0;
            let coldest = fast.last().copied();
            let other = coldest.map_or(0.0, |(_, heat)| heat);
            let pays = free || coldest.is_some() && heat > self.tiered.tiering.hysteresis * other && heat > other + 1.0;
            if !pays || self.credit < if free { each } else { 2.0 * each } || self.stop.load(Ordering::Acquire) {
                break;
            }
            if !free && let Some((colder, _)) = fast.pop() {
                self.shift(colder, false, other, heat);
            }
            self.shift(key, true, heat, other);
        }
    }

    /// Extents on the slow tier and on the fast one, with their heat. What a rule keeps on one is as hot, or as cold, as can be.
    fn by_heat(&self) -> (Vec<Warm>, Vec<Warm>) {
        let tiered = &self.tiered;
        let (files, placed): (Vec<Arc<Node>>, Vec<Key>) = {
            let placed = tiered.read_placed();
            (placed.files.values().cloned().collect(), placed.map.all().map(|(key, _)| key).collect())
        };
        let goes: HashMap<u64, Option<Goes>> = files.iter().map(|node| (node.inode, tiered.goes(node))).collect();
        let now = tiered.clock.now();
        let mut heat: HashMap<Key, f64> = locked(&tiered.heat).all(now).map(|(key, heat, _)| (key, heat)).collect();
        for node in files.iter().filter(|node| goes.get(&node.inode) == Some(&Some(Goes::KeepFast))) {
            let bytes = node.file().and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len());
            heat.extend((0..bytes.div_ceil(EXTENT)).map(|extent| ((node.inode, extent), f64::INFINITY)));
        }
        let of = |key: Key| match goes.get(&key.0) {
            Some(Some(Goes::KeepSlow)) => -1.0,
            _ => heat.get(&key).copied().unwrap_or(0.0),
        };
        let fast: HashMap<Key, f64> = placed.into_iter().map(|key| (key, of(key))).collect();
        // Who has no number has no file that could be found again.
        let slow = heat.keys().filter(|key| key.0 > 0 && !fast.contains_key(key)).map(|key| (*key, of(*key)));
        (slow.collect(), fast.into_iter().collect())
    }

    /// Moves an extent and notes it. What cannot be moved stays where it is.
    fn shift(&mut self, key: Key, up: bool, heat: f64, other: f64) {
        if !self.moved(key, up).unwrap_or(false) {
            return;
        }
        self.credit -= EXTENT as f64;
        let counts = &self.tiered.counts;
        if up { &counts.up } else { &counts.down }.fetch_add(1, Ordering::Relaxed);
        if let Some(trace) = &mut self.trace {
            let name = self.tiered.read_placed().files.get(&key.0).and_then(|node| node.name());
            let (at, name) = (self.tiered.clock.now().seconds(), name.unwrap_or_default());
            let to = if up { "fast" } else { "slow" };
            let _ = writeln!(trace, "{at:.3},{},{},{to},{heat:.3},{other:.3}", name.display(), key.1);
        }
    }

    fn moved(&mut self, key: Key, up: bool) -> io::Result<bool> {
        let tiered = self.tiered.clone();
        let (node, slot) = {
            let mut placed = tiered.write_placed();
            let Some(node) = placed.files.get(&key.0).cloned() else { return Ok(false) };
            let there = placed.map.of(key);
            let slot = if up { placed.map.take().filter(|_| there.is_none()) } else { there };
            let Some(slot) = slot else { return Ok(false) };
            placed.moving = Some(key);
            tiered.written.store(false, Ordering::Release);
            (node, slot)
        };
        let done = node.file().and_then(|file| self.carried_over(key, &file, slot, up, &node));
        if !matches!(done, Ok(true)) {
            let mut placed = tiered.write_placed();
            placed.moving = None;
            if up {
                placed.map.give_back(slot);
            }
        }
        done
    }

    /// Copies until nobody wrote meanwhile, and says then where the extent lies; whether its file was not cut in between.
    fn carried_over(&mut self, key: Key, file: &Arc<File>, slot: u32, up: bool, node: &Node) -> io::Result<bool> {
        let tiered = self.tiered.clone();
        for attempt in 1.. {
            for chunk in 0..EXTENT / CHUNK {
                let placed = tiered.read_placed();
                if placed.moving != Some(key) {
                    return Ok(false);
                }
                self.copy(key, file, (&placed.map.data, slot), chunk * CHUNK, up)?;
            }
            self.spend(key, slot, up, node);
            let mut placed = tiered.write_placed();
            if placed.moving != Some(key) {
                return Ok(false);
            }
            if tiered.written.swap(false, Ordering::AcqRel) {
                if attempt < TRIES {
                    continue;
                }
                for chunk in 0..EXTENT / CHUNK {
                    self.copy(key, file, (&placed.map.data, slot), chunk * CHUNK, up)?;
                }
            }
            // What a lost power puts back is put back in the new place from now on.
            let (memory, own, there) = (&tiered.slow.memory, key.1 * EXTENT, place(slot));
            if up {
                placed.map.set(key, slot)?;
                memory.follow((file, own), (&placed.map.data, there), EXTENT);
                let mode = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
                // A file system without holes keeps the room.
                let _ = rustix::fs::fallocate(file, mode, own, EXTENT);
            } else {
                placed.map.clear(key)?;
                memory.follow((&placed.map.data, there), (file, own), EXTENT);
            }
            placed.moving = None;
            break;
        }
        Ok(true)
    }

    /// Copies a piece of an extent; a slot is zero behind the end of the file.
    fn copy(&mut self, key: Key, file: &File, (data, slot): (&File, u32), from: u64, up: bool) -> io::Result<()> {
        let (own, there) = (key.1 * EXTENT + from, place(slot) + from);
        let bytes = file.metadata()?.len().saturating_sub(own).min(CHUNK);
        let buffer = &mut self.buffer[..bytes as usize];
        if up {
            if bytes < CHUNK {
                emptied(data, slot, from + bytes)?;
            }
            file.read_exact_at(buffer, own)?;
            data.write_all_at(buffer, there)
        } else {
            data.read_exact_at(buffer, there)?;
            file.write_all_at(buffer, own)
        }
    }

    /// A move takes the time of both devices.
    fn spend(&self, key: Key, slot: u32, up: bool, node: &Node) {
        let (own, there) = ((key.1 * EXTENT, EXTENT), (place(slot), EXTENT));
        let Tiered { slow, fast, .. } = &*self.tiered;
        let (from, to) = (OperationKind::Read, OperationKind::Write);
        if up {
            slow.spend(from, node.number, own);
            fast.spend(to, SLOTS, there);
        } else {
            fast.spend(from, SLOTS, there);
            slow.spend(to, node.number, own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tiering;
    use super::*;
    use crate::operations::{Device, Serves};
    use crate::place::Places;
    use crate::volatile::Volatile;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use units::{Bytes, Nanos};
    use workload::happening::{Fault, Happening};

    /// Two tiers that take no time, and their mover, which looks when it is told to.
    fn rounds(folder: &Path) -> Rounds {
        let [fast, slow] = ["fast", "slow"].map(|name| folder.join(name));
        [&fast, &slow].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        let memory = Arc::new(Volatile::new(1 << 24));
        let device = || Arc::new(Device::new(None, (Vec::new(), true), Places::new(1, 1 << 40), memory.clone()));
        let tiering = Tiering {
            fast,
            room: Bytes(EXTENT),
            rules: Vec::new(),
            every: Nanos::from_millis(10),
            budget: Bytes(1 << 30),
            half_life: Nanos::from_millis(1_000_000),
            hysteresis: 1.0,
            trace: None,
        };
        let tiered = Arc::new(Tiered::new(device(), device(), tiering, &slow).unwrap());
        Rounds { tiered, stop: Arc::default(), credit: 1e9, buffer: vec![0; CHUNK as usize], trace: None }
    }

    fn write(rounds: &Rounds, node: &Node, offset: u64, data: &[u8], durable: bool) {
        let (done, over) = std::sync::mpsc::channel();
        let answer = Box::new(move |written: Result<u32, fuser::Errno>| done.send(written.is_ok()).unwrap());
        rounds.tiered.write(node, offset, data, durable, answer);
        assert!(over.recv().unwrap());
    }

    fn content(rounds: &Rounds, node: &Node) -> Vec<u8> {
        rounds.tiered.happen(Happening::Fault(Fault::PowerOn)).unwrap();
        let (done, over) = std::sync::mpsc::channel();
        rounds.tiered.read(node, 0, 1 << 20, Box::new(move |read| done.send(read.ok().unwrap()).unwrap()));
        over.recv().unwrap()
    }

    fn file(folder: &Path, name: &str) -> Node {
        let path = folder.join("slow").join(name);
        File::create(&path).unwrap();
        Node::at(&path, path.metadata().unwrap().ino()).unwrap()
    }

    #[test]
    fn a_mover_makes_nothing_durable_neither_what_it_moves_nor_what_stays() {
        let folder = tempfile::tempdir().unwrap();
        let mut rounds = rounds(folder.path());
        let [one, two] = ["one", "two"].map(|name| file(folder.path(), name));
        for node in [&one, &two] {
            write(&rounds, node, 0, &[1; 8192], true);
        }
        let moved = |rounds: &Rounds| {
            let counts = &rounds.tiered.counts;
            [&counts.up, &counts.down].map(|count| count.load(Ordering::Relaxed))
        };
        write(&rounds, &two, 0, &[2; 8192], false);
        for turn in 0..8 {
            write(&rounds, &one, turn * 512, &[2; 8192], false);
        }
        rounds.round();
        assert_eq!(moved(&rounds), [1, 0]);
        // Written there, too, and then pushed back by what is hotter now.
        write(&rounds, &one, 0, &[3; 512], false);
        (0..40).for_each(|_| write(&rounds, &two, 4096, &[4; 512], false));
        rounds.round();
        assert_eq!(moved(&rounds), [2, 1]);
        write(&rounds, &two, 0, &[5; 512], false);
        rounds.tiered.happen(Happening::Fault(Fault::PowerLoss)).unwrap();
        for node in [&one, &two] {
            assert_eq!(content(&rounds, node), [1; 8192]);
        }
    }

    #[test]
    fn a_slot_that_changes_its_file_holds_nothing_of_the_file_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut rounds = rounds(folder.path());
        let [one, two] = ["one", "two"].map(|name| file(folder.path(), name));
        write(&rounds, &one, 0, &[1; 8192], true);
        rounds.round();
        write(&rounds, &one, 0, &[2; 4096], false);
        rounds.tiered.forget(&one);
        write(&rounds, &two, 0, &[3; 8192], false);
        (0..4).for_each(|_| write(&rounds, &two, 0, &[3; 8192], false));
        rounds.round();
        rounds.tiered.happen(Happening::Fault(Fault::PowerLoss)).unwrap();
        let left = content(&rounds, &two);
        assert!(left.len() <= 8192 && left.iter().all(|byte| [0, 3].contains(byte)), "{left:?}");
    }
}
