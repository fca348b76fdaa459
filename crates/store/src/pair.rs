//! The record of a pair: one file in its folder that says what it is and how far its life has come.
//!
//! The one idea: it is written before anything is done, with what is still to be done, so that whoever comes after a command
//! that was killed goes on with it. It is JSON with a version, replaced whole.

use pair::{Action, Behind, Life, Node, Reason, Rule, State};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use units::Nanos;

/// The version of the form.
const FORM: &str = "prony-pair/1";

/// A pair, and what is still to be done to it.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRecord {
    /// What it is made of, such as `postgres-pair`.
    pub kind: String,
    /// How far a commit must have come on the mirror: `off`, `local`, `remote_write`, `on` or `remote_apply`.
    pub sync: String,
    /// Bytes that the list of what the mirror lacks may hold.
    pub list_bytes: u64,
    /// Cores of each node; none for a machine that both share.
    pub cores: Option<[f64; 2]>,
    /// The folder of the sockets by which nodes reach one another, `a` and `b`; none when they do so directly.
    pub via: Option<String>,
    /// Where each node lies, as a folder or `emulated:MODEL:DIR`; none for the folder of the pair.
    pub devices: Option<[String; 2]>,
    /// Tables that are left out, by pattern, each with the reason; and those that were added back.
    pub left_out: Vec<(String, String)>,
    /// Tables that were left out and are mirrored again, by schema and name.
    pub added: Vec<String>,
    /// Rows that the mirror lacked by table, when that was last seen.
    pub lacks: Vec<(String, u64)>,
    /// Tables whose rows are on the primary alone, why, and whether there are any, when that was seen last.
    pub alone: Vec<(String, String, bool)>,
    /// Rows, and their bytes, that were sent to it at the last resume.
    pub sent: (u64, u64),
    /// Who decides when both nodes of a pair lose each other that Galera joins: `none`, `weight` or `garbd`.
    pub voter: String,
    /// The ports of such a pair.
    pub ports: Vec<u16>,
    /// The place in the order of its changes from which on the mirror lacks them, and the bytes that its primary had sent until then.
    pub lacks_from: (u64, u64),
    /// Its life so far.
    pub life: Life,
    /// What its life ordered, and nobody has carried out yet, in this order.
    pub pending: Vec<Action>,
    /// Whether commits were told to wait for the mirror.
    pub waits: bool,
    /// Whether the mirror was told to follow the primary.
    pub follows: bool,
    /// Which nodes were told to let clients write.
    pub writes: [bool; 2],
    /// Which nodes may hold what the other lacks, and must go back before they follow.
    pub returns: [bool; 2],
    /// Whether both were taken down, in order.
    pub down: bool,
    /// When the primary was seen last, and how far its log had come, in bytes; 0 where its kind counts none.
    pub looked: Option<(Nanos, u64)>,
    /// Whether both ever held the same; before that no client could write on either.
    pub made: bool,
    /// What was found when both were compared last; none when they never were, or everything was copied since.
    pub checked: Option<Checked>,
}

/// What a comparison of both nodes found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// When, in nanoseconds since 1970.
    pub at: Nanos,
    /// Tables that were compared.
    pub tables: u64,
    /// Whether the mirror was to hold all that the primary held.
    pub in_step: bool,
    /// Those that differ.
    pub differ: Vec<Differing>,
}

/// A table of which both nodes hold different rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// Its database.
    pub database: String,
    /// Its schema and name.
    pub table: String,
    /// Rows on each node, the first first; none where the table is not there.
    pub rows: [Option<u64>; 2],
}

/// Writes it in the place of the one that is there.
///
/// # Errors
/// When the file cannot be written; what was there is as before.
pub fn write_pair(path: &Path, record: &PairRecord) -> io::Result<()> {
    // One name for all, so that whoever is killed here leaves nothing that nobody removes.
    let new = path.with_extension("json.new");
    let written = std::fs::File::create(&new).and_then(|mut file| {
        writeln!(file, "{:#}", form(record))?;
        file.sync_all()
    });
    // What a full disk cut off is good for nothing.
    written.and_then(|()| std::fs::rename(&new, path)).inspect_err(|_| drop(std::fs::remove_file(&new)))
}

/// Reads it.
///
/// # Errors
/// When it cannot be read, is none, or one of a later Prony.
pub fn read_pair(path: &Path) -> io::Result<PairRecord> {
    let text = std::fs::read_to_string(path)?;
    let value: Value = serde_json::from_str(&text).map_err(io::Error::other)?;
    let says = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    match value["form"].as_str() {
        Some(FORM) => record(&value).ok_or_else(|| says("the record of the pair is damaged".to_owned())),
        Some(other) => Err(says(format!("the record has the form {other}, and this Prony reads {FORM}"))),
        None => Err(says("this is no record of a pair".to_owned())),
    }
}

