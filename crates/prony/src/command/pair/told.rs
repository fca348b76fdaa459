//! What a pair does, in words and as fields.

use database::server::Shared;
use mirror::{Compared, Kind, Pair, Seen, Server, Servers};
use pair::{Behind, Node, State};
use serde_json::{Value, json};
use store::Checked;
use units::{Bytes, Nanos};

/// The word for a state, and a sentence about it.
fn state(seen: &Seen) -> (&'static str, String) {
    let (word, says) = said(seen);
    let differ = if word == "replicating" && differ(seen) { "; but the last check found that they differ" } else { "" };
    (word, says + differ)
}

fn said(seen: &Seen) -> (&'static str, String) {
    let life = &seen.record.life;
    if !seen.record.made && !seen.busy {
        return ("unfinished", "bringing it up was cut off, and nobody could write on it yet".to_owned());
    }
    if seen.record.down {
        return ("down", "both nodes are down".to_owned());
    }
    if let Some(node) = seen.split {
        let text = format!("node {node} takes writes of its own beside the primary, node {}", node.other());
        return ("split-brain", text);
    }
    let (primary, mirror) = (life.primary(), life.mirror());
    match life.state() {
        State::Replicating if is(seen, Kind::Sets) => {
            let held = if life.rule.waits { "; what is acknowledged is on both" } else { "" };
            ("replicating", format!("both nodes take writes, and give their changes one order{held}"))
        }
        State::Replicating if life.rule.waits => {
            let follows = if by_rows(seen) { "is in lock step with" } else { "follows" };
            let unless =
                if by_rows(seen) { "" } else { ", unless a session, role or database lowered synchronous_commit" };
            ("replicating", format!("node {mirror} {follows} node {primary}; what is acknowledged is on both{unless}"))
        }
        State::Replicating => {
            ("replicating", format!("node {mirror} follows node {primary}; commits do not wait for it"))
        }
        State::Tracking(reason, behind) => {
            ("tracking", format!("{}, because {reason}", lacks(seen, listed(seen, behind))))
        }
        State::Resynchronising(behind) => {
            let behind = listed(seen, behind);
            let left = seen.time_left.map(|time| format!(", about {} left", units::duration(time)));
            ("resynchronising", format!("{}, and is sent it{}", lacks(seen, behind), left.unwrap_or_default()))
        }
        State::Comparing => ("comparing", "everything was sent, and both nodes are compared".to_owned()),
        State::CopyNeeded(reason) => {
            ("copy-needed", format!("node {mirror} needs a copy of everything, because {reason}"))
        }
        State::Copying => ("copying", format!("a copy of everything goes to node {mirror}")),
        State::Swapping => ("swapping", "the nodes change their roles, and nobody may write".to_owned()),
        State::Unserved(_) if !seen.nodes[mirror as usize].answers => {
            ("blocked", "neither node answers, and nobody may write".to_owned())
        }
        State::Unserved(missing) => {
            let lacks = missing_says(seen, missing);
            (
                "blocked",
                format!("the primary, node {primary}, does not answer, and nobody may write; node {mirror} {lacks}"),
            )
        }
        State::Diverged => ("diverged", "both nodes answer and differ, although nothing waits to be sent".to_owned()),
    }
}

/// What the mirror of a lost primary lacks, as far as anybody can know.
fn missing_says(seen: &Seen, missing: Option<Behind>) -> String {
    let (primary, by_log) = (seen.record.life.primary(), is(seen, Kind::Log));
    match missing {
        Some(Behind { bytes: 0, .. }) if by_log => format!("has every commit in the log that node {primary} left"),
        Some(Behind { bytes: 0, .. }) => "has all that was acknowledged".to_owned(),
        Some(Behind { bytes, objects: Some(commits), .. }) if by_log => format!(
            "lacks {} in the log that node {primary} left ({}): of those that waited for the mirror no client was told, of those with \
            a lower synchronous_commit each was",
            units::counted(commits, "commits"),
            units::bytes(Bytes(bytes))
        ),
        Some(behind) => {
            format!("lacks at least {} of what was acknowledged{}", units::bytes(Bytes(behind.bytes)), as_seen(seen))
        }
        None if by_log => format!(
            "may lack some of what was acknowledged: the log that node {primary} left cannot be read to its end{}",
            as_seen(seen)
        ),
        None => format!("may lack some of what was acknowledged{}", as_seen(seen)),
    }
}

