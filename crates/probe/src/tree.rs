//! The processes of a server: CPU and I/O of a root process and all its descendants.
//!
//! The one idea: a tree is looked up anew at every reading, because servers fork; what a process that has ended used is
//! kept, so that the sum never falls.
//!
//! What it does not do: it looks at no process outside of the trees that it was given. What a process used between the last look at it
//! and its end is lost.

use std::collections::{HashMap, HashSet};
use std::fs;

/// What a tree has used since it was first looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub user_ns: u64,
    pub system_ns: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub processes: u64,
}

/// The trees below some root processes.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    roots: Vec<u32>,
    ns_per_tick: u64,
    alive: HashMap<u32, Used>,
    /// What processes that have ended had used when they were last seen.
    ended: Used,
}

/// One process as `/proc/PID/stat` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub id: u32,
    pub parent: u32,
    user_ticks: u64,
    system_ticks: u64,
}

impl Trees {
    pub fn new(roots: Vec<u32>, ticks_per_s: u64) -> Trees {
        Trees { roots, ns_per_tick: 1_000_000_000 / ticks_per_s.max(1), ..Trees::default() }
    }

    /// Watches the trees below these from now on: a server that is started again has other processes.
    pub fn watch(&mut self, roots: Vec<u32>) {
        self.roots = roots;
    }

    /// Whether there is, or ever was, anything to watch.
    pub fn is_idle(&self) -> bool {
        self.roots.is_empty() && self.alive.is_empty() && self.ended == Used::default()
    }

    /// Whether this process was in one of the trees when they were looked at last.
    pub fn holds(&self, id: u32) -> bool {
        self.alive.contains_key(&id)
    }

    /// The sum over all trees, of those that have ended, too; nothing when there was never one to watch.
    pub fn read(&mut self, all: &[Process]) -> Option<Used> {
        if self.is_idle() {
            return None;
        }
        let members = members(&self.roots, all);
        let seen: HashMap<u32, Used> = members.iter().map(|process| (process.id, self.used_by(process))).collect();
        for (id, used) in &self.alive {
            if !seen.contains_key(id) {
                self.ended.add(used);
            }
        }
        self.alive = seen;
        let mut sum = self.ended;
        self.alive.values().for_each(|used| sum.add(used));
        sum.processes = self.alive.len() as u64;
        (!self.is_idle()).then_some(sum)
    }

    fn used_by(&self, process: &Process) -> Used {
        let io = fs::read_to_string(format!("/proc/{}/io", process.id)).unwrap_or_default();
        let known = self.alive.get(&process.id).copied().unwrap_or_default();
        Used {
            user_ns: process.user_ticks * self.ns_per_tick,
            system_ns: process.system_ticks * self.ns_per_tick,
            // Without the right to look, what was known stays.
            read_bytes: counter(&io, "read_bytes").unwrap_or(known.read_bytes),
            written_bytes: counter(&io, "write_bytes").unwrap_or(known.written_bytes),
            processes: 1,
        }
    }
}

impl Used {
    fn add(&mut self, other: &Used) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
    }
}

/// All processes that may be seen.
pub(crate) fn processes() -> Vec<Process> {
    ids().filter_map(process).collect()
}

