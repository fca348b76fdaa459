//! The key that gives a database a mirror.

use super::domain::Said;
use super::group;
use super::layout::PLACES;
use crate::{Folder, Pairing, Voter, Waits};
use reading::key::{Choice, Text};

group! { MIRROR_KEYS, Mirror;
    /// Which kind of pair: two PostgreSQL servers of which the second follows the log of the first; or two that work in
    /// lock step, on which every transaction that writes runs and is prepared before it is committed on both; or two
    /// MariaDB servers that Galera joins. The servers of a study are of the engine of its pair.
    Never PAIR "pair": Choice<Pairing> = Choice(Pairing::WORDS), Is("postgres-pair");
    /// Who decides in a `galera-pair` whose servers lose each other: nobody, so that both stop until somebody who looks
    /// after them lets one go on; the weight of the first server, which has two votes and goes on alone; or `garbd` of
    /// the package `galera-arbitrator-4`, a third voter without data, with which whoever is left goes on.
    Never VOTER "voter": Choice<Voter> = Choice(Voter::WORDS), Is("none");
    /// The mirror of a running server (`--on URL`), of the same engine and without a password in it: both are measured
    /// as they are, and nothing of them is changed. The first gets the load; the second is read for lag, CPU and rows.
    Never MIRROR_URL "mirror_url": Text = Text("the URL of a database"), Is("");
    /// Where the mirror lies, apart from the first server: a folder of its own, or a device that is not there. A list
    /// behind `--set` makes a system of each. The first server lies where `slow`, `fast` and `layout` say.
    Never MIRROR_DEVICE "mirror_device": Said<Folder> = PLACES, Follows("(none: in the cache folder, beside the first server)");
    /// How the mirror of a `postgres-pair` follows: by the log, with everything; or as a logical subscriber, by a
    /// publication of tables, which gets rows and neither definitions nor the values of sequences. A list behind
    /// `--set` makes a system of each.
    Never MIRROR_BY "mirror_by": Choice<bool> = Choice(&[("log", false), ("publication", true)]), Is("log");
    /// Tables that a mirror by `publication`, or a `two-phase-pair`, leaves out, with blanks between; `*` stands for
    /// any letters, `none` for no table. They are empty on a subscriber; in lock step they stay on the second server as
    /// they were when it was copied, and what writes to them runs on the first alone. A list behind `--set` makes a
    /// system of each.
    Never LEAVE_OUT "leave_out": Said<Vec<String>> = PATTERNS, Follows("(none)");
    /// A second server follows the first, and a commit waits: for nothing, for the log of the first, until the second
    /// was handed the log, has flushed it, or has applied it. `none` is one server alone; `on` of a `galera-pair` waits
    /// until the second has received what a commit changed, and has no other rungs. A list behind `--set` makes a
    /// system of each.
    Never MIRROR "mirror": Choice<Option<Waits>> = Choice(&[
        ("none", None),
        ("off", Some(Waits::Nothing)),
        ("local", Some(Waits::Local)),
        ("remote_write", Some(Waits::Written)),
        ("on", Some(Waits::Flushed)),
        ("remote_apply", Some(Waits::Applied)),
    ]), Follows("(none: one server alone)");
}

/// Names of tables with blanks between, in which a star stands for any letters.
const PATTERNS: Said<Vec<String>> = Said {
    allowed: "names of tables with blanks between, in which `*` stands for any letters, or `none`",
    read: patterns,
};

fn patterns(text: &str) -> Result<Vec<String>, Option<String>> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '*' | ' ');
    if text.trim().is_empty() || !text.chars().all(fits) {
        return Err(None);
    }
    Ok(text.split_whitespace().filter(|_| text.trim() != "none").map(str::to_owned).collect())
}
