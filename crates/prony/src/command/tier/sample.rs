//! Looks at a server over a window.
//!
//! The one idea: looks come at even moments of our own clock, and what they cost the server is little enough to be told as a share.

use super::failed;
use crate::failure::Failure;
use advisor::{Look, Object};
use database::Database;
use database::tier::{Standing, Watch};
use recorder::{Clock, WallClock};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::DatabaseSpec;
use units::Nanos;

/// One who samples a database.
pub(super) struct Sampler<'a> {
    spec: &'a DatabaseSpec,
    watch: Watch,
    /// Where data lies on this machine.
    folders: Vec<PathBuf>,
    pub(super) clock: WallClock,
    pub(super) standing: Standing,
}

/// Refuses a fast tier in which a server here can make no files, and one that is the slow one: the tablespace of the database, or a folder that
/// is, or lies in, that of the data.
pub(super) fn apart(watch: &mut Watch, standing: &Standing, spec: &DatabaseSpec, fast: &str) -> Result<(), Failure> {
    let Standing { fast: Some(own), slow: (name, slow), .. } = standing else { return Ok(()) };
    let looking = format!("looking at the tiers of `{}`: `--fast {fast}`", spec.shown());
    // A server elsewhere has other folders, of which nobody here knows links.
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let inside = |folder: &PathBuf| slow.is_empty() && real(Path::new(own)).starts_with(real(folder));
    let inside = watch.folders().into_iter().find(inside);
    let is = match &inside {
        Some(folder) => format!("is, or lies in, {name} (`{}`)", folder.display()),
        None if own == slow => format!("is {name}"),
        None => {
            let shut = |[what, help]: [String; 2]| Err(Failure::new(format!("{looking}: {what}")).hint(help));
            return watch.shut().map_or(Ok(()), shut);
        }
    };
    let told = format!("{looking} {is}, where the data lies already: both tiers are one");
    Err(Failure::new(told).hint("name the tablespace on the fast storage, of a MariaDB its folder, with --fast"))
}

/// What a window showed.
pub(super) struct Window {
    pub(super) looks: Vec<Look>,
    pub(super) objects: Vec<Object>,
    /// Names of what vanished meanwhile.
    pub(super) vanished: Vec<String>,
    /// Reads at once on the devices below, on the mean; 1 where nobody counts their time.
    pub(super) depth: f64,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(database: &dyn Database, spec: &'a DatabaseSpec, fast: &str) -> Result<Sampler<'a>, Failure> {
        let doing = |error| failed("looking at the statistics of", spec, &error);
        let mut watch = Watch::open(database, fast).map_err(doing)?;
        let standing = watch.standing().map_err(doing)?;
        apart(&mut watch, &standing, spec, fast)?;
        let folders = if database.server_processes().is_empty() { Vec::new() } else { watch.folders() };
        Ok(Sampler { spec, watch, folders, clock: WallClock::new(), standing })
    }

    /// Watches for so long, in so many slices.
    pub(super) fn window(&mut self, length: Duration, slices: u32, stop: &AtomicBool) -> Result<Window, Failure> {
        let spec = self.spec;
        let doing = |error| failed("sampling", spec, &error);
        let begun = self.clock.now();
        let before = self.watch.described(&BTreeSet::new()).map_err(doing)?;
        let mut looks = vec![self.look(begun)?];
        for slice in 1..=slices {
            let due = begun.saturating_add(Nanos((length * slice / slices).as_nanos() as u64));
            self.wait(due, stop)?;
            looks.push(self.look(begun)?);
        }
        let (first, last) = (&looks[0], &looks[looks.len() - 1]);
        let grown =
            last.counts.iter().filter(|(id, now)| first.counts.get(*id).is_none_or(|then| now.reads > then.reads));
        let read: BTreeSet<String> = grown.map(|(id, _)| id.clone()).collect();
        let after = self.watch.described(&read).map_err(doing)?;
        let there: BTreeSet<&String> = after.iter().map(|object| &object.id).collect();
        let vanished = before.iter().filter(|object| !there.contains(&object.id));
        let vanished = vanished.map(|object| object.name.clone()).collect();
        // Where the devices below are not seen, the server may have counted how long it read from them.
        let waited = last.device_s.zip(first.device_s).or(last.read_s.zip(first.read_s));
        let depth = waited.map_or(1.0, |(after, before)| (after - before) / (last.at_s - first.at_s).max(1e-9));
        Ok(Window { objects: advisor::observed(&after, &looks), looks, vanished, depth: depth.max(1.0) })
    }

    fn look(&mut self, begun: Nanos) -> Result<Look, Failure> {
        let look = self.watch.look().map_err(|error| failed("sampling", self.spec, &error))?;
        let device = probe::reads_below(&self.folders);
        let at_s = self.clock.now().saturating_sub(begun).seconds();
        Ok(Look { at_s, device_bytes: device.map(|(bytes, _)| bytes), device_s: device.map(|(_, s)| s), ..look })
    }

    /// Lets time pass until a moment.
    pub(super) fn wait(&self, due: Nanos, stop: &AtomicBool) -> Result<(), Failure> {
        super::wait(&self.clock, self.spec, due, stop)
    }
}