fn ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn process(id: u32) -> Option<Process> {
    parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Processes that were found outside of all trees: they stay outside, so that they need not be read again.
///
/// A machine runs hundreds of processes beside those of a trial. To read them all takes a core from the load for a millisecond, at every
/// interval.
#[derive(Debug, Default)]
pub(crate) struct Strangers {
    known: HashSet<u32>,
    looks: u32,
}

/// After so many looks everybody is read once more: the number of one who has ended may have been given to another.
const LOOKS: u32 = 100;

impl Strangers {
    /// All processes but the strangers.
    pub fn others(&mut self) -> Vec<Process> {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS) {
            self.forget();
        }
        let (strangers, others): (Vec<u32>, Vec<u32>) = ids().partition(|id| self.known.contains(id));
        self.known = strangers.into_iter().collect();
        others.into_iter().filter_map(process).collect()
    }

    /// These stand outside of all trees.
    pub fn add(&mut self, processes: impl Iterator<Item = u32>) {
        self.known.extend(processes);
    }

    /// Other trees are watched from now on.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

/// The roots that are there, and everything below them.
fn members(roots: &[u32], all: &[Process]) -> Vec<Process> {
    let mut members: Vec<Process> = all.iter().filter(|process| roots.contains(&process.id)).copied().collect();
    let mut next = 0;
    while next < members.len() {
        let parent = members[next].id;
        let known: Vec<u32> = members.iter().map(|member| member.id).collect();
        members.extend(all.iter().filter(|process| process.parent == parent && !known.contains(&process.id)));
        next += 1;
    }
    members
}

/// Parses a line of `/proc/PID/stat`. The name stands in parentheses and may hold anything, so fields are counted from
/// the last one.
fn parse(text: &str) -> Option<Process> {
    let id = text.split(' ').next()?.parse().ok()?;
    let mut fields = text.get(text.rfind(')')? + 2..)?.split(' ');
    // Behind the name: state, parent, ..., user and system ticks as the 12th and 13th.
    let parent = fields.nth(1)?.parse().ok()?;
    let user_ticks = fields.nth(9)?.parse().ok()?;
    let system_ticks = fields.next()?.parse().ok()?;
    Some(Process { id, parent, user_ticks, system_ticks })
}

fn counter(text: &str, name: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok();
    text.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: u32, parent: u32) -> Process {
        Process { id, parent, user_ticks: 1, system_ticks: 1 }
    }

    #[test]
    fn a_tree_is_the_root_and_all_below_it_and_nobody_else() {
        let all = [process(1, 0), process(5, 1), process(7, 5), process(8, 7), process(9, 1)];
        let ids: Vec<u32> = members(&[5], &all).iter().map(|member| member.id).collect();
        assert_eq!(ids, [5, 7, 8]);
        assert!(members(&[77], &all).is_empty());
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 4194560 9 8 7 6 1234 567 3 2 20 0 1 0 100 0 0";
        let parsed = Process { id: 42, parent: 7, user_ticks: 1234, system_ticks: 567 };
        assert_eq!(parse(line), Some(parsed));
    }

    #[test]
    fn strangers_are_read_once_until_others_are_watched_and_who_comes_is_read_at_once() {
        let ids = |strangers: &mut Strangers| strangers.others().iter().map(|process| process.id).collect::<Vec<_>>();
        let (own, mut strangers) = (std::process::id(), Strangers::default());
        let all = ids(&mut strangers);
        assert!(all.contains(&own));
        strangers.add([own].into_iter());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let later = ids(&mut strangers);
        assert!(!later.contains(&own) && later.contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        strangers.forget();
        assert!(ids(&mut strangers).contains(&own));
    }

    #[test]
    fn our_own_process_is_seen_and_its_cpu_never_falls() {
        let mut trees = Trees::new(vec![std::process::id()], 100);
        let first = trees.read(&processes()).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let second = trees.read(&processes()).unwrap();
        assert!(second.user_ns >= first.user_ns && second.processes >= 1);
    }

    #[test]
    fn a_server_that_is_started_again_goes_on_where_the_sum_was_and_while_it_is_away_nothing_is_added() {
        let ticks = |id, ticks| Process { user_ticks: ticks, ..process(id, 1) };
        let user_s = |used: Option<Used>| used.map(|used| (used.user_ns as f64 / 1e9, used.processes));
        let mut trees = Trees::new(Vec::new(), 100);
        assert_eq!(trees.read(&[ticks(u32::MAX, 300)]), None, "nothing was ever watched");
        trees.watch(vec![u32::MAX]);
        assert_eq!(user_s(trees.read(&[ticks(u32::MAX, 300)])), Some((3.0, 1)));
        trees.watch(Vec::new());
        assert_eq!(user_s(trees.read(&[])), Some((3.0, 0)));
        trees.watch(vec![u32::MAX - 1]);
        let again = [ticks(u32::MAX - 1, 50), ticks(u32::MAX - 2, 900)];
        assert_eq!(user_s(trees.read(&again)), Some((3.5, 1)), "and what it used since it began");
        assert!(trees.holds(u32::MAX - 1) && !trees.holds(u32::MAX - 2));
    }
}
