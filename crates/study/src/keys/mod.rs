//! All keys that a study may set, and where each may stand.
//!
//! The one idea: this is the only list. It serves the reader of the file, `--set`, factors and the reference page, so that the
//! four cannot disagree. The keys of a workload come from its row in the table of workloads.
//!
//! What it does not do: keys that have one fixed place and are never varied (title, paths, names) are read where they
//! stand.

pub(crate) mod access;
mod domain;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod mirror;
pub(crate) mod other;
pub(crate) mod phases;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod system;

use reading::AnyKey;
use std::ops::Deref;
use workload::{Interface, Row, WORKLOADS};

/// What a key belongs to; decides in which tables of the file it may stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Group {
    /// The system: in `[system.NAME]`, and in an experiment.
    System,
    /// How a system is opened, once for the whole run: in `[system.NAME]` only.
    Opening,
    /// The two tiers of a system, and its layout by name: in `[system.NAME]` only.
    Placing,
    /// What lies on which tier: in `[layout.NAME]` and `[system.NAME]`.
    Layout,
    /// The mirror of a system: in `[system.NAME]` only.
    Mirror,
    /// One workload: in `[workload.NAME]`, a stream or an experiment.
    Workload(&'static Row),
    /// How sessions talk to a database: in the same places.
    Session,
    /// How a workload reaches the system: in the same places.
    Access,
    /// How fast: in the `load` table of a stream or an experiment.
    Load,
    /// What a trial finds: in an experiment.
    State,
    /// How long it takes and how often it is repeated: in an experiment.
    Phases,
}

impl Group {
    /// What its keys stand under on the reference page.
    pub fn title(self) -> &'static str {
        match self {
            Group::System => "System",
            Group::Opening => "Opening",
            Group::Placing => "Tiers",
            Group::Layout => "Layouts",
            Group::Mirror => "Mirrors",
            Group::Workload(row) => row.title,
            Group::Session => "Sessions",
            Group::Access => "Access",
            Group::Load => "Load",
            Group::State => "State",
            Group::Phases => "Phases",
        }
    }

    /// What they are for, and where they stand.
    pub fn place(self) -> String {
        let place = match self {
            Group::Workload(row) => {
                return format!("In `[workload.NAME]` of kind `{}`, a stream, or an experiment.", row.word);
            }
            Group::System => "In `[system.NAME]`, and in an experiment.",
            Group::Opening => "In `[system.NAME]` only, never a factor: a system is opened once for the whole run.",
            Group::Placing => {
                "In `[system.NAME]` only, never a factor, for systems `local:postgres`, `local:mariadb` and `sqlite:`: two layouts \
                 are two systems."
            }
            Group::Layout => "In `[layout.NAME]`, and in `[system.NAME]`, never a factor.",
            Group::Mirror => {
                "In `[system.NAME]` only, never a factor, for systems `local:postgres`, and `local:mariadb` without a layout (`mirror_url` for \
                 running servers): with and without a mirror are two systems."
            }
            Group::Session => "How a database is talked to: in a workload that asks one, a stream, or an experiment.",
            Group::Access => "How a workload reaches the system: in a workload, a stream, or an experiment.",
            Group::Load => "In the `load` table of a stream or an experiment.",
            Group::State => "What a trial finds when it starts: in an experiment.",
            Group::Phases => "How long a trial takes and how often it is repeated: in an experiment.",
        };
        place.to_owned()
    }

    /// Its keys.
    pub fn keys(self) -> impl Iterator<Item = Key> {
        keys().filter(move |key| key.group == self)
    }
}

/// All groups, in the order of the reference page.
pub fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = keys().map(|key| key.group).collect();
    groups.dedup();
    groups
}

/// The workloads to which a key means something, by their interfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meant {
    /// It is asked of a system, whatever the workloads.
    Never,
    Block,
    Storage,
    Database,
    /// Databases whose sessions may be shared by users.
    Shared,
    BlockOrDatabase,
    Always,
}

