//! `prony emulate MODEL`: a device that is not there, for as long as this command runs.
//!
//! The one idea: the mount lives as long as the process. Ctrl-C unmounts; a program that still holds a file there keeps it until it has
//! let go, and a second Ctrl-C takes the mount away from under it.

mod heat;
mod way;

use crate::args::Emulate;
use crate::failure::Failure;
use crate::run::stop;
use crate::{model_file, output};
use emulate::{Mounted, Settings, Spared, Tiering};
use model::file::Description;
use reading::listed;
use rustix::process::Pid;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use workload::happening::{Fault, Happening, NoHappening};

/// How often it looks whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// So many looks it waits for programs that use a device whose run is gone.
const FORSAKEN: u32 = 100;

/// Serves a device, or hands a fault to a device that is served.
pub fn run(asked: &Emulate) -> Result<(), Failure> {
    if let Some(fault) = &asked.fault {
        return inflict(&asked.at, fault);
    }
    if asked.heat {
        return heat::print(asked);
    }
    if asked.measure_way {
        return way::say(&asked.at);
    }
    let told = stop::listen_on()?;
    let parent = asked.with_parent.map(Parent::follow).transpose()?;
    let settings = settings(asked)?;
    let mounted = Mounted::mount(&settings, way::by_another).map_err(|error| refused(asked, &error))?;
    let way = mounted.way.map_or_else(
        || "no model takes time, so each folder takes that of its own disk".to_owned(),
        |way| format!("a request takes {} on its way there and back, which is part of its time", units::duration(way)),
    );
    output::note_line(&format!(
        "{} at {}, on {}; {way}",
        asked.model.as_deref().unwrap_or_default(),
        asked.at.display(),
        settings
            .tier
            .iter()
            .map(|(_, tiering)| &tiering.fast)
            .chain([&settings.backing])
            .map(|folder| folder.display().to_string())
            .collect::<Vec<_>>()
            .join(" and ")
    ));
    if mounted.beyond_room.0 > 0 {
        output::note_line(&format!(
            "{} lie on the fast tier beyond `--room {}`, from an earlier mount; the mover brings them back to the slow one",
            units::bytes(mounted.beyond_room),
            asked.room
        ));
    }
    let ended = serve(mounted, &told, parent.as_ref(), &asked.at);
    if parent.is_some_and(|parent| parent.is_gone()) {
        emulate::Home::forsaken(&asked.at);
    }
    ended
}

/// Serves until it is told to end and nothing holds a file there any more, or until it is told once more.
fn serve(mut mounted: Mounted, told: &AtomicBool, parent: Option<&Parent>, at: &Path) -> Result<(), Failure> {
    let gone = || parent.is_some_and(Parent::is_gone);
    while mounted.serves() && !told.swap(false, Ordering::Relaxed) && !gone() {
        sleep(LOOK);
    }
    let Err(error) = mounted.unmount() else { return Ok(()) };
    let at = at.display();
    output::note_line(&format!("`{at}` is still mounted: {error}; end what uses it, or press Ctrl-C again"));
    let mut left = FORSAKEN;
    while !told.swap(false, Ordering::Relaxed) && left > 0 {
        sleep(LOOK);
        // Nobody can tell it once more when who started it is gone.
        left -= u32::from(gone());
        if mounted.unmount().is_ok() {
            return Ok(());
        }
    }
    mounted
        .detach()
        .map_err(|error| Failure::caused(format!("unmounting `{at}`"), &error).hint("`umount --lazy` takes it away"))
}

/// The process that started this one, and with which it ends.
struct Parent(Pid);

impl Parent {
    fn follow(parent: i32) -> Result<Parent, Failure> {
        let parent = Pid::from_raw(parent).ok_or_else(|| Failure::new("no process has the number 0"))?;
        Ok(Parent(parent))
    }

    /// Looked at again and again: a signal at its death would come with the end of the thread that started us, and not at all when it ended
    /// before it was asked for.
    fn is_gone(&self) -> bool {
        rustix::process::getppid() != Some(self.0) || is_dead(self.0)
    }
}

