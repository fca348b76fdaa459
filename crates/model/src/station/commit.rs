//! A log with group commit: one write is on its way, and all who come meanwhile leave together with the next.

use super::Who;

/// The log of a database.
#[derive(Clone, Debug)]
pub struct Commit {
    writing: bool,
    /// Who waits for the write that is on its way, and who for the next.
    leaving: Vec<Who>,
    gathering: Vec<Who>,
    writes: u64,
}

impl Commit {
    /// With room for so many.
    pub fn new(room: usize) -> Commit {
        let (leaving, gathering) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Commit { writing: false, leaving, gathering, writes: 0 }
    }

    /// Somebody commits. Whether a write begins now.
    #[inline]
    pub fn ask(&mut self, who: Who) -> bool {
        self.gathering.push(who);
        self.begin()
    }

    /// The write is down. `into` gets all whose commit it was; the answer is whether the next write begins now.
    pub fn written(&mut self, into: &mut Vec<Who>) -> bool {
        into.append(&mut self.leaving);
        self.writing = false;
        self.begin()
    }

    /// How many leave with the write that is on its way; none when there is none.
    pub fn leaving(&self) -> u32 {
        self.leaving.len() as u32
    }

    /// How many are here: those who leave with this write, and those who gather for the next.
    pub fn here(&self) -> u32 {
        (self.leaving.len() + self.gathering.len()) as u32
    }

    /// Writes that began.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    fn begin(&mut self) -> bool {
        if self.writing || self.gathering.is_empty() {
            return false;
        }
        self.leaving.append(&mut self.gathering);
        self.writing = true;
        self.writes += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_come_during_a_write_leave_together() {
        let (mut log, mut done) = (Commit::new(8), Vec::new());
        assert!(log.ask(1));
        assert!(!log.ask(2) && !log.ask(3) && !log.ask(4));
        assert!(log.written(&mut done));
        assert_eq!(done, [1]);
        assert!(!log.written(&mut done));
        assert_eq!((done.as_slice(), log.writes()), ([1, 2, 3, 4].as_slice(), 2));
    }
}