/// When a primary that is lost was seen last.
fn as_seen(seen: &Seen) -> String {
    let at = seen.record.looked.map(|(at, _)| format!(", as seen last {}; what came since is not known", moment(at)));
    at.unwrap_or_default()
}

/// The same with what the list holds now, as it is told below.
fn listed(seen: &Seen, behind: Behind) -> Behind {
    Behind { bytes: seen.list.map_or(behind.bytes, |list| list.bytes), ..behind }
}

fn lacks(seen: &Seen, behind: Behind) -> String {
    let (bytes, mirror) = (units::bytes(Bytes(behind.bytes)), seen.record.life.mirror());
    let what = match behind.objects {
        _ if is(seen, Kind::Sets) => format!("{bytes} of changes"),
        _ if !by_rows(seen) => format!("{bytes} of log"),
        Some(tables @ 1..) => format!("rows of {}, noted in {bytes}", units::counted(tables, "tables")),
        _ => "nothing that is known".to_owned(),
    };
    format!("since {} node {mirror} lacks {what}", moment(behind.since))
}

/// A moment as text, in UTC.
fn moment(since: Nanos) -> String {
    jiff::Timestamp::from_nanosecond(since.0.into())
        .map(|stamp| stamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}

/// Of a pair that differs so many tables are named to a person.
const NAMED: usize = 8;

/// Whether the last comparison found that both nodes differ, though the mirror was to hold all.
fn differ(seen: &Seen) -> bool {
    seen.record.checked.as_ref().is_some_and(|checked| checked.in_step && !checked.differ.is_empty())
}

/// What the last comparison found, and what differed.
fn checked(checked: &Checked) -> String {
    let found = count(checked.tables, checked.differ.len() as u64);
    let then = if checked.in_step { "" } else { ", while the pair did not replicate" };
    let mut lines = vec![format!("last check, {}{then}: {found}", moment(checked.at))];
    lines.extend(checked.differ.iter().take(NAMED).map(mirror::differs));
    let more = checked.differ.len().saturating_sub(NAMED);
    lines
        .extend((more > 0).then(|| format!("and {}: `--json` names them", units::counted(more as u64, "more tables"))));
    lines.join("\n") + "\n"
}

fn count(tables: u64, differ: u64) -> String {
    match (tables, differ) {
        (0, _) => "there are no tables to compare".to_owned(),
        (all, 0) => format!("both nodes hold the same rows in {}", units::counted(all, "tables")),
        (all, 1) => format!("1 of {} differs", units::counted(all, "tables")),
        (all, differ) => format!("{differ} of {} differ", units::counted(all, "tables")),
    }
}

/// The next step, where there is one to take; with the folder of the pair where commands would mean another one.
fn next(pair: &Pair<Servers>, seen: &Seen, is_last: bool) -> Option<String> {
    let folder = units::for_shell(pair.home().folder().display());
    step(seen).map(|step| match step.matches("prony pair").count() {
        1 if !is_last => format!("{step} --dir {folder}"),
        2.. if !is_last => format!("{step}, each with --dir {folder}"),
        _ => step,
    })
}

fn step(seen: &Seen) -> Option<String> {
    if seen.busy {
        return Some("wait: another command works on the pair".to_owned());
    }
    if !seen.record.made {
        return Some(format!("{}, which makes its nodes anew, or prony pair down --remove", up(seen)));
    }
    if seen.record.down {
        return Some(up(seen));
    }
    if seen.split.is_some() {
        return Some("prony pair resume --discard-mirror".to_owned());
    }
    let life = &seen.record.life;
    let away = Node::ALL.into_iter().any(|node| !seen.nodes[node as usize].answers);
    match life.state() {
        State::Replicating if differ(seen) => Some(
            "prony pair suspend, then prony pair resume, which compares again; a second resume copies everything"
                .to_owned(),
        ),
        State::Replicating => None,
        State::Unserved(_) if !seen.nodes[life.mirror() as usize].answers => Some(up(seen)),
        State::Unserved(_) => Some(format!("prony pair take-over, or start the primary again with {}", up(seen))),
        _ if away => Some(up(seen)),
        _ if !life.linked => Some("prony pair heal".to_owned()),
        _ => Some("prony pair resume".to_owned()),
    }
}

fn up(seen: &Seen) -> String {
    format!("prony pair up {}", seen.record.kind)
}

/// Where the list of what the mirror lacks lives, and what happens when it is full.
fn list_place(pair: &Pair<Servers>, seen: &Seen) -> (String, &'static str) {
    let life = &seen.record.life;
    let full = "the pair is suspended for good, and `prony pair resume` copies everything";
    if by_rows(seen) {
        return (format!("tables of node {} (prony_pair.changed, prony_pair.defined)", life.primary()), full);
    }
    if is(seen, Kind::Sets) {
        let cache = pair.nodes().folder(life.primary()).join("data/galera.cache");
        return (format!("the cache of node {} ({})", life.primary(), cache.display()), full);
    }
    let log = pair.nodes().folder(life.primary()).join("data/pg_wal");
    let place =
        format!("the log of node {} ({}), kept by the slot prony_{}", life.primary(), log.display(), life.mirror());
    (place, full)
}

/// Whether rows are mirrored, not a log.
fn by_rows(seen: &Seen) -> bool {
    is(seen, Kind::Rows)
}

fn is(seen: &Seen, kind: Kind) -> bool {
    seen.record.kind == kind.word()
}

/// Who decides when both nodes lose each other; none for pairs without a vote.
fn voter(pair: &Pair<Servers>, seen: &Seen) -> Option<String> {
    let garbd = || match pair.nodes().voter_process() {
        Some(pid) => format!("garbd, process {pid}: whoever is left with it goes on"),
        None => format!("garbd, which does not run: {}", up(seen)),
    };
    is(seen, Kind::Sets).then(|| match seen.record.voter.as_str() {
        "garbd" => garbd(),
        "weight" => format!("node {} has two votes", seen.record.life.primary()),
        _ => "none: whoever is left stands still until a command lets it go on".to_owned(),
    })
}

fn life_of(seen: &Seen) -> State {
    seen.record.life.state()
}

fn role(seen: &Seen, node: Node) -> &'static str {
    if node == seen.record.life.primary() { "primary" } else { "mirror" }
}