/// The folders of all pairs that a cache folder knows, the one that was brought up last at the end.
pub fn known_pairs(cache: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(cache.join("pairs")).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
}

/// Puts a folder at the end of them, or takes it away.
///
/// # Errors
/// When the list cannot be written.
pub fn know_pair(cache: &Path, folder: &Path, there: bool) -> io::Result<()> {
    let mut all = known_pairs(cache);
    all.retain(|known| known != folder);
    all.extend(there.then(|| folder.to_owned()));
    std::fs::create_dir_all(cache)?;
    let mut file = tempfile::NamedTempFile::new_in(cache)?;
    all.iter().try_for_each(|folder| writeln!(file, "{}", folder.display()))?;
    file.persist(cache.join("pairs")).map(drop).map_err(|error| error.error)
}

fn form(record: &PairRecord) -> Value {
    let life = &record.life;
    json!({
        "form": FORM,
        "kind": record.kind,
        "sync": record.sync,
        "list_bytes": record.list_bytes,
        "cores": record.cores,
        "via": record.via,
        "devices": record.devices,
        "left_out": record.left_out,
        "added": record.added,
        "lacks": record.lacks,
        "alone": record.alone,
        "sent": record.sent,
        "voter": record.voter,
        "ports": record.ports,
        "lacks_from": record.lacks_from,
        "promises": { "waits": life.rule.waits, "both_write": life.rule.both_write, "by_session": life.rule.by_session },
        "primary": life.primary.to_string(),
        "state": state_form(life.state),
        "up": life.up,
        "linked": life.linked,
        "stale": life.stale,
        "before": life.before.map(state_form),
        "pending": record.pending.iter().map(|action| action_form(*action)).collect::<Vec<_>>(),
        "waits": record.waits,
        "follows": record.follows,
        "writes": record.writes,
        "returns": record.returns,
        "down": record.down,
        "made": record.made,
        "looked": record.looked.map(|(at, place)| [at.0, place]),
        "checked": record.checked.as_ref().map(checked_form),
    })
}

fn record(value: &Value) -> Option<PairRecord> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let flag = |key: &str| value[key].as_bool();
    let flags = |key: &str| Some([value[key][0].as_bool()?, value[key][1].as_bool()?]);
    let promises = &value["promises"];
    let life = Life {
        rule: Rule {
            waits: promises["waits"].as_bool()?,
            both_write: promises["both_write"].as_bool()?,
            // Older ones do not say it.
            by_session: promises["by_session"].as_bool().unwrap_or(value["kind"] == "postgres-pair"),
        },
        primary: node(&value["primary"])?,
        state: state(&value["state"])?,
        up: flags("up")?,
        linked: flag("linked")?,
        stale: flag("stale")?,
        before: if value["before"].is_null() { None } else { Some(state(&value["before"])?) },
    };
    Some(PairRecord {
        kind: text("kind")?,
        sync: text("sync")?,
        list_bytes: value["list_bytes"].as_u64()?,
        cores: value["cores"][0].as_f64().zip(value["cores"][1].as_f64()).map(|(a, b)| [a, b]),
        via: text("via"),
        devices: value["devices"][0].as_str().zip(value["devices"][1].as_str()).map(|(a, b)| [a.into(), b.into()]),
        left_out: pairs(&value["left_out"], |reason| reason.as_str().map(str::to_owned)),
        added: all(&value["added"], |name| name.as_str().map(str::to_owned)),
        lacks: pairs(&value["lacks"], Value::as_u64),
        alone: all(&value["alone"], |it| {
            Some((it[0].as_str()?.to_owned(), it[1].as_str()?.to_owned(), it[2].as_bool()?))
        }),
        sent: (value["sent"][0].as_u64().unwrap_or(0), value["sent"][1].as_u64().unwrap_or(0)),
        voter: text("voter").unwrap_or_else(|| "none".to_owned()),
        ports: all(&value["ports"], |port| port.as_u64().and_then(|port| port.try_into().ok())),
        lacks_from: (value["lacks_from"][0].as_u64().unwrap_or(0), value["lacks_from"][1].as_u64().unwrap_or(0)),
        life,
        pending: value["pending"].as_array()?.iter().map(action).collect::<Option<_>>()?,
        waits: flag("waits")?,
        follows: flag("follows")?,
        writes: flags("writes")?,
        returns: flags("returns")?,
        down: flag("down")?,
        // Older ones do not say it, and may hold what clients wrote.
        made: flag("made").unwrap_or(true),
        looked: value["looked"][0].as_u64().map(Nanos).zip(value["looked"][1].as_u64()),
        checked: checked(&value["checked"]),
    })
}

fn checked_form(checked: &Checked) -> Value {
    let differ = |one: &Differing| json!([one.database, one.table, one.rows[0], one.rows[1]]);
    json!({
        "at_unix_ns": checked.at.0,
        "tables": checked.tables,
        "in_step": checked.in_step,
        "differ": checked.differ.iter().map(differ).collect::<Vec<_>>(),
    })
}

