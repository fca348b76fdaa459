//! Who moves objects between the tiers of a private server while a trial of a study runs.
//!
//! The one idea: a thread beside the load does what `prony tier balance` does, or moves the table whose time has come; it begins with
//! the trial's clock and ends with the window. What it did is a list of events of the trial.
//!
//! What it does not do: extents that move under the server are the mount's own work, and nothing is put back: the next trial's layout
//! does that.

use super::balance::Keeper;
use super::failed;
use super::manner::Manner;
use super::prove::known_of;
use super::sample::Sampler;
use crate::failure::Failure;
use crate::run::Beside;
use advisor::{Described, Kind, Rules};
use database::Database;
use database::tier::Watch;
use observation::{Event, EventKind};
use recorder::{Clock as _, WallClock};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use study::{DatabaseSpec, Moving, Place, SystemSpec, Tier, Trial, Way};
use units::Nanos;
use workload::wander;

/// Within so many times its period a move of the balancer pays for itself.
const PAY_OFF: f64 = 10.0;

/// Who moves during one trial.
struct Moves {
    work: Option<Work>,
    stop: Arc<AtomicBool>,
    /// Whether the trial's clock runs.
    begun: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Vec<Event>, Failure>>>,
}

/// What there is to do.
struct Work {
    spec: DatabaseSpec,
    moving: Moving,
    /// The workload, where it is known what is hot next.
    wander: Option<wander::Spec>,
    /// When the window ends, on the trial's clock.
    until: Nanos,
    stop: Arc<AtomicBool>,
    begun: Arc<AtomicBool>,
    clock: WallClock,
    told: Vec<Event>,
}

/// Who moves during a trial on a system; nobody where that has no mover, or one under the server.
pub fn beside(trial: &Trial, system: &SystemSpec) -> Option<Box<dyn Beside>> {
    let Place::Database(spec) = &system.place else { return None };
    let moving = spec.layout.as_ref()?.moving.filter(|moving| moving.way != Way::Extents)?;
    let wander = trial.streams.iter().find_map(|stream| wander::Spec::of(stream.transactions()?.0));
    let until = trial.phases.warm_up + trial.phases.measure;
    let (stop, begun) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let (spec, clock, told) = (spec.clone(), WallClock::new(), Vec::new());
    let work = Work { spec, moving, wander, until, stop: stop.clone(), begun: begun.clone(), clock, told };
    Some(Box::new(Moves { work: Some(work), stop, begun, thread: None }))
}

impl Beside for Moves {
    /// As one who has been at work there for long.
    fn ready(&mut self, database: &Arc<dyn Database>) {
        if let Some(work) = self.work.take() {
            let (database, (told, ready)) = (database.clone(), channel());
            self.thread = Some(std::thread::spawn(move || work.carry_out(database.as_ref(), &told)));
            // Nobody tells where it has failed, which is told at the end.
            let _ = ready.recv();
        }
    }

    fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    fn end(mut self: Box<Self>) -> Result<Vec<Event>, Failure> {
        self.stop.store(true, Ordering::SeqCst);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(Vec::new()), |ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Moves {
    fn drop(&mut self) {
        // A trial that is cut short leaves it behind; nothing is moved beside the next.
        self.stop.store(true, Ordering::SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Work {
    fn carry_out(mut self, database: &dyn Database, ready: &Sender<()>) -> Result<Vec<Event>, Failure> {
        let manner = Manner::beside_a_trial();
        self.forget(database, &manner)?;
        match self.moving.way {
            Way::Balancer => self.balance(database, manner, ready)?,
            Way::Clairvoyant => self.ahead(database, &manner, ready)?,
            Way::Extents => {}
        }
        Ok(self.told)
    }

    /// The journal of an earlier trial tells where objects lay that the layout has put back since.
    fn forget(&self, database: &dyn Database, manner: &Manner) -> Result<(), Failure> {
        let doing = |error| failed("forgetting earlier moves in", &self.spec, &error);
        let mut mover = manner.mover(database).map_err(doing)?;
        for kept in mover.kept().map_err(doing)? {
            mover.forget(&kept).map_err(doing)?;
        }
        mover.emptied().map_err(doing)
    }

    fn balance(&mut self, database: &dyn Database, manner: Manner, ready: &Sender<()>) -> Result<(), Failure> {
        let Moving { room, every, .. } = self.moving;
        let rules = Rules {
            budget: room.0 as f64,
            half_life_s: every.seconds(),
            pay_off_s: PAY_OFF * every.seconds(),
            better: 1.3,
        };
        let layout = self.spec.layout.clone();
        let times = |depth| layout.as_ref().map_or_else(|| Err(Failure::new("no layout")), |at| known_of(at, depth));
        let spec = self.spec.clone();
        let mut sampler = Sampler::new(database, &spec, Tier::Fast.word())?;
        let doing = |error| failed("moving objects of", &spec, &error);
        let spaces = [sampler.standing.fast.clone().unwrap_or_default(), sampler.standing.slow.1.clone()];
        let mut mover = manner.mover(database).map_err(doing)?;
        mover.prepare(&[], &spaces[0]).map_err(doing)?;
        self.begun(ready);
        let (clock, stop, until) = (&self.clock, &self.stop, self.until);
        let every = Duration::from_nanos(every.0);
        let keeper = Keeper { spec: &spec, database, manner, spaces, rules, every, times: &times };
        let told = &mut self.told;
        keeper.keep(&mut sampler, Some(mover), stop, None, &mut |text| {
            let at = clock.now();
            let decision = text.lines().next().unwrap_or_default();
            if decision.starts_with("  move ") {
                told.push(note(at, decision.trim().to_owned()));
            }
            if at >= until {
                stop.store(true, Ordering::SeqCst);
            }
            Ok(())
        })
    }

    /// Each table goes to the fast tier when its time comes, and the one before back behind it; both copies are paid for.
    fn ahead(&mut self, database: &dyn Database, manner: &Manner, ready: &Sender<()>) -> Result<(), Failure> {
        let Some(wander) = self.wander else { return Ok(()) };
        let spec = self.spec.clone();
        let doing = |error| failed("moving tables of", &spec, &error);
        let mut watch = Watch::open(database, Tier::Fast.word()).map_err(doing)?;
        let standing = watch.standing().map_err(doing)?;
        let known = watch.described(&BTreeSet::new()).map_err(doing)?;
        let spaces = (standing.fast.unwrap_or_default(), standing.slow.1);
        let mut mover = manner.mover(database).map_err(doing)?;
        let mut tables = Vec::new();
        for number in 0..wander.tables {
            let name = wander::Spec::table(number);
            let is = |one: &&Described| one.kind == Kind::Table && one.name.rsplit('.').next() == Some(name.as_str());
            let id = known.iter().find(is).map(|one| one.id.clone());
            tables.push(
                id.ok_or_else(|| Failure::new(format!("moving `{name}` of `{}`: it is not there", spec.shown())))?,
            );
        }
        for id in &tables {
            if let Some(object) = mover.find(id, None).map_err(doing)? {
                mover.prepare(&[object], &spaces.0).map_err(doing)?;
            }
        }
        self.begun(ready);
        let mut at = Nanos::ZERO;
        loop {
            at += wander.stay;
            if at >= self.until || !self.waited(at) {
                return Ok(());
            }
            // The room holds both for as long as the second copy takes, which nobody waits for.
            let (before, now) = (wander.hot(Nanos(at.0 - 1)), wander.hot(at));
            for (table, space, tier) in [(now, &spaces.0, Tier::Fast), (before, &spaces.1, Tier::Slow)] {
                let Some(object) = mover.find(&tables[table as usize], None).map_err(doing)? else { continue };
                let done = manner.bring(&mut mover, &object, space).map_err(doing)?;
                self.told.push(note(self.clock.now(), format!("{}, to the {} tier", done.says(), tier.word())));
            }
        }
    }

    /// Says that it is ready, and waits for the trial's clock.
    fn begun(&mut self, ready: &Sender<()>) {
        // Nobody listens where the trial is over already.
        let _ = ready.send(());
        while !self.begun.load(Ordering::SeqCst) && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.clock = WallClock::new();
    }

    /// Waits for a moment of the trial's clock; whether it came before the end.
    fn waited(&self, at: Nanos) -> bool {
        while self.clock.now() < at {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(Duration::from_nanos(at.saturating_sub(self.clock.now()).0.min(20_000_000)));
        }
        true
    }
}

fn note(at: Nanos, text: String) -> Event {
    Event { at, kind: EventKind::Note, text }
}