/// Who serves the pair, and on which node his clients read at this moment; none while the primary does not answer.
fn served(pair: &Pair<Servers>, seen: &Seen) -> Vec<(Server, Option<Node>)> {
    let record = &seen.record;
    let on = |server: &Server| {
        let fits = |node: &Node| mirror::is_in_step(record) && seen.nodes[*node as usize].answers;
        let primary = Some(record.life.primary()).filter(|node| seen.nodes[*node as usize].answers);
        server.reads_on.filter(fits).or(primary)
    };
    pair.home().served().into_iter().map(|server| (server.clone(), on(&server))).collect()
}

/// The page for a person.
pub(super) fn text(pair: &Pair<Servers>, seen: &Seen, is_last: bool) -> String {
    let record = &seen.record;
    let (word, says) = state(seen);
    let mut text = format!("{} in {}\n{word}: {says}\n", record.kind, pair.home().folder().display());
    text.extend(record.checked.as_ref().map(checked));
    if let Some(next) = next(pair, seen, is_last) {
        text.push_str(&format!("next: {next}\n"));
    }
    for node in Node::ALL {
        let it = &seen.nodes[node as usize];
        let does = match (it.answers, it.writes) {
            (false, _) => "does not answer",
            (true, true) => "takes writes",
            (true, false) => "read-only",
        };
        let lies = record.devices.as_ref().map(|all| format!(", on {}", all[node as usize])).unwrap_or_default();
        text.push_str(&format!("node {node}: {}, {does}{lies}: {}\n", role(seen, node), pair.nodes().url(node)));
    }
    text.push_str(&if by_rows(seen) {
        "commits: in two phases".to_owned()
    } else if is(seen, Kind::Sets) {
        "commits: once the other node has received the changes".to_owned()
    } else {
        format!("commits: synchronous_commit = {}", record.sync)
    });
    let waits =
        if record.waits { ", and they wait for the mirror" } else { ", and they do not wait for the mirror now" };
    text.push_str(if record.life.rule.waits || is(seen, Kind::Sets) { waits } else { "" });
    text.push_str(&match seen.waiting {
        0 => "\n".to_owned(),
        count => format!("; {} at this moment\n", units::counted(count, "wait")),
    });
    text.extend(seen.lowered.iter().map(|who| format!("not waited for: commits of {who}\n")));
    text.extend(voter(pair, seen).map(|voter| format!("voter: {voter}\n")));
    text.extend(served(pair, seen).iter().map(|(server, on)| {
        let (Server { process, address, reads_on }, primary) = (server, record.life.primary());
        let says = |does: String| format!("served at {address} by process {process}: {does}\n");
        let Some(on) = on else {
            return says(format!("no reads and no writes, since node {primary}, the primary, does not answer"));
        };
        let why = match reads_on {
            Some(node) if *node != *on && seen.nodes[*node as usize].answers => {
                format!(", because node {node} is not in step")
            }
            Some(node) if *node != *on => format!(", because node {node} does not answer"),
            _ => String::new(),
        };
        let first = if mirror::is_in_step(record) { " first" } else { "" };
        says(format!("reads on node {on}{why}, writes on node {primary}{first}"))
    }));
    let (place, full) = list_place(pair, seen);
    let limit = units::bytes(Bytes(record.list_bytes));
    let holds =
        seen.list.map_or_else(|| "up to ".to_owned(), |list| format!("{} of ", units::bytes(Bytes(list.bytes))));
    text.push_str(&format!("list of what the mirror lacks: {holds}{limit}, in {place}\n"));
    text.push_str(&format!("when the list is full, {full}\n"));
    for (table, rows) in record
        .lacks
        .iter()
        .filter(|_| matches!(life_of(seen), State::Tracking(..) | State::Resynchronising(_) | State::Unserved(_)))
    {
        let least = if matches!(life_of(seen), State::Unserved(_)) { "at least " } else { "" };
        text.push_str(&format!("lacking: {least}{} of {table}\n", units::counted(*rows, "rows")));
    }
    for (pattern, reason) in &record.left_out {
        text.push_str(&format!("left out: {pattern}, because {reason}\n"));
    }
    for (table, reason, rows) in &record.alone {
        let rows = if *rows { "; its rows are on the primary alone" } else { "" };
        text.push_str(&format!("left out: {table}: {reason}{rows}\n"));
    }
    text.push_str(&format!("{}\n", host(pair, seen)));
    text
}

