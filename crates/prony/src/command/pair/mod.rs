//! `prony pair`: mirrored pairs, brought up, disturbed, mended and looked at.
//!
//! The one idea: every command but `down` ends with what the pair does now, in the words and fields of `status`.

mod devices;
mod serve;
mod told;
mod wires;

use crate::args::{Pair as Asked, PairDown, PairPlace, PairUp};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::{cache, output, run};
use database::DatabaseError;
use mirror::{Home, Kind, MirrorError, Nodes as _, Pair, Seen, Servers};
use pair::{Refusal, State};
use recorder::{Clock as _, WallClock};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Voter, Waits};

/// How far commits come, unless somebody says otherwise.
const SYNC: Waits = Waits::Flushed;

/// Every word for that.
const SYNCS: [Waits; 5] = [Waits::Nothing, Waits::Local, Waits::Written, Waits::Flushed, Waits::Applied];

/// Room for what the mirror lacks, unless somebody says otherwise.
const LIST_BYTES: u64 = 4 << 30;

/// The same of a pair that Galera joins: each node makes a file of this size.
const CACHE_BYTES: u64 = 128 << 20;

/// Carries out one of the commands.
pub fn run(asked: &Asked) -> Result<Outcome, Failure> {
    match asked {
        Asked::Up(asked) => up(asked),
        Asked::Status(place) => status(place),
        Asked::Suspend(place) => change(place, "suspending the pair", Pair::suspend),
        Asked::Resume(asked) => change(&asked.place, "resuming the pair", |pair| {
            pair.in_parallel(asked.parallel.into());
            pair.resume(asked.discard_mirror)
        }),
        Asked::Serve(asked) => serve::run(asked),
        Asked::Add(asked) => change(&asked.place, "mirroring a table again", |pair| pair.add(&asked.table)),
        Asked::Swap(asked) => {
            change(&asked.place, "swapping the roles of the pair", |pair| pair.swap(asked.accept_missing))
        }
        Asked::TakeOver(asked) => change(&asked.place, "taking over from the primary", |pair| {
            pair.take_over(asked.accept_missing).inspect_err(|error| says_who_holds_the_log(pair, error))
        }),
        Asked::Cut(place) => wired(place, "cutting the link of the pair", "cut", Pair::cut),
        Asked::Heal(place) => wired(place, "healing the link of the pair", "heal", Pair::heal),
        Asked::Check(place) => check(place),
        Asked::Down(asked) => down(asked),
    }
}

fn failed(doing: &str) -> impl Fn(MirrorError) -> Failure {
    move |error| {
        let hint = error.hint();
        Failure::caused(doing, &error).hints(hint)
    }
}