fn checked(value: &Value) -> Option<Checked> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(Checked {
        at: Nanos(value["at_unix_ns"].as_u64()?),
        tables: value["tables"].as_u64()?,
        in_step: value["in_step"].as_bool()?,
        differ: all(&value["differ"], |it| {
            Some(Differing { database: text(&it[0])?, table: text(&it[1])?, rows: [it[2].as_u64(), it[3].as_u64()] })
        }),
    })
}

/// What older records do not have is none.
fn all<T>(value: &Value, read: impl FnMut(&Value) -> Option<T>) -> Vec<T> {
    value.as_array().into_iter().flatten().filter_map(read).collect()
}

fn pairs<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Vec<(String, T)> {
    all(value, |pair| pair[0].as_str().map(str::to_owned).zip(read(&pair[1])))
}

const REASONS: [(Reason, &str); 5] = [
    (Reason::Asked, "asked"),
    (Reason::MirrorLost, "mirror lost"),
    (Reason::LinkCut, "link cut"),
    (Reason::TakenOver, "taken over"),
    (Reason::ListLost, "list lost"),
];

/// States with nothing but a name.
const STATES: [(State, &str); 5] = [
    (State::Replicating, "replicating"),
    (State::Comparing, "comparing"),
    (State::Copying, "copying"),
    (State::Swapping, "swapping"),
    (State::Diverged, "diverged"),
];

/// Actions with nothing but a name.
const ACTIONS: [(Action, &str); 6] = [
    (Action::Track, "track"),
    (Action::Forget, "forget"),
    (Action::Send, "send"),
    (Action::Copy, "copy"),
    (Action::Compare, "compare"),
    (Action::Exchange, "exchange"),
];

fn word<T: PartialEq>(all: &[(T, &'static str)], wanted: &T) -> &'static str {
    all.iter().find(|(one, _)| one == wanted).map_or("", |(_, word)| word)
}

fn named<T: Copy>(all: &[(T, &str)], value: &Value) -> Option<T> {
    all.iter().find(|(_, word)| value == word).map(|(one, _)| *one)
}

fn node(value: &Value) -> Option<Node> {
    Node::ALL.into_iter().find(|node| value == &node.to_string())
}

fn behind_form(behind: Behind) -> Value {
    json!({ "since_unix_ns": behind.since.0, "bytes": behind.bytes, "objects": behind.objects })
}

fn behind(value: &Value) -> Option<Behind> {
    let (since, bytes) = (Nanos(value["since_unix_ns"].as_u64()?), value["bytes"].as_u64()?);
    Some(Behind { since, bytes, objects: value["objects"].as_u64() })
}

fn state_form(state: State) -> Value {
    match state {
        State::Tracking(reason, behind) => {
            json!({ "is": "tracking", "reason": word(&REASONS, &reason), "behind": behind_form(behind) })
        }
        State::Resynchronising(behind) => json!({ "is": "resynchronising", "behind": behind_form(behind) }),
        State::CopyNeeded(reason) => json!({ "is": "copy needed", "reason": word(&REASONS, &reason) }),
        State::Unserved(missing) => json!({ "is": "unserved", "behind": missing.map(behind_form) }),
        plain => json!({ "is": word(&STATES, &plain) }),
    }
}

fn state(value: &Value) -> Option<State> {
    let reason = || named(&REASONS, &value["reason"]);
    Some(match value["is"].as_str()? {
        "tracking" => State::Tracking(reason()?, behind(&value["behind"])?),
        "resynchronising" => State::Resynchronising(behind(&value["behind"])?),
        "copy needed" => State::CopyNeeded(reason()?),
        "unserved" => State::Unserved(behind(&value["behind"])),
        _ => named(&STATES, &value["is"])?,
    })
}

fn action_form(action: Action) -> Value {
    match action {
        Action::Wait(waits) => json!({ "do": "wait", "on": waits }),
        Action::Writes(node, may) => json!({ "do": "writes", "node": node.to_string(), "on": may }),
        Action::Promote(node) => json!({ "do": "promote", "node": node.to_string() }),
        Action::Rewind(node) => json!({ "do": "rewind", "node": node.to_string() }),
        plain => json!({ "do": word(&ACTIONS, &plain) }),
    }
}

fn action(value: &Value) -> Option<Action> {
    let at = || node(&value["node"]);
    Some(match value["do"].as_str()? {
        "wait" => Action::Wait(value["on"].as_bool()?),
        "writes" => Action::Writes(at()?, value["on"].as_bool()?),
        "promote" => Action::Promote(at()?),
        "rewind" => Action::Rewind(at()?),
        _ => named(&ACTIONS, &value["do"])?,
    })
}

#[cfg(test)]
#[path = "tests/pair.rs"]
mod tests;