/// Whether a process was killed and stays, because one of its threads waits for a device that does not answer: perhaps for this one.
fn is_dead(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name stands in parentheses and may hold anything; the state follows it (proc_pid_stat(5)).
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn settings(asked: &Emulate) -> Result<Settings, Failure> {
    let word = asked.model.as_deref().unwrap_or_default();
    if asked.modules == 0 {
        return Err(Failure::new(format!("emulating `{word}`: `--modules` of at least 1, got 0")));
    }
    let memory = size("memory", &asked.memory)?;
    let (model, backing, tier) = match (&asked.fast, &asked.slow) {
        (Some(fast), Some(slow)) if word == "tiered" => {
            let ((above, fast), (below, slow)) = (tier(fast)?, tier(slow)?);
            (below, slow, Some((above, tiering(asked, fast)?)))
        }
        _ if word == "tiered" => {
            let given = [
                ("--fast", asked.fast.is_some()),
                ("--slow", asked.slow.is_some()),
                ("--backing", asked.backing.is_some()),
            ];
            let given =
                given.iter().filter(|(_, given)| *given).map(|(option, _)| *option).collect::<Vec<_>>().join(" and ");
            let got = if given.is_empty() { "none" } else { &given };
            return Err(Failure::new(format!("emulating `tiered`: two folders, --fast and --slow, got {got}"))
                .hint("say `prony emulate tiered --fast DIR --slow DIR --at MNT`; --backing is the one folder of another device"));
        }
        (None, None) => {
            let backing = asked.backing.clone().ok_or_else(|| {
                Failure::new(format!("emulating `{word}`: a folder that holds the files, got none"))
                    .hint("name it with --backing")
            })?;
            (model_file::device(word)?, backing, None)
        }
        _ => {
            return Err(Failure::new(format!("emulating `{word}`: `--fast` and `--slow` are for `tiered` alone"))
                .hint("say `prony emulate tiered --fast DIR --slow DIR --at MNT`, or name one folder with --backing"));
        }
    };
    let (past_cache, at) = (asked.no_page_cache, asked.at.clone());
    Ok(Settings { model, modules: asked.modules, memory, backing, at, past_cache, seed: 1, tier })
}

/// `DIR`, or `MODEL:DIR`.
fn tier(text: &str) -> Result<(Option<Description>, PathBuf), Failure> {
    match text.split_once(':').filter(|_| !Path::new(text).exists()) {
        Some((model, folder)) => Ok((model_file::device(model)?, folder.into())),
        None => Ok((None, text.into())),
    }
}

fn tiering(asked: &Emulate, fast: PathBuf) -> Result<Tiering, Failure> {
    let time = |name: &str, text: &str| {
        units::parse_duration(text).ok().filter(|time| *time >= units::Nanos::from_millis(10)).ok_or_else(|| {
            Failure::new(format!("reading `--{name}`: at least 10 ms, got `{text}`")).hint("give a time, such as `5s`")
        })
    };
    let rules = asked.rule.iter().map(|rule| rule.parse().map_err(|error| Failure::caused("reading `--rule`", &error)));
    if asked.hysteresis.is_nan() || asked.hysteresis < 1.0 {
        return Err(Failure::new(format!("reading `--hysteresis`: at least 1, got {}", asked.hysteresis)));
    }
    Ok(Tiering {
        fast,
        room: size("room", &asked.room)?,
        rules: rules.collect::<Result<_, _>>()?,
        every: time("every", &asked.every)?,
        budget: size("budget", &asked.budget)?,
        half_life: time("half-life", &asked.half_life)?,
        hysteresis: asked.hysteresis,
        trace: asked.trace.clone(),
    })
}

fn size(name: &str, text: &str) -> Result<units::Bytes, Failure> {
    let failed = |error| Failure::new(format!("reading `--{name}`: {error}")).hint("give a size, such as `16MiB`");
    units::parse_bytes(text).map_err(failed)
}

fn refused(asked: &Emulate, error: &emulate::MountError) -> Failure {
    let doing = format!("emulating `{}` at `{}`", asked.model.as_deref().unwrap_or_default(), asked.at.display());
    let hint = match error {
        emulate::MountError::Backing(..) if asked.slow.is_some() => {
            "name folders that are there with --fast and --slow"
        }
        emulate::MountError::Backing(..) => "name a folder that is there with --backing",
        emulate::MountError::ReadOnly(..) => "name a folder to which this user may write",
        emulate::MountError::Stacked(..) => "name a folder that lies on no emulated device",
        emulate::MountError::Room(..) => "give a size that a file there can have with --room",
        emulate::MountError::Small(..) => "give less with --room, or make room in the fast folder",
        emulate::MountError::Damaged(_) => "restore its files from a copy: the extents that it held are nowhere else",
        emulate::MountError::Trace(..) => "name a file in a folder that is there with --trace",
        emulate::MountError::Dead(at) => {
            return Failure::caused(doing, error).hint(format!(
                "take it away with `umount {0}` or `fusermount3 -u {0}`; where that says busy, `umount -f {0}`",
                at.display()
            ));
        }
        emulate::MountError::Taken(_) => "end the `prony emulate` that serves there, or name another folder with --at",
        emulate::MountError::Filled(_) => "name an empty folder with --at",
        emulate::MountError::Nested(..) => "name two folders of which none lies in the other",
        emulate::MountError::Fast(_) => "exchange --fast and --slow, or name the folder of the files with --slow",
        emulate::MountError::Shared(_) | emulate::MountError::Overlapping(..) => {
            "end the other `prony emulate`, or name another folder with --backing"
        }
        emulate::MountError::Mount(at, source) if source.kind() == std::io::ErrorKind::NotFound && !at.exists() => {
            return Failure::caused(doing, error).hint(format!("make the folder: mkdir {}", at.display()));
        }
        emulate::MountError::Mount(..) => {
            "it needs /dev/fuse, an empty folder at --at, and root or the program fusermount3 (package fuse3)"
        }
        emulate::MountError::Server(..) | emulate::MountError::Model(..) => {
            return Failure::caused(doing, error).hint(format!("models of storage: {}", model_file::storage()));
        }
        emulate::MountError::OtherTier(fast, _) => {
            return Failure::caused(doing, error).hint(format!(
                "name the slow folder that it was mounted with, or an empty folder instead of `{}`",
                fast.display()
            ));
        }
        emulate::MountError::Parted(slow, fast) => {
            let [slow, fast] = [slow, fast].map(|path| units::for_shell(path.display()));
            return Failure::caused(doing, error).hint(format!(
                "say `prony emulate tiered --fast {fast} --slow {slow} --at MNT`; if that fast folder is lost for good, \
                 `setfattr -x user.prony.tier {slow}` gives up what lay there"
            ));
        }
        emulate::MountError::Way(..) => {
            "both need room for a page, and this user's rights; TMPDIR names another folder for the mount"
        }
        emulate::MountError::Thread(..) => "try again; if it stays so, the machine is out of memory or threads",
    };
    Failure::caused(doing, error).hint(hint)
}

/// Hands a fault to the device that is mounted there.
fn inflict(at: &Path, fault: &str) -> Result<(), Failure> {
    let doing = || format!("handing the fault `{fault}` to the device at `{}`", at.display());
    let what = match fault.parse() {
        Ok(Happening::Fault(Fault::Slow(times))) if times < 1.0 => {
            return Err(Failure::new(format!("{}: `slow` takes 1 or more, got {times}", doing()))
                .hint("a device cannot be faster than its model; `--fault none` ends a `slow`"));
        }
        Err(error @ NoHappening::Value { .. }) => return Err(Failure::caused(doing(), &error)),
        Ok(Happening::Pair(_)) | Err(_) => {
            return Err(Failure::new(format!("{}: a device knows no such fault", doing())).hint(
                "say power-loss, power-on, lie, full, read-error=OFFSET, slow=TIMES, hang or none; to an array also \
                 `fail PART N`, `restore PART N`, spare or firmware=TIME",
            ));
        }
        Ok(what) => what,
    };
    if what == Happening::Fault(Fault::PowerOn) && emulate::has_power(at) {
        return Err(Failure::new(format!("{}: it would change nothing: its power is on", doing()))
            .hint("`--fault power-loss` takes it away"));
    }
    let slows = matches!(what, Happening::Fault(Fault::Slow(_)));
    let of_power = matches!(what, Happening::Fault(Fault::PowerLoss | Fault::PowerOn));
    emulate::inflict(at, what).map_err(|error| {
        let failure = Failure::caused(doing(), &error);
        match error {
            Spared::Inside(root) => failure.hint(format!("say `--at {}`", root.display())),
            Spared::Foreign => failure,
            Spared::Idle(_) => failure.hint("say `--fault 'fail PART N'` first, or name a part that has failed"),
            Spared::Twice(_) => failure.hint("name a part that works; `--fault none` brings back all that have failed"),
            Spared::Beyond(..) => failure.hint("name a part that it has; `--modules` says how many modules take part"),
            Spared::Unknown(known) if known.is_empty() && slows => {
                failure.hint("`slow` needs a model, whose times it multiplies")
            }
            Spared::Unknown(known) if known.is_empty() => failure.hint("only the model of an array has such parts"),
            Spared::Unknown(known) => failure.hint(format!("it knows {}", listed(known.iter().map(String::as_str)))),
            _ => failure.hint("name the folder at which `prony emulate` serves with --at"),
        }
    })?;
    if !of_power && !emulate::has_power(at) {
        output::note_line(&format!("{} has no power: it serves nothing until `--fault power-on`", at.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_killed_and_is_still_listed_is_dead_and_one_that_runs_is_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("a process");
        let known = Pid::from_child(&child);
        assert!(!is_dead(known) && !is_dead(rustix::process::getpid()));
        child.kill().expect("it is ours");
        // Nobody has waited for it, so that it stays a zombie.
        while !is_dead(known) {
            sleep(Duration::from_millis(1));
        }
        child.wait().expect("it has ended");
        assert!(!is_dead(known), "nothing is known of one that is gone");
    }
}
