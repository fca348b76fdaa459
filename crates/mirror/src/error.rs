//! Why a pair does not do what it was asked for.

use database::{DatabaseError, Failure};
use pair::{Node, Refusal};
use std::path::PathBuf;
use units::for_shell;

/// Why a pair does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The life of the pair does not allow it now.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A server did not do its part.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A node refused a statement, while this was done.
    #[error("node {0}: cannot {1}")]
    Statement(Node, &'static str, #[source] Failure),
    /// The folder holds what Prony did not make.
    #[error("`{path}` holds `{1}`, which is no part of a pair of Prony's; it was left untouched", path = .0.display())]
    NotOurs(PathBuf, String),
    /// There is no pair in the folder.
    #[error("`{}` holds no pair", .0.display())]
    NoPair(PathBuf),
    /// Another command works on the pair.
    #[error("another command works on the pair in `{}`", .0.display())]
    Busy(PathBuf),
    /// The pair is of a kind that is mirrored by its log.
    #[error("this pair is a {0}: clients write on its nodes themselves, and nobody stands in between")]
    NotServed(String),
    /// No table can be left out of a pair of this kind.
    #[error("a {0} has no tables that were left out and could be added")]
    AllMirrored(String),
    /// Somebody removed the data of the primary; whether the mirror has its own.
    #[error("node {0}, the primary, has no data any more")]
    Gone(Node, bool),
    /// Both nodes take writes.
    #[error("both nodes of a galera-pair take writes: they have no roles to swap")]
    NoRoles,
    /// Rows that are not mirrored would be out of reach.
    #[error("the rows of `{0}` are on node {1} alone, and node {2} does not have them")]
    Alone(String, Node, Node),
    /// Clients held locks on tables each time that all of them were asked for.
    #[error("node {0}: cannot lock its tables for a moment in {1} tries: clients work on them without a pause")]
    KeptOut(Node, u32, #[source] Failure),
    /// Both nodes are written on without a pause.
    #[error("clients wrote on both nodes in each of {0} attempts to compare them")]
    Restless(u32),
    /// There is a pair of another kind.
    #[error("the pair that is there is a {0}, and stays one")]
    Kind(String),
    /// No such table is left out.
    #[error("no table `{0}` is left out of the pair")]
    NotLeftOut(String),
    /// Addresses and configurations of servers cannot carry a path with this sign.
    #[error("the folder `{}` has the sign `{}` in its path, which addresses of its servers cannot carry", .0.display(), .1)]
    Sign(PathBuf, String),
    /// Nobody can listen there.
    #[error("cannot listen at {0}")]
    Listen(std::net::SocketAddr, #[source] std::io::Error),
    /// The pair, of this kind, is down.
    #[error("the pair in `{}` is down", .0.display())]
    Down(PathBuf, String),
    /// Bringing the pair, of this kind, up was cut off.
    #[error("the pair in `{}` was never finished: what brought it up was cut off", .0.display())]
    HalfMade(PathBuf, String),
    /// A file of the pair cannot be read or written.
    #[error("cannot {1} `{path}`", path = .0.display())]
    File(PathBuf, &'static str, #[source] std::io::Error),
    /// Both nodes let clients write, and only one of them should: the other.
    #[error("split brain: node {0} takes writes of its own, beside the primary")]
    Split(Node),
    /// The second node goes on with a majority.
    #[error(
        "node {0} has no majority, and node {1} goes on with one: node {0} is not told to go on beside it, which were a split brain"
    )]
    Outvoted(Node, Node),
    /// What was waited for did not come within so many seconds.
    #[error("{0} within {1} s")]
    Late(&'static str, u64),
    /// The mirror did not get all of the primary's log before the roles were to change.
    #[error("node {0} did not get the last of the log of node {1} within {2} s, so that the roles stay as they are")]
    NotDrained(Node, Node, u64),
}

/// What ends a value in lists of sockets, in addresses or in configurations.
pub(crate) const SIGNS: [char; 6] = ['"', ',', '&', '?', '#', '%'];

/// Where to look when a node does not do its part.
const SEE: &str = "see what the nodes do: prony pair status; each writes a file `log` in its folder";

/// Where no room is left.
const ROOM: &str = "free space there, or make the pair anew where there is more: --dir, or --device A,B; less log is kept with a smaller --list";

impl MirrorError {
    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            MirrorError::Refused(Refusal::Away(_)) => {
                "start it: prony pair up, with the folder of the pair".to_owned()
            }
            MirrorError::Refused(Refusal::Missing(_) | Refusal::Commits(_) | Refusal::MayBeMissing | Refusal::Unfinished) => {
                "start the lost primary: prony pair up, with the folder of the pair".to_owned()
            }
            MirrorError::Refused(Refusal::NotReplicating) => "see what it does: prony pair status".to_owned(),
            MirrorError::Refused(Refusal::Apart) => "heal the link: prony pair heal".to_owned(),
            MirrorError::Refused(Refusal::Served(_)) => {
                "swap the roles: prony pair swap; the nodes of a galera-pair have none, and both take writes".to_owned()
            }
            MirrorError::Refused(_) => return None,
            MirrorError::Database(DatabaseError::Server { .. } | DatabaseError::Refused { .. }) => SEE.to_owned(),
            MirrorError::Database(DatabaseError::Stopped) => {
                "the next command goes on with it; the next prony pair up makes a pair anew that was never finished"
                    .to_owned()
            }
            MirrorError::Database(DatabaseError::LongPath { .. }) => "choose a shorter folder: --dir".to_owned(),
            MirrorError::Database(DatabaseError::Full { .. }) => ROOM.to_owned(),
            MirrorError::File(.., source) if source.kind() == std::io::ErrorKind::StorageFull => ROOM.to_owned(),
            MirrorError::Sign(..) => {
                format!("name a folder without any of {} with --dir", SIGNS.map(String::from).join(" "))
            },
            MirrorError::Database(error) => return error.hint(),
            MirrorError::NotOurs(..) => "name an empty folder, or one that is not there yet, with --dir".to_owned(),
            MirrorError::NotServed(_) => {
                "make one of the other kind: prony pair up two-phase-pair --dir DIR".to_owned()
            }
            MirrorError::NoRoles => {
                "take one out and bring it back: prony pair suspend, then prony pair resume".to_owned()
            }
            MirrorError::Alone(..) => {
                "accept that with --accept-missing, or mirror the table first: prony pair add".to_owned()
            }
            MirrorError::KeptOut(..) => {
                "end transactions that are open for longer than half a second, and say it again".to_owned()
            }
            MirrorError::Restless(_) => "keep writers off one of both nodes meanwhile".to_owned(),
            MirrorError::Kind(kind) => format!("leave the kind out, or say its own: prony pair up {kind}"),
            MirrorError::NotLeftOut(_) => "give schema and name, as `prony pair check` lists them".to_owned(),
            MirrorError::Listen(..) => "give a free port: --listen 127.0.0.1:0".to_owned(),
            MirrorError::NoPair(_) => {
                "name the folder of one with --dir, or bring one up: prony pair up postgres-pair --dir DIR".to_owned()
            }
            MirrorError::Busy(_) => {
                "wait until it has ended, or end it; `prony pair status` looks meanwhile".to_owned()
            }
            MirrorError::Down(folder, kind) => format!("bring it up: prony pair up {kind} --dir {}", for_shell(folder.display())),
            MirrorError::HalfMade(folder, kind) => format!(
                "have its nodes made anew: prony pair up {kind} --dir {folder}; or remove it: prony pair down --remove --dir {folder}",
                folder = for_shell(folder.display())
            ),
            MirrorError::Gone(_, true) => {
                "have the other one take over, which runs: prony pair take-over, with --accept-missing where nobody knows what it lacks; then prony pair up fills this one anew"
                    .to_owned()
            }
            MirrorError::Gone(_, false) => {
                "nor has the other one: prony pair down --remove, then prony pair up".to_owned()
            }
            MirrorError::AllMirrored(_) => "see what is left out: prony pair check".to_owned(),
            MirrorError::Split(node) => {
                format!("throw away what node {node} wrote alone: prony pair resume --discard-mirror")
            }
            MirrorError::Outvoted(..) => {
                "put it back on the wire if somebody took it off (prony pair heal), or have it started anew: \
                prony pair down, then prony pair up"
                    .to_owned()
            }
            MirrorError::File(path, "read", _) => format!(
                "unless a later Prony wrote it, remove the pair with its data: prony pair down --remove --dir {}",
                for_shell(path.parent().unwrap_or(path).display())
            ),
            MirrorError::File(_, "list", _) => {
                "name an empty folder, or one that is not there yet, with --dir".to_owned()
            }
            MirrorError::Statement(..)
            | MirrorError::Late(..)
            | MirrorError::File(..)
            | MirrorError::NotDrained(..) => SEE.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_told_can_be_pasted_where_the_path_has_blanks() {
        let (folder, kind) = (PathBuf::from("/my pair"), "postgres-pair".to_owned());
        let record = MirrorError::File(folder.join("pair.json"), "read", std::io::ErrorKind::InvalidData.into());
        for error in [MirrorError::Down(folder.clone(), kind.clone()), MirrorError::HalfMade(folder, kind), record] {
            let hint = error.hint().unwrap_or_default();
            assert!(hint.contains("--dir '/my pair'") && !hint.contains("--dir /my pair"), "{hint}");
        }
    }

    #[test]
    fn a_full_disk_and_a_long_path_of_a_pair_are_mended_by_what_a_pair_has() {
        let full = DatabaseError::Full { place: "/pair/a".to_owned(), text: "no space".to_owned() };
        let long = DatabaseError::LongPath { path: "/pair/a".into(), length: 108, most: 107 };
        let hints = [full, long].map(|error| MirrorError::Database(error).hint().unwrap_or_default());
        assert!(
            hints
                .iter()
                .all(|hint| hint.contains("--dir") && !hint.contains("accounts") && !hint.contains("PRONY_CACHE"))
        );
    }
}