fn up(asked: &PairUp) -> Result<Outcome, Failure> {
    const DOING: &str = "bringing the pair up";
    let folder = named(asked.place.dir.as_deref())?;
    let kind = given_kind(asked, &folder)?;
    let voter = given_voter(asked)?;
    let stop = run::listen()?;
    let (sync, list, cores) = (given_sync(asked)?, given_list(asked)?, given_cores(asked)?);
    let via = asked.via.as_deref().map(std::path::absolute).transpose();
    let mut via =
        via.map_err(|error| Failure::caused("reading --via", &error))?.map(|folder| folder.display().to_string());
    if let Some(folder) = via
        .as_deref()
        .filter(|folder| !["a", "b"].iter().all(|node| Path::new(folder).join(node).symlink_metadata().is_ok()))
    {
        return Err(Failure::new(format!(
            "{DOING}: a folder with the folders `a` and `b`, in which the sockets to the nodes lie, got `{folder}`"
        ))
        .hint("see `prony pair up --help` on --via; `--link plain` puts relays there by itself"));
    }
    let wire = asked.link.as_deref().map(wires::words).transpose()?;
    let device = asked.device.as_deref().map(devices::given).transpose()?;
    let clock = WallClock::new();
    let home = Home::make(&folder).map_err(failed(DOING))?;
    let _held = home.hold().map_err(failed(DOING))?;
    // What is not said stays as it is.
    let there = home.record().map_err(failed(DOING))?;
    via = via.or_else(|| wire.is_some().then(|| wires::folder(&home)));
    let kept = there.as_ref();
    let left_out = given_left_out(asked, kept);
    let sync = sync.or_else(|| SYNCS.into_iter().find(|sync| kept.is_some_and(|kept| kept.sync == sync.word())));
    let kept_voter = Voter::ALL.iter().copied().find(|voter| kept.is_some_and(|kept| kept.voter == voter.word()));
    let room = if kind == Kind::Sets { CACHE_BYTES } else { LIST_BYTES };
    let wanted = mirror::Asked {
        sync: sync.unwrap_or(SYNC),
        list_bytes: list.or(kept.map(|kept| kept.list_bytes)).unwrap_or(room),
        cores: cores.or(kept.and_then(|kept| kept.cores)),
        via: via.or_else(|| kept.and_then(|kept| kept.via.clone())),
        kind,
        voter: voter.or(kept_voter).unwrap_or_default(),
        left_out,
        devices: device.clone().or_else(|| kept.and_then(|kept| kept.devices.clone())),
    };
    if let Some((kept, wanted)) = kept.zip(device).filter(|(kept, wanted)| kept.devices.as_ref() != Some(wanted)) {
        let lies = kept.devices.as_ref().map_or_else(|| "its own folder".to_owned(), |all| all.join(","));
        return Err(Failure::new(format!(
            "{DOING}: its nodes lie where they were made, {lies}, got --device {}",
            wanted.join(",")
        ))
        .hint("take it down with `prony pair down --remove`, and bring it up anew"));
    }
    know(&home, true)?;
    devices::start(&home, wanted.devices.as_ref())?;
    if wanted.via.as_deref() == Some(&wires::folder(&home)) {
        wires::start(&home, wire.as_deref())?;
    }
    let servers = servers(&home, kind, (wanted.cores, wanted.devices.as_ref()), &stop).map_err(failed(DOING))?;
    let mut pair = Pair::up(home, servers, &wanted).map_err(failed(DOING))?;
    output::note_line(&format!("it took {}", units::duration(clock.now())));
    tell(&mut pair, asked.place.json, DOING, false)
}

/// The kind that was asked for, or that of the pair in the folder, with what has a meaning for it.
fn given_kind(asked: &PairUp, folder: &Path) -> Result<Kind, Failure> {
    const DOING: &str = "bringing the pair up";
    let there = || Home::find(folder).ok()?.record().transpose();
    let kept = if asked.kind.is_none() { there().transpose().map_err(failed(DOING))? } else { None };
    let word = asked.kind.clone().or(kept.map(|kept| kept.kind));
    let Some(kind) = Kind::ALL.into_iter().find(|kind| word.as_deref() == Some(kind.word())) else {
        let kinds = Kind::ALL.map(|kind| format!("`{}`", kind.word())).join(", ");
        let got = word
            .map_or_else(|| format!("none, and no pair in `{}` says it", folder.display()), |word| format!("`{word}`"));
        return Err(Failure::new(format!("{DOING}: a kind of pair, got {got}")).hint(format!("say one of {kinds}")));
    };
    let (log, rows, sets, postgres) = ([Kind::Log], [Kind::Rows], [Kind::Sets], [Kind::Log, Kind::Rows]);
    let options: [(&str, bool, &[Kind]); 6] = [
        ("--sync", asked.sync.is_some(), &log),
        ("--link", asked.link.is_some(), &log),
        ("--via", asked.via.is_some(), &log),
        ("--leave-out", !asked.leave_out.is_empty(), &rows),
        ("--voter", asked.voter.is_some(), &sets),
        ("--device", asked.device.is_some(), &postgres),
    ];
    let stray = options.iter().find(|(_, given, kinds)| *given && !kinds.contains(&kind));
    let Some((option, ..)) = stray else { return Ok(kind) };
    let (why, next) = match (kind, *option) {
        (Kind::Log, "--leave-out") => (
            "it mirrors the log of the whole cluster, with all tables in it",
            "make a two-phase-pair, or leave tables out of a trial: `prony run --set mirror=on --set mirror_by=publication --set leave_out=..`",
        ),
        (Kind::Rows, "--sync" | "--link" | "--via") => {
            ("its nodes do not speak to one another", "leave it out; `prony pair serve` speaks to both")
        }
        (Kind::Sets, "--sync") => {
            ("its commits have one rung: the other node has received what they change", "leave it out")
        }
        (Kind::Sets, "--link" | "--via") => (
            "either node dials the other's own address",
            "leave it out; `prony pair cut` and `heal` part its nodes, and `prony run --set distance=..` measures a wire",
        ),
        (Kind::Sets, "--device") => {
            ("its nodes copy themselves into each other's folders", "leave it out, or make one of the other kinds")
        }
        (Kind::Sets, _) => ("it mirrors all tables of InnoDB", "make a two-phase-pair, which mirrors rows of tables"),
        _ => ("whoever is left takes over when it is told to", "leave it out; a galera-pair has a vote"),
    };
    Err(Failure::new(format!("{DOING}: a {} has no {option}: {why}", kind.word())).hint(next))
}

