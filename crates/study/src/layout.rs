//! Layouts: which data of a database lives where.
//!
//! The one idea: there are two tiers, `slow` and `fast`, each a folder, and a layout says for each kind of data on which of them it
//! lies. It is a value with a name, so that two layouts are two systems that are compared like any others.
//!
//! What it does not do: it touches no folder; `database` places the data of private servers by it.

use crate::Folder;
use units::{Bytes, Nanos};

units::words! {
    /// A tier of storage. Its word stands in keys, in names of tablespaces and folders, and in reports.
    pub enum Tier {
        Slow = "slow" "The one that there is much of.",
        Fast = "fast" "The one that is worth something.",
    }
}

impl Tier {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Tier {
        match self {
            Tier::Slow => Tier::Fast,
            Tier::Fast => Tier::Slow,
        }
    }
}

/// The folder of a tier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TierFolder {
    /// As it is written: what files lie in, and the device through which they are seen.
    pub folder: Folder,
    /// The path through which they are reached: that of the folder, until somebody has mounted its device elsewhere.
    pub reached: String,
}

units::words! {
    /// How data goes from tier to tier while a trial runs.
    pub enum Way {
        Balancer = "balancer" "By SQL, as `prony tier balance` decides.",
        Clairvoyant = "clairvoyant" "By SQL, by one who knows which table is hot next.",
        Extents = "extents" "By extents, under the server.",
    }
}

/// Who moves data between the tiers while a trial runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moving {
    /// How.
    pub way: Way,
    /// Bytes of the fast tier that may be used.
    pub room: Bytes,
    /// How often it is decided what moves.
    pub every: Nanos,
}

impl Moving {
    /// In words: `8 MiB of the fast tier for extents that move`.
    fn shown(&self) -> String {
        let (room, every) = (units::bytes(self.room), units::duration(self.every));
        match self.way {
            Way::Balancer => format!("a balancer with {room} of fast moves by SQL every {every}"),
            Way::Clairvoyant => "one who knows what is hot next moves by SQL".to_owned(),
            Way::Extents => format!("extents move under the server, {room} of them on fast"),
        }
    }
}

/// Which data of a database lives where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// What it is called: a name that ships or is the study's, and what of it is otherwise.
    pub name: String,
    /// Where tables lie that are not named, and everything that has no place of its own.
    pub data: Tier,
    /// Where indexes lie that are not named.
    pub indexes: Tier,
    /// Where the log lies: the write-ahead log of PostgreSQL, the redo log of MariaDB.
    pub log: Tier,
    /// Where MariaDB keeps what it needs to undo.
    pub undo: Tier,
    /// Where temporary files and tables lie.
    pub temporary: Tier,
    /// Tables and indexes that are named, each with its tier.
    pub objects: Vec<(String, Tier)>,
    /// Who moves what lies there while a trial runs.
    pub moving: Option<Moving>,
    /// Whether what lies there goes with the run: a step of an advice is the next advice's no more.
    pub passing: bool,
    /// The folder of the slow tier, where there is one.
    pub slow: Option<Box<TierFolder>>,
    /// The folder of the fast tier, where there is one.
    pub fast: Option<Box<TierFolder>>,
}

/// Of more kinds of data, tables and indexes than this on one tier, the first ones are told by name.
const TOLD: usize = 6;

impl Layout {
    /// The folder of a tier.
    pub fn folder(&self, tier: Tier) -> Option<&TierFolder> {
        match tier {
            Tier::Slow => self.slow.as_deref(),
            Tier::Fast => self.fast.as_deref(),
        }
    }

    /// The folders of both tiers, to be mounted.
    pub fn folders_mut(&mut self) -> impl Iterator<Item = &mut TierFolder> {
        self.slow.iter_mut().chain(&mut self.fast).map(|at| &mut **at)
    }

    /// The tiers that have a folder, with it.
    pub fn folders(&self) -> impl Iterator<Item = (Tier, &TierFolder)> {
        Tier::ALL.iter().copied().filter_map(|tier| Some((tier, self.folder(tier)?)))
    }

    /// Where a table lies.
    pub fn of_table(&self, name: &str) -> Tier {
        self.named(name).unwrap_or(self.data)
    }

    /// Where an index lies.
    pub fn of_index(&self, name: &str) -> Tier {
        self.named(name).unwrap_or(self.indexes)
    }

    fn named(&self, name: &str) -> Option<Tier> {
        self.objects.iter().find(|(object, _)| object == name).map(|(_, tier)| *tier)
    }

    /// Each kind of data, in words, with its tier.
    fn parts(&self) -> [(&'static str, Tier); 5] {
        [
            ("data", self.data),
            ("indexes", self.indexes),
            ("the log", self.log),
            ("the undo log", self.undo),
            ("temporary files", self.temporary),
        ]
    }

    /// What lies on a tier, in words; nothing of a tier that is not used.
    pub fn on(&self, tier: Tier) -> Vec<String> {
        let apart = |tier: Tier| {
            let parts = self.parts().into_iter().filter(move |(_, at)| *at == tier);
            let named = self.objects.iter().filter(move |(_, at)| *at == tier);
            parts.map(|(what, _)| what.to_owned()).chain(named.map(|(name, _)| format!("`{name}`"))).collect::<Vec<_>>()
        };
        match tier == self.data {
            false => apart(tier),
            true if apart(tier.other()).is_empty() => vec!["everything".to_owned()],
            true => vec!["the rest".to_owned()],
        }
    }

    /// Whether anything lies on a tier, or may come to lie there.
    pub fn uses(&self, tier: Tier) -> bool {
        self.moving.is_some() || !self.on(tier).is_empty()
    }

    /// The tiers on which anything lies, with their folders.
    pub fn used(&self) -> impl Iterator<Item = (Tier, &TierFolder)> {
        self.folders().filter(|(tier, _)| self.uses(*tier))
    }

    /// The layout in words: `log-apart: the log on slow (/srv/a), the rest on fast (/srv/b)`.
    pub fn shown(&self) -> String {
        let told = |(tier, at): (Tier, &TierFolder)| {
            let mut on = self.on(tier);
            let others = on.len().saturating_sub(TOLD);
            if others > 1 {
                on.truncate(TOLD);
                on.push(format!("{others} others"));
            }
            let what = if on.is_empty() { "nothing at first".to_owned() } else { on.join(" and ") };
            format!("{what} on {} ({})", tier.word(), at.folder)
        };
        let moves = self.moving.map(|moving| format!("; {}", moving.shown())).unwrap_or_default();
        format!("{}: {}{moves}", self.name, self.used().map(told).collect::<Vec<_>>().join(", "))
    }
}
