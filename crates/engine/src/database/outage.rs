//! A mirror that goes away in the middle of a trial, and whoever looks after the pair meanwhile.
//!
//! The one idea: what happens and what is done about it are apart. An order kills, ends or cuts; a watcher knows only what the first
//! server tells, as somebody who looks after a real pair would, and does what the life of a pair says.
//!
//! What it does not do: it does not measure what clients felt; that is for whoever reads the cells.

use crate::told::{Happens, remark};
use database::DatabaseError;
use database::server::{Look, Mirror, Watch};
use link::Relay;
use observation::{Event, EventKind, MirrorState, Series, Whole};
use pair::{Action, Life, Node, Reason, Rule, State};
use recorder::{Clock, WallClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use study::Waits;
use units::{Nanos, counted, duration};
use workload::happening::{Fault, Happening, Mishap, Side};

/// How often the first server is asked for its mirror.
const LOOK: Duration = Duration::from_millis(20);

/// What is seen is kept so often.
const KEEP_EVERY: Nanos = Nanos(100_000_000);

/// How long the mirror may take to follow again once the load is over.
const FOLLOW: Nanos = Nanos::from_secs(600);

/// A watcher of a pair, and the way to it.
pub(crate) struct Outage {
    orders: Option<Sender<Order>>,
    watcher: Option<JoinHandle<Result<Course, DatabaseError>>>,
}

enum Order {
    /// Something happens, at this moment of the trial.
    Happen(Nanos, Mishap),
    /// The window is over: whatever is still away comes back.
    PutRight,
    /// The trial is over: the watcher ends when the mirror follows again.
    End,
}

/// Whether a database takes sessions; where the mirror is about to take over, those who lost theirs wait for that.
pub(crate) type Served = Arc<AtomicBool>;

/// What was seen.
#[derive(Default)]
struct Course {
    /// Whether the mirror took over.
    taken_over: bool,
    /// Whether it did not follow again in time.
    late: bool,
    /// The watcher's clock when the trial began.
    zero: Nanos,
    series: [Vec<(Nanos, f64)>; 4],
    events: Vec<(Nanos, String)>,
}

const SERIES: [Whole; 4] = [Whole::MirrorState, Whole::MirrorKept, Whole::MirrorSent, Whole::MirrorWaiting];

/// How long a mirror has confirmed nothing.
#[derive(Default)]
struct Silence {
    confirmed: u64,
    since: Nanos,
}

impl Silence {
    /// Takes a look in; how long nothing was confirmed, although there was something to confirm or nobody to do it.
    fn hear(&mut self, now: Nanos, look: &Look) -> Nanos {
        if let Some(confirmed) = look.confirmed
            && (confirmed > self.confirmed || confirmed >= look.written)
        {
            (self.confirmed, self.since) = (confirmed, now);
        }
        now.saturating_sub(self.since)
    }
}

/// Whether the mirror has all that the first server had at the look before.
fn is_level(before: &Look, look: &Look) -> bool {
    look.streaming && look.confirmed.is_some_and(|confirmed| confirmed >= before.written)
}

/// Whether a mirror that was given up is back without an order: it was ordered to come before its loss was seen.
fn is_back(look: &Look, apart: bool) -> bool {
    !apart && look.confirmed.is_some()
}

/// A server with its mirror, and what can be done to them.
pub(crate) struct Pair {
    pub(crate) mirror: Arc<dyn Mirror>,
    pub(crate) relay: Arc<Relay>,
    /// What the mirror catches up over, where that is a wire of its own.
    pub(crate) resync: Option<Arc<Relay>>,
    /// How faults are made on the devices of the mirror and of the first server.
    pub(crate) devices: [Option<Happens>; 2],
}

struct Watcher {
    pair: Pair,
    /// Whether the mirror catches up over that wire now; and what the usual one had carried when it turned to that.
    detour: bool,
    turned: u64,
    /// What each device suffers from.
    hurt: [Option<Fault>; 2],
    settings: Vec<(String, String)>,
    watch: Box<dyn Watch>,
    patience: Nanos,
    life: Life,
    clock: WallClock,
    silence: Silence,
    before: Look,
    /// Whether something is away that an order took.
    apart: bool,
    /// Whether the first server was taken away, and since when it does not answer.
    taken: bool,
    lost: Option<Nanos>,
    /// Whether anybody takes sessions.
    served: Served,
    /// Whether somebody wants an end.
    stop: Arc<AtomicBool>,
    /// A server that is being ended or started.
    work: Option<JoinHandle<Result<(), DatabaseError>>>,
    resumed: Nanos,
    course: Course,
}

impl Outage {
    /// Watches a mirror that follows, from now on.
    pub(crate) fn watched(
        pair: Pair,
        waits: Waits,
        (patience, served, stop): (Nanos, Served, Arc<AtomicBool>),
        settings: &[(String, String)],
    ) -> Result<Outage, DatabaseError> {
        let clock = WallClock::new();
        let mut watcher = Watcher {
            watch: pair.mirror.watch(waits)?,
            pair,
            detour: false,
            turned: 0,
            hurt: [None; 2],
            settings: settings.to_vec(),
            patience,
            life: Life::new(Rule { waits: waits.far(), both_write: false, by_session: false }),
            silence: Silence { confirmed: 0, since: clock.now() },
            clock,
            before: Look::default(),
            apart: false,
            taken: false,
            lost: None,
            served,
            stop,
            work: None,
            resumed: Nanos::ZERO,
            course: Course::default(),
        };
        let (orders, heard) = channel();
        let watcher = std::thread::spawn(move || {
            let seen = watcher.run(&heard);
            // Whoever comes next finds both devices as they were, whatever became of this.
            let mended = watcher.worked().and_then(|()| watcher.mended());
            let seen = seen.and_then(|course| mended.map(|()| course));
            // Whoever waits for a server that will not come is told so by the first try.
            watcher.served.store(true, Ordering::Release);
            seen
        });
        Ok(Outage { orders: Some(orders), watcher: Some(watcher) })
    }

    /// Has something happen; nothing puts right what is away.
    pub(crate) fn order(&self, at: Nanos, what: Option<Mishap>) {
        let order = what.map_or(Order::PutRight, |what| Order::Happen(at, what));
        // A watcher that ended says why when it is asked.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }

    /// What was seen, once the mirror follows again or has taken over; and whether it has.
    pub(crate) fn ended(mut self) -> Result<(Vec<Series>, Vec<Event>, bool), DatabaseError> {
        let _ = self.orders.as_ref().map(|orders| orders.send(Order::End));
        let Course { taken_over, late, zero, series, events } = self.joined()?;
        let on_trial = |at: Nanos| at.saturating_sub(zero);
        let series = SERIES.into_iter().zip(series).map(|(probe, points)| {
            let points = points.into_iter().map(|(at, value)| (on_trial(at), value)).collect();
            Series { probe: probe.into(), points }
        });
        let event = |(at, text): (Nanos, String)| Event { at: on_trial(at), ..remark(text) };
        let late = late.then(|| Event {
            at: Nanos::ZERO,
            kind: EventKind::Doubt,
            text: format!(
                "the mirror did not follow again within {} of the end of the load; see its log",
                duration(FOLLOW)
            ),
        });
        Ok((series.collect(), events.into_iter().map(event).chain(late).collect(), taken_over))
    }

    /// Why it gave up, if it has.
    pub(crate) fn failed(&mut self) -> Option<DatabaseError> {
        self.watcher.as_ref().filter(|watcher| watcher.is_finished())?;
        self.joined().err()
    }

    fn joined(&mut self) -> Result<Course, DatabaseError> {
        match self.watcher.take().map(JoinHandle::join) {
            Some(Ok(course)) => course,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(Course::default()),
        }
    }
}

impl Drop for Outage {
    fn drop(&mut self) {
        self.orders = None;
        // Whoever gives a trial up does not ask what was seen.
        let _ = self.watcher.take().map(JoinHandle::join);
    }
}

impl Watcher {
    fn run(&mut self, orders: &Receiver<Order>) -> Result<Course, DatabaseError> {
        let mut until = None;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                self.pair.relay.carry(0, [true; 2]);
                return Ok(std::mem::take(&mut self.course));
            }
            match orders.recv_timeout(LOOK) {
                Ok(Order::Happen(at, what)) => self.happen(at, what)?,
                Ok(Order::PutRight) if self.apart && !self.taken => self.happen_now(Mishap::Resume)?,
                Ok(Order::End) => until = Some(self.clock.now() + FOLLOW),
                Ok(Order::PutRight) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.pair.relay.carry(0, [true; 2]);
                    self.worked()?;
                    return Ok(Course::default());
                }
            }
            if self.work.as_ref().is_some_and(JoinHandle::is_finished) {
                self.worked()?;
            }
            self.look()?;
            let follows = match self.life.state() {
                State::Replicating | State::Comparing => !self.taken,
                _ => self.course.taken_over,
            };
            let Some(until) = until else { continue };
            let late = self.clock.now() >= until;
            if late && !follows {
                self.course.late = true;
            }
            if late || self.work.is_none() && follows {
                return Ok(std::mem::take(&mut self.course));
            }
        }
    }

    /// The result of what was begun.
    fn worked(&mut self) -> Result<(), DatabaseError> {
        match self.work.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            Some(Ok(worked)) => worked,
            None => Ok(()),
        }
    }

    fn happen(&mut self, at: Nanos, what: Mishap) -> Result<(), DatabaseError> {
        if self.course.zero == Nanos::ZERO {
            self.course.zero = self.clock.now().saturating_sub(at);
        }
        self.happen_now(what)
    }

    fn happen_now(&mut self, what: Mishap) -> Result<(), DatabaseError> {
        if what == Mishap::Swap {
            return self.swap();
        }
        let mirror = self.pair.mirror.clone();
        if what.takes_primary() {
            self.taken = true;
            // Before anybody loses a session, so that nobody looks for a new one where there is none.
            self.served.store(false, Ordering::Release);
        } else if !matches!(what, Mishap::Lie(_)) {
            self.apart = what != Mishap::Resume;
        }
        if let Some((side, fault)) = what.at_device() {
            self.hurt(side, fault)?;
        }
        match what {
            Mishap::KillMirror => self.begin(move || mirror.kill())?,
            Mishap::StopMirror => self.begin(move || mirror.stop())?,
            Mishap::Cut => self.pair.relay.carry(0, [false; 2]),
            // The mirror is who connects.
            Mishap::HalfOpen => self.pair.relay.carry(0, [true, false]),
            Mishap::Suspend => self.step(pair::Event::Suspend)?,
            Mishap::Resume => self.resume()?,
            // What it had not made durable is gone with its processes.
            Mishap::PowerLoss(Side::Mirror) => self.begin(move || mirror.kill())?,
            Mishap::KillPrimary | Mishap::PowerLoss(Side::Primary) => self.begin(move || mirror.kill_primary())?,
            Mishap::Full(_) | Mishap::Lie(_) | Mishap::Swap => {}
        }
        Ok(())
    }

    /// A device has a fault from now on. One that lost its power has no other.
    fn hurt(&mut self, side: Side, fault: Fault) -> Result<(), DatabaseError> {
        let hurt = &mut self.hurt[side as usize];
        *hurt = hurt.filter(|before| *before == Fault::PowerLoss).or(Some(fault));
        made(self.pair.devices[side as usize].as_ref(), fault)
    }

    /// What makes a device whole again, which takes a moment; nothing of one that is whole.
    fn mend(&mut self, side: Side) -> impl FnOnce() -> Result<(), DatabaseError> + Send + use<> {
        let device = self.pair.devices[side as usize].clone();
        let hurt = self.hurt[side as usize].take();
        move || match hurt {
            None => Ok(()),
            Some(Fault::PowerLoss) => made(device.as_ref(), Fault::PowerOn),
            Some(_) => made(device.as_ref(), Fault::None),
        }
    }

    fn mended(&mut self) -> Result<(), DatabaseError> {
        Side::ALL.into_iter().try_for_each(|side| self.mend(side)())
    }

    /// Both servers change their roles, where the mirror follows. Whoever lost a session waits until one of them serves.
    fn swap(&mut self) -> Result<(), DatabaseError> {
        self.worked()?;
        if !matches!(self.life.state(), State::Replicating | State::Comparing) {
            self.tell("the roles were not swapped: the mirror did not follow yet".to_owned());
            return Ok(());
        }
        let begun = self.clock.now();
        self.keep_as(MirrorState::Unserved);
        self.served.store(false, Ordering::Release);
        self.watch.swap(&self.settings)?;
        self.served.store(true, Ordering::Release);
        self.silence = Silence { confirmed: 0, since: self.clock.now() };
        self.before = Look::default();
        let took = duration(self.clock.now().saturating_sub(begun));
        self.tell(format!("both servers ended in order and serve with swapped roles after {took}"));
        self.keep(true);
        Ok(())
    }

    /// Does on another thread what takes long, behind what was begun before.
    fn begin(
        &mut self,
        work: impl FnOnce() -> Result<(), DatabaseError> + Send + 'static,
    ) -> Result<(), DatabaseError> {
        self.worked()?;
        self.work = Some(std::thread::spawn(work));
        Ok(())
    }

    /// The mirror catches up beside the load from now on.
    fn goes_on(&mut self, now: Nanos) -> Result<(), DatabaseError> {
        self.resumed = now;
        [pair::Event::Healed, pair::Event::Back(Node::B), pair::Event::Resume]
            .into_iter()
            .try_for_each(|event| self.step(event))
    }

    fn resume(&mut self) -> Result<(), DatabaseError> {
        let (mirror, relay, settings) = (self.pair.mirror.clone(), self.pair.relay.clone(), self.settings.clone());
        let mend = self.mend(Side::Mirror);
        self.detour = self.pair.resync.is_some();
        if !self.detour {
            relay.carry(0, [true; 2]);
        }
        let start = if self.detour { Mirror::start_apart } else { Mirror::start };
        // One that runs goes on. Where it goes on by another wire, it has left the usual one before that carries again.
        self.begin(move || {
            mend().and_then(|()| start(&*mirror, &settings))?;
            relay.carry(0, [true; 2]);
            Ok(())
        })?;
        self.resumed = self.clock.now();
        // One whose loss was not seen yet may still be given up before it is there.
        if let State::Tracking(..) = self.life.state() { self.goes_on(self.resumed) } else { Ok(()) }
    }

    /// Takes in what happened, and does what is to be done. What the slot notes, and what is sent by itself, needs nobody.
    fn step(&mut self, event: pair::Event) -> Result<(), DatabaseError> {
        // What cannot be now, such as to suspend a pair that is suspended, changes nothing.
        for action in self.life.step(self.clock.now(), event).unwrap_or_default() {
            match action {
                Action::Wait(waits) => self.watch.wait(waits)?,
                Action::Promote(_) => self.watch.take_over()?,
                _ => {}
            }
        }
        self.keep(true);
        Ok(())
    }

    fn look(&mut self) -> Result<(), DatabaseError> {
        let (look, now) = (self.watch.look(), self.clock.now());
        let look = match look {
            Err(_) if self.taken && !self.course.taken_over => return self.wait_for_first(now),
            // What it still answers before it is gone is nothing to act on: it may have no disk to write on.
            Ok(_) if self.taken && !self.course.taken_over => return Ok(()),
            look => look?,
        };
        let silent = self.silence.hear(now, &look);
        let before = std::mem::replace(&mut self.before, look);
        self.keep(false);
        match self.life.state() {
            State::Replicating | State::Comparing if silent >= self.patience || look.alone => self.go_on_alone(silent),
            State::Tracking(Reason::MirrorLost | Reason::LinkCut, _)
                if is_back(&look, self.apart || self.work.is_some()) =>
            {
                self.goes_on(now)
            }
            State::Resynchronising(_) if self.detour && self.work.is_none() && is_level(&before, &look) => {
                self.turn_in(now)
            }
            State::Resynchronising(_) if is_level(&before, &look) && self.pair.relay.told().1[1].0 > self.turned => {
                self.step(pair::Event::Sent)?;
                // How long it took is judged from what was watched.
                self.tell("the mirror has caught up".to_owned());
                Ok(())
            }
            _ => self.life.step(now, pair::Event::Noted { bytes: look.kept, objects: None }).map(drop).or(Ok(())),
        }
    }

    /// A mirror that has caught up over a wire of its own follows over the usual one again.
    fn turn_in(&mut self, now: Nanos) -> Result<(), DatabaseError> {
        (self.detour, self.turned) = (false, self.pair.relay.told().1[1].0);
        let (mirror, settings) = (self.pair.mirror.clone(), self.settings.clone());
        self.begin(move || mirror.start(&settings))?;
        let took = duration(now.saturating_sub(self.resumed));
        let carried = units::bytes(units::Bytes(self.pair.resync.as_ref().map_or(0, |wire| wire.told().1[1].0)));
        self.tell(format!(
            "the mirror was level after {took} and {carried} over the link of the resync: it turns to the other"
        ));
        Ok(())
    }

    /// The first server does not answer: when patience is lost, the mirror takes over.
    fn wait_for_first(&mut self, now: Nanos) -> Result<(), DatabaseError> {
        let silent = now.saturating_sub(*self.lost.get_or_insert(now));
        if silent < self.patience {
            return Ok(());
        }
        self.worked()?;
        self.succeeds()?;
        self.step(pair::Event::Lost(Node::A))?;
        // What a mirror lacks that nobody waited for is lost with the first server.
        self.step(pair::Event::TakeOver { accept_missing: true })?;
        self.course.taken_over = true;
        self.served.store(true, Ordering::Release);
        let took = duration(self.clock.now().saturating_sub(now));
        self.tell(format!(
            "the first server did not answer for {}: the mirror took over within {took}",
            duration(silent)
        ));
        Ok(())
    }

    /// Before the mirror takes over: a first server that is only silent is ended for good, and a mirror that is down comes up with what its
    /// device has kept.
    fn succeeds(&mut self) -> Result<(), DatabaseError> {
        if self.hurt[Side::Primary as usize].is_some() {
            self.pair.mirror.kill_primary()?;
        }
        if self.pair.mirror.pid().is_some() {
            return Ok(());
        }
        self.mend(Side::Mirror)()?;
        self.pair.mirror.start(&self.settings)?;
        self.tell("the mirror was down as well: it came up with what its device had kept".to_owned());
        self.step(pair::Event::Back(Node::B))
    }

    /// Nobody confirms anything: what the first server sees of it is all that is known.
    fn go_on_alone(&mut self, silent: Nanos) -> Result<(), DatabaseError> {
        let Look { confirmed, waiting, .. } = self.before;
        let (event, seen) = match confirmed {
            None => (pair::Event::Lost(Node::B), "connection ended"),
            Some(_) => (pair::Event::Cut, "connection stands"),
        };
        self.step(event)?;
        let (silent, waiting) = (duration(silent), counted(waiting, "commits"));
        self.tell(format!("the first server goes on alone: nothing confirmed for {silent}, {seen}; {waiting} waited"));
        Ok(())
    }

    fn tell(&mut self, text: String) {
        self.course.events.push((self.clock.now(), text));
    }

    /// Keeps what was seen, when it is time or something changed.
    fn keep(&mut self, changed: bool) {
        let now = self.clock.now();
        let rested = self.course.series[0].last().is_none_or(|(last, _)| now.saturating_sub(*last) >= KEEP_EVERY);
        if !rested && !changed {
            return;
        }
        let state = match self.life.state() {
            State::Tracking(Reason::MirrorLost, _) => MirrorState::Gone,
            State::Tracking(Reason::LinkCut, _) => MirrorState::Silent,
            State::Tracking(Reason::Asked, _) => MirrorState::Asked,
            State::Tracking(Reason::TakenOver, _) => MirrorState::TakenOver,
            State::Resynchronising(_) => MirrorState::CatchesUp,
            State::Unserved(_) => MirrorState::Unserved,
            _ => MirrorState::Follows,
        };
        self.keep_as(state);
    }

    fn keep_as(&mut self, state: MirrorState) {
        let now = self.clock.now();
        let sent = [Some(&self.pair.relay), self.pair.resync.as_ref()]
            .into_iter()
            .flatten()
            .map(|wire| wire.told().1[1].0)
            .sum::<u64>();
        let values = [state.number(), self.before.kept as f64, sent as f64, self.before.waiting as f64];
        self.course.series.iter_mut().zip(values).for_each(|(points, value)| points.push((now, value)));
    }
}