fn given_voter(asked: &PairUp) -> Result<Option<Voter>, Failure> {
    let Some(word) = &asked.voter else { return Ok(None) };
    let refused = || {
        let words = Voter::ALL.iter().map(|voter| voter.word()).collect::<Vec<_>>().join(", ");
        Failure::new(format!("reading --voter: one of {words}, got `{word}`"))
    };
    Voter::of_word(word).ok_or_else(refused).map(Some)
}

/// What is left out from now on; what was before stays so.
fn given_left_out(asked: &PairUp, kept: Option<&store::PairRecord>) -> Vec<(String, String)> {
    let mut left_out = kept.map(|kept| kept.left_out.clone()).unwrap_or_default();
    for said in &asked.leave_out {
        let (pattern, reason) = said.split_once('=').unwrap_or((said, "it was asked for"));
        left_out.retain(|(there, _)| there != pattern);
        left_out.push((pattern.to_owned(), reason.to_owned()));
    }
    left_out
}

fn given_sync(asked: &PairUp) -> Result<Option<Waits>, Failure> {
    let Some(word) = &asked.sync else { return Ok(None) };
    let known = SYNCS.into_iter().find(|sync| sync.word() == word);
    let refused = || {
        let words = SYNCS.map(Waits::word).join(", ");
        Failure::new(format!("reading --sync: one of {words}, got `{word}`"))
    };
    known.ok_or_else(refused).map(Some)
}

/// At least the two segments that a server of this size of log cannot do without.
fn given_list(asked: &PairUp) -> Result<Option<u64>, Failure> {
    const LEAST: u64 = 32 << 20;
    let Some(text) = &asked.list else { return Ok(None) };
    let bytes = units::parse_bytes(text)
        .map_err(|error| Failure::new(format!("reading --list: {error}")).hint("give a size, such as `4GiB`"))?;
    if bytes.0 < LEAST {
        let least = units::bytes(units::Bytes(LEAST));
        return Err(Failure::new(format!("reading --list: at least {least}, got {}", units::bytes(bytes))));
    }
    Ok(Some(bytes.0))
}

fn given_cores(asked: &PairUp) -> Result<Option<[f64; 2]>, Failure> {
    let Some(text) = &asked.cores else { return Ok(None) };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|cores| (0.05..=4096.0).contains(cores));
    let both = text.split_once(',').and_then(|(a, b)| Some([number(a)?, number(b)?]));
    let refused = || {
        Failure::new(format!("reading --cores: two numbers of at least 0.05, got `{text}`"))
            .hint("give the cores of node a and of node b: `--cores 0.5,1`")
    };
    both.ok_or_else(refused).map(Some)
}

/// The folder that was named, or that of the pair that was brought up last.
fn named(dir: Option<&Path>) -> Result<PathBuf, Failure> {
    // One whose folder somebody took away is forgotten.
    let last = || store::known_pairs(&cache::folder()).into_iter().rev().find(|folder| Home::find(folder).is_ok());
    dir.map(Path::to_owned).or_else(last).ok_or_else(|| {
        Failure::new("finding the pair: none is known; none was brought up, or the last one was removed")
            .hint("name its folder with --dir, or bring one up: prony pair up postgres-pair --dir DIR")
    })
}

