//! Which processors threads of the generator run on, as a study says it.

use std::fmt;

/// The processors of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cpus {
    /// All that the process may use.
    #[default]
    Any,
    /// These.
    List(CpuSet),
    /// Those of a node of memory, with that memory.
    Node(u32),
}

impl Cpus {
    /// Reads `any`, a list such as `0-3,8`, or `node 1`.
    pub(crate) fn read(text: &str) -> Option<Cpus> {
        match text.trim() {
            "any" => Some(Cpus::Any),
            text => match text.strip_prefix("node ") {
                Some(node) => node.trim().parse().ok().filter(|node| *node < CpuSet::MAX).map(Cpus::Node),
                None => CpuSet::read(text).map(Cpus::List),
            },
        }
    }
}

/// A set of processors, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSet([u64; 16]);

impl CpuSet {
    /// No number is as large.
    pub const MAX: u32 = 1024;

    /// Reads a list as the kernel writes it: `0-3,8`. None of anything else, and of an empty list.
    pub fn read(text: &str) -> Option<CpuSet> {
        let mut set = CpuSet::default();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            if first > last || last >= CpuSet::MAX {
                return None;
            }
            (first..=last).for_each(|cpu| set.add(cpu));
        }
        Some(set)
    }

    fn add(&mut self, cpu: u32) {
        self.0[cpu as usize / 64] |= 1 << (cpu % 64);
    }

    /// The numbers, from the smallest.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..CpuSet::MAX).filter(|cpu| self.0[*cpu as usize / 64] >> (cpu % 64) & 1 == 1)
    }

    /// Those that are in the other set, too.
    #[must_use]
    pub fn among(self, other: CpuSet) -> CpuSet {
        CpuSet(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// One of them, counted round; none of an empty set.
    #[must_use]
    pub fn nth(self, index: u32) -> CpuSet {
        let count = self.iter().count().max(1);
        self.iter().nth(index as usize % count).into_iter().collect()
    }
}

impl FromIterator<u32> for CpuSet {
    /// Numbers that are too large are left out.
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuSet {
        let mut set = CpuSet::default();
        cpus.into_iter().filter(|cpu| *cpu < CpuSet::MAX).for_each(|cpu| set.add(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    /// As it is read: `0-3,8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => runs.push((cpu, cpu)),
            }
        }
        for (index, (first, last)) in runs.into_iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            if first == last { write!(f, "{first}")? } else { write!(f, "{first}-{last}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn processors_are_a_list_a_node_or_any() {
        assert_eq!(Cpus::read("any"), Some(Cpus::Any));
        assert_eq!(Cpus::read("node 1"), Some(Cpus::Node(1)));
        let list = CpuSet::read("0-2, 70").unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [0, 1, 2, 70]);
        assert_eq!([0, 3, 4].map(|index| list.nth(index).to_string()), ["0", "70", "0"]);
        assert_eq!(list.among(CpuSet::read("2-1023").unwrap()).to_string(), "2,70");
        for wrong in ["", "1-", "3-2", "1024", "node", "node x", "all"] {
            assert_eq!(Cpus::read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_set_reads_back_as_it_prints(cpus in prop::collection::btree_set(0..CpuSet::MAX, 1..40)) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(set.iter().collect::<std::collections::BTreeSet<_>>(), cpus);
            prop_assert_eq!(CpuSet::read(&set.to_string()), Some(set));
        }
    }
}