/// A key with its place.
#[derive(Clone, Copy)]
pub struct Key {
    /// What it belongs to.
    pub group: Group,
    key: &'static dyn AnyKey,
    meant: Meant,
}

impl Deref for Key {
    type Target = dyn AnyKey;

    fn deref(&self) -> &(dyn AnyKey + 'static) {
        self.key
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.key.fmt(f)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.key == other.key
    }
}

impl Key {
    /// Whether it is this one.
    pub(crate) fn is(&self, key: &dyn AnyKey) -> bool {
        self.key.name() == key.name()
    }

    /// Whether it means anything to a workload.
    pub fn applies(&self, workload: &Row) -> bool {
        // Several workloads may have one key.
        if let Group::Workload(_) = self.group {
            return workload.keys.iter().any(|key| self.is(*key));
        }
        let interface = workload.interface;
        match self.meant {
            Meant::Never => false,
            Meant::Block => interface == Interface::Block,
            Meant::Storage => interface != Interface::Database,
            Meant::Database => interface == Interface::Database,
            Meant::Shared => interface == Interface::Database && workload.shared,
            Meant::BlockOrDatabase => interface != Interface::File,
            Meant::Always => true,
        }
    }
}

/// Declares the keys of a group with the workloads that each means something to. A key that a workload declares too is only
/// named.
macro_rules! group {
    ($list:ident, $group:ident;
     $($(#[doc = $help:literal])* $meant:ident $key:ident $($name:literal: $domain:ty = $value:expr, $default:ident($text:expr))?;)*) => {
        $(reading::key! { $(#[doc = $help])* pub(crate) $key $($name: $domain = $value, $default($text))? })*
        pub(super) static $list: &[super::Key] =
            &[$(super::Key { group: super::Group::$group, key: &$key, meant: super::Meant::$meant }),*];
    };
}
use group;

/// Every key, in the order of the reference page.
pub fn keys() -> impl Iterator<Item = Key> + Clone {
    let of_workload = |row: &'static Row| {
        row.keys.iter().map(move |key| Key { group: Group::Workload(row), key: *key, meant: Meant::Always })
    };
    let before = [system::SYSTEM, system::OPENING, layout::PLACING, layout::LAYOUTS, mirror::MIRROR_KEYS];
    let after = [session::SESSION, access::ACCESS, load::LOAD, state::STATE, phases::PHASES];
    let listed = |lists: &[&'static [Key]]| lists.iter().flat_map(|list| list.iter().copied()).collect::<Vec<_>>();
    listed(&before).into_iter().chain(WORKLOADS.iter().flat_map(of_workload)).chain(listed(&after))
}

/// The key of that name, or of that word of another tool.
pub(crate) fn find(name: &str) -> Option<Key> {
    let name = other::known(name);
    keys().find(|key| key.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_text_that_the_key_itself_accepts() {
        for key in keys().filter(|key| !key.default().starts_with('(')) {
            assert!(key.check(key.default()).is_ok(), "{}: {}", key.name(), key.default());
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_one_key_of_several_workloads() {
        let listed: Vec<Key> = keys().collect();
        for (place, key) in listed.iter().enumerate() {
            for other in listed[..place].iter().filter(|other| other.is(&**key)) {
                assert!(matches!((key.group, other.group), (Group::Workload(_), Group::Workload(_))), "{key:?}");
                assert_eq!(
                    (key.allowed(), key.default(), key.help()),
                    (other.allowed(), other.default(), other.help())
                );
            }
        }
    }

    #[test]
    fn a_refusal_states_the_range_and_the_value() {
        let refusal = find("modules").unwrap().check("0").unwrap_err();
        assert_eq!(refusal, "a whole number from 1 to 1024, got `0`");
        let refusal = find("measure").unwrap().check("60").unwrap_err();
        assert!(refusal.contains("has no unit") && refusal.contains("ms, s, min"), "{refusal}");
    }
}