fn know(home: &Home, there: bool) -> Result<(), Failure> {
    let cache = cache::folder();
    store::know_pair(&cache, home.folder(), there)
        .map_err(|error| Failure::caused(format!("writing the list of pairs in `{}`", cache.display()), &error))
}

fn servers(
    home: &Home,
    kind: Kind,
    (cores, devices): (Option<[f64; 2]>, Option<&[String; 2]>),
    stop: &Arc<AtomicBool>,
) -> Result<Servers, MirrorError> {
    Servers::of(home, kind, (cores, devices::places(home, devices)), stop, output::note_line)
}

/// What keeps the nodes of a pair equal that was begun.
fn kind(home: &Home) -> Result<Kind, MirrorError> {
    let word = home.record()?.map(|record| record.kind);
    Ok(Kind::ALL.into_iter().find(|kind| word.as_deref() == Some(kind.word())).unwrap_or_default())
}

fn opened(home: Home, stop: &Arc<AtomicBool>) -> Result<Pair<Servers>, MirrorError> {
    let (cores, devices) = home.record()?.map(|record| (record.cores, record.devices)).unwrap_or_default();
    let servers = servers(&home, kind(&home)?, (cores, devices.as_ref()), stop)?;
    Pair::open(home, servers)
}

/// Says what the pair does now.
fn tell(pair: &mut Pair<Servers>, json: bool, doing: &str, busy: bool) -> Result<Outcome, Failure> {
    let seen = Seen { busy, ..pair.seen().map_err(failed(doing))? };
    if pair.nodes().is_stopped() {
        // Nobody waited for what is missing in it.
        return Err(failed(doing)(DatabaseError::Stopped.into()));
    }
    // Without a folder commands mean the pair that was brought up last.
    let is_last = named(None).is_ok_and(|last| last == pair.home().folder());
    output::answer(json, || told::json(pair, &seen, is_last), || told::text(pair, &seen, is_last))?;
    Ok(Outcome::Fine)
}

fn status(place: &PairPlace) -> Result<Outcome, Failure> {
    const DOING: &str = "looking at the pair";
    let stop = run::listen()?;
    let home = Home::find(&named(place.dir.as_deref())?).map_err(failed(DOING))?;
    let held = home.hold();
    let mut pair = opened(home, &stop).map_err(failed(DOING))?;
    match &held {
        // Whoever works on it does what is to be done.
        Err(MirrorError::Busy(_)) => {}
        held => {
            held.as_ref().map_err(|error| Failure::caused(DOING, error))?;
            if let Err(error) = pair.look()
                && !matches!(error, MirrorError::Down(..) | MirrorError::HalfMade(..))
            {
                output::note_line(&format!("not all that follows from what was seen could be done: {error}"));
            }
        }
    }
    tell(&mut pair, place.json, DOING, held.is_err())
}

fn change(
    place: &PairPlace,
    doing: &str,
    work: impl FnOnce(&mut Pair<Servers>) -> Result<(), MirrorError>,
) -> Result<Outcome, Failure> {
    let stop = run::listen()?;
    let home = Home::find(&named(place.dir.as_deref())?).map_err(failed(doing))?;
    let _held = home.hold().map_err(failed(doing))?;
    let mut pair = opened(home, &stop).map_err(failed(doing))?;
    work(&mut pair).map_err(failed(doing))?;
    let told = tell(&mut pair, place.json, doing, false)?;
    // What was to make both equal, and did not.
    Ok(if pair.life().state() == State::Diverged { Outcome::Failed } else { told })
}

/// Why nobody knows what the mirror lacks, where the log that says it may still be written.
fn says_who_holds_the_log(pair: &Pair<Servers>, error: &MirrorError) {
    let primary = pair.life().primary();
    if let MirrorError::Refused(Refusal::MayBeMissing) = error
        && let Some(process) = pair.nodes().process(primary)
    {
        output::note_line(&format!(
            "node {primary} does not answer, and its process {process} is still there, so that its log cannot be read: end it with \
             `kill -9 {process}`, and take over again"
        ));
    }
}