/// How far the nodes are apart as machines.
fn host(pair: &Pair<Servers>, seen: &Seen) -> String {
    let cores = Node::ALL.map(|node| pair.nodes().cores(node));
    let disk = if seen.record.devices.is_some() { "" } else { "disk and " };
    let shared = match cores {
        [Some(a), Some(b)] => format!("node a has {a} cores, node b {b}; both share its {disk}memory"),
        _ if disk.is_empty() => "both nodes share its cores and memory, which counts in every overhead".to_owned(),
        _ => "both nodes share its cores, disk and memory, which counts in every overhead".to_owned(),
    };
    match pair.nodes().parted() {
        Ok(()) => format!("one host, where each node has a network of its own: {shared}"),
        // Of one that does not run there is nothing to tell.
        Err(Shared::Ended) => format!("shared host: {shared}"),
        Err(why) => format!("shared-host overhead: {shared}; they share its network, too: {why}"),
    }
}

/// Patterns that are left out, and the tables that are.
fn left_out(seen: &Seen) -> Vec<Value> {
    let patterns = seen.record.left_out.iter().map(|(pattern, reason)| json!({ "pattern": pattern, "reason": reason }));
    let alone = seen.record.alone.iter();
    let tables = alone.map(|(table, reason, rows)| json!({ "table": table, "reason": reason, "has_rows": rows }));
    patterns.chain(tables).collect()
}