/// Has a fault made on a device. The plan has refused faults of devices that are not there.
fn made(device: Option<&Happens>, fault: Fault) -> Result<(), DatabaseError> {
    let failed =
        |error: std::io::Error| DatabaseError::Refused { place: "its device".to_owned(), text: error.to_string() };
    device.map_or(Ok(()), |device| device(Happening::Fault(fault)).map_err(failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(written: u64, confirmed: Option<u64>) -> Look {
        Look { written, confirmed, streaming: true, ..Look::default() }
    }

    #[test]
    fn a_mirror_is_silent_while_it_confirms_nothing_that_is_there_to_confirm() {
        let mut silence = Silence::default();
        let heard = [
            // It is behind, and comes on.
            (100, look(50, Some(30)), 0),
            (200, look(90, Some(40)), 0),
            // It stands still behind, then its connection ends.
            (300, look(95, Some(40)), 100),
            (400, look(95, None), 200),
            // It is back, where it was, and comes on.
            (500, look(99, Some(40)), 300),
            (600, look(99, Some(41)), 0),
            // Nothing is written, and nothing is missing: it is not silent.
            (700, look(99, Some(99)), 0),
            (900, look(99, Some(99)), 0),
            // An idle server without its mirror is one, too.
            (950, look(99, None), 50),
        ];
        for (at, look, silent) in heard {
            assert_eq!(silence.hear(Nanos(at), &look), Nanos(silent), "at {at}: {look:?}");
        }
    }

    #[test]
    fn a_mirror_whose_loss_was_seen_after_it_was_ordered_back_is_back_as_soon_as_it_is_connected() {
        assert!(is_back(&look(90, Some(40)), false));
        assert!(!is_back(&look(90, None), false), "it still starts");
        assert!(!is_back(&look(90, Some(40)), true), "an order took it, or one is carried out");
    }

    #[test]
    fn a_mirror_is_level_once_it_has_what_was_there_at_the_look_before() {
        let before = look(100, Some(60));
        assert!(is_level(&before, &look(140, Some(100))), "what came since is on its way");
        assert!(!is_level(&before, &look(140, Some(99))));
        assert!(!is_level(&before, &look(140, None)));
        assert!(
            !is_level(&before, &Look { streaming: false, ..look(140, Some(140)) }),
            "PostgreSQL says it catches up"
        );
    }
}