/// The same once the wires between both nodes have done it, where there are any.
fn wired(
    place: &PairPlace,
    doing: &str,
    order: &str,
    work: impl FnOnce(&mut Pair<Servers>) -> Result<(), MirrorError>,
) -> Result<Outcome, Failure> {
    wires::order(&Home::find(&named(place.dir.as_deref())?).map_err(failed(doing))?, order)?;
    change(place, doing, work)
}

fn check(place: &PairPlace) -> Result<Outcome, Failure> {
    const DOING: &str = "comparing both nodes of the pair";
    let stop = run::listen()?;
    let home = Home::find(&named(place.dir.as_deref())?).map_err(failed(DOING))?;
    let _held = home.hold().map_err(failed(DOING))?;
    let mut pair = opened(home, &stop).map_err(failed(DOING))?;
    let compared = pair.check().map_err(failed(DOING))?;
    let state = pair.life().state();
    output::answer(place.json, || told::check_json(&compared, state), || told::check_text(&compared, state))?;
    Ok(if compared.equal() { Outcome::Fine } else { Outcome::Failed })
}

/// The servers of a pair, which are ended, and whether they ran. Without a record nobody knows of which kind they are, or whether there are
/// any.
fn ended(
    home: &Home,
    recorded: bool,
    lies: Option<&[String; 2]>,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<(Servers, bool)>, MirrorError> {
    let kinds = if recorded { vec![kind(home)?] } else { vec![Kind::Log, Kind::Sets] };
    let mut all = Vec::new();
    for kind in kinds {
        let made = || servers(home, kind, (None, lies), stop);
        let mut servers = match made() {
            // An engine that is not installed has none.
            Err(_) if !recorded => continue,
            servers => servers?,
        };
        let was_up = pair::Node::ALL.iter().any(|node| servers.process(*node).is_some());
        if recorded {
            let mut pair = Pair::open(home.clone(), servers)?;
            pair.down()?;
            pair.nodes().released();
            servers = made()?;
        } else {
            servers.voter(None)?;
            pair::Node::ALL.iter().try_for_each(|node| servers.end(*node))?;
        }
        all.push((servers, was_up));
    }
    Ok(all)
}

fn down(asked: &PairDown) -> Result<Outcome, Failure> {
    const DOING: &str = "taking the pair down";
    let stop = run::listen()?;
    let home = Home::find(&named(asked.dir.as_deref())?).map_err(failed(DOING))?;
    let _held = home.hold().map_err(failed(DOING))?;
    let record = match home.record() {
        // What cannot be read can be removed all the same.
        Err(error) if asked.remove => {
            output::note_line(&error.to_string());
            None
        }
        record => record.map_err(failed(DOING))?,
    };
    let lies = record.as_ref().and_then(|record| record.devices.clone());
    let all = ended(&home, record.is_some(), lies.as_ref(), &stop).map_err(failed(DOING))?;
    let was_up = all.iter().any(|(_, was_up)| *was_up);
    wires::order(&home, "end")?;
    devices::end(&home)?;
    let folder = home.folder().display().to_string();
    if asked.remove {
        know(&home, false)?;
        all.iter().try_for_each(|(servers, _)| servers.removed()).map_err(failed(DOING))?;
        home.remove().map_err(failed(DOING))?;
    }
    let words = match (was_up, asked.remove) {
        (true, true) => "stopped and removed",
        (true, false) => "stopped; its data stay in",
        (false, true) => "removed",
        (false, false) => "was down already; its data stay in",
    };
    let left = asked.remove && Path::new(&folder).exists();
    let left = if left { ", which holds something else and stays" } else { "" };
    let what = if left.is_empty() { "" } else { " what is the pair's in" };
    output::print(&format!("{words}{what} {folder}{left}\n"))?;
    Ok(Outcome::Fine)
}