/// The same as fields.
pub(super) fn json(pair: &Pair<Servers>, seen: &Seen, is_last: bool) -> Value {
    let record = &seen.record;
    let (word, says) = state(seen);
    let (reason, behind) = match record.life.state() {
        State::Tracking(reason, behind) => (Some(reason), Some(listed(seen, behind))),
        State::CopyNeeded(reason) => (Some(reason), None),
        State::Resynchronising(behind) => (None, Some(listed(seen, behind))),
        State::Unserved(behind) => (None, behind),
        _ => (None, None),
    };
    let node = |node: Node| {
        let it = &seen.nodes[node as usize];
        json!({
            "role": role(seen, node),
            "answers": it.answers,
            "writes": it.writes,
            "url": pair.nodes().url(node),
            "folder": pair.nodes().folder(node),
            "pid": pair.nodes().process(node),
            "cores": pair.nodes().cores(node),
            "device": record.devices.as_ref().map(|all| &all[node as usize]),
            "namespace": pair.nodes().network(node),
        })
    };
    let (place, full) = list_place(pair, seen);
    json!({
        "schema": "prony/pair-status/1",
        "kind": record.kind,
        "dir": pair.home().folder(),
        "state": word,
        "says": says,
        "reason": reason.map(|reason| reason.to_string()),
        "since": behind.map(|behind| moment(behind.since)),
        "behind_bytes": behind.map(|behind| behind.bytes),
        "seen_last": record.looked.map(|(at, _)| moment(at)),
        "not_waited_for": seen.lowered,
        "behind_objects": behind.and_then(|behind| behind.objects),
        "time_left_s": seen.time_left.map(Nanos::seconds),
        "busy": seen.busy,
        "next": next(pair, seen, is_last),
        "sync": record.sync,
        "waits": record.waits,
        "voter": is(seen, Kind::Sets).then_some(&record.voter),
        "voter_pid": pair.nodes().voter_process(),
        "waiting_commits": seen.waiting,
        "primary": record.life.primary().to_string(),
        "nodes": { "a": node(Node::A), "b": node(Node::B) },
        "link": { "carries": record.life.linked, "via": record.via },
        "list": {
            "place": place,
            "bytes": seen.list.map(|list| list.bytes),
            "left_bytes": seen.list.map(|list| list.left),
            "limit_bytes": record.list_bytes,
            "when_full": full,
        },
        "left_out": left_out(seen),
        "added": record.added,
        "lacks": record.lacks.iter().map(|(table, rows)| json!({ "table": table, "rows": rows })).collect::<Vec<_>>(),
        "sent": { "rows": record.sent.0, "bytes": record.sent.1 },
        "served": served(pair, seen).iter().map(|(server, on)| json!({
            "process": server.process,
            "address": server.address,
            "asked": server.reads_on.map(|node| node.to_string()),
            "reads_on": on.map(|node| node.to_string()),
        })).collect::<Vec<_>>(),
        "host": host(pair, seen),
        "checked": record.checked.as_ref().map(|checked| json!({
            "at": moment(checked.at),
            "in_step": checked.in_step,
            "tables": checked.tables,
            "equal": checked.differ.is_empty(),
            "differ": checked.differ.iter().map(|one| json!({
                "database": one.database, "table": one.table, "a": one.rows[0], "b": one.rows[1],
            })).collect::<Vec<_>>(),
        })),
        "networks_shared": pair.nodes().parted().err().map(|why| why.to_string()),
    })
}

fn behind_note(state: State) -> Option<&'static str> {
    (state != State::Replicating).then_some("the pair does not replicate now, so that its nodes may differ")
}

/// What was compared, table by table.
pub(super) fn check_text(compared: &Compared, state: State) -> String {
    let mut lines: Vec<String> = compared.tables.iter().map(mirror::Table::says).collect();
    lines.extend(compared.left_out.iter().map(|left| {
        let how = if left.shared { "NOT MIRRORED" } else { "left out" };
        format!("{how}  {}: {}: {}", left.database, left.name, left.why)
    }));
    let differ = compared.tables.iter().filter(|table| !table.equal()).count() as u64;
    lines.push(count(compared.tables.len() as u64, differ));
    lines.extend(behind_note(state).map(str::to_owned));
    lines.join("\n") + "\n"
}

/// The same as fields.
pub(super) fn check_json(compared: &Compared, state: State) -> Value {
    let table = |table: &mirror::Table| {
        let held = |node: Node| {
            let held = table.held[node as usize].as_ref();
            held.map(|(rows, hash)| json!({ "rows": rows, "hash": hash }))
        };
        json!({
            "database": table.database,
            "table": table.name,
            "equal": table.equal(),
            "a": held(Node::A),
            "b": held(Node::B),
        })
    };
    let left = |left: &mirror::Left| json!({ "database": left.database, "table": left.name, "why": left.why, "shared": left.shared });
    json!({
        "schema": "prony/pair-check/1",
        "equal": compared.equal(),
        "note": behind_note(state),
        "tables": compared.tables.iter().map(table).collect::<Vec<_>>(),
        "left_out": compared.left_out.iter().map(left).collect::<Vec<_>>(),
    })
}
