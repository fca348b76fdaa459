//! Two hundred points of a trial at which something goes wrong: workers that panic, calls that hang, connections that are lost,
//! servers that are stopped, with and without a stop from outside. Whatever happens, the trial ends within its limit, and every
//! arrival of whoever came home is accounted for.

use super::coordinator::{Patience, Watchers, run_with};
use super::outcome::Outcome;
use crate::TrialError;
use crate::hot::transactions::TransactionWork;
use crate::observer::Unobserved;
use crate::port::reconnect::Reconnect;
use crate::port::{connections, session, uring};
use crate::sample;
use crate::target::opened::Opened;
use crate::worker::assign::{Carriers, Share, StreamOf, assign};
use crate::worker::profile::Profile;
use crate::worker::run::{Driver, Start};
use crate::worker::transactions::Transactions;
use database::postgres::PostgresWire;
use database::{Conversation, Cut, Database, DatabaseError, Facts, Failure, FailureKind, Session, Texts};
use load::{Arrivals, Pacing, Spec, Think};
use random::Draws;
use recorder::{Clock, Collector, WallClock};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use study::{Engine, Place, Protocol, Sessions, Trial};
use system::null::NullPort;
use system::{Completion, Outcome as Ended, Port, PortError, StoragePort, Wait};
use units::{Bytes, Nanos, PerSecond};
use workload::Operation;
use workload::transaction::{Answers, Batch, Begun, Business, Call, Caused, Ending, Step, Value};

/// Nothing may take longer, on however busy a machine.
const LIMIT: Duration = Duration::from_secs(20);

/// How long a call takes when nothing is wrong with it.
const CALL: Duration = Duration::from_micros(500);

const LOOK: Duration = Duration::from_millis(1);

const WORKERS: u32 = 3;

/// Arrivals of an open load in the window, which are those that an account holds.
const ARRIVALS: u64 = 20;

const WARM_UP: Nanos = Nanos::from_millis(10);
const MEASURE: Nanos = Nanos::from_millis(20);
const DRAIN: Nanos = Nanos::from_millis(10);

/// As in a real trial, in less time.
const SHORT: Patience = Patience {
    ready: Nanos::from_millis(500),
    cut: Nanos::from_millis(50),
    cut_early: Nanos::from_millis(25),
    leave: Nanos::from_millis(800),
    leave_stopped: Nanos::from_millis(100),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Road {
    /// A thread for each blocking session.
    Threads,
    /// Conversations over a ring.
    Wires,
    /// Plain calls to storage.
    Storage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Panic,
    /// The call ends only when it is cut.
    Hang,
    /// Nothing ends the call.
    Stuck,
    /// The connection or the device is gone.
    Lost,
    /// No call of anybody is answered any more, and nobody is let in.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    WarmUp,
    Window,
    Drain,
    Undo,
    Reopening,
    Closing,
}

/// What somebody is about to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Ready,
    Call,
    Undo,
    Open,
    Close,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    seed: u64,
    road: Road,
    fault: Fault,
    phase: Phase,
    /// Counted from the first call of the trial.
    at: Nanos,
    worker: u32,
    open: bool,
    /// When somebody wants it to end.
    stop: Option<Nanos>,
}

impl Point {
    fn numbered(seed: u64) -> Point {
        let mut draws = Draws::numbered(0x1A7E, seed);
        let mut one_of = |count: u64| draws.below(count);
        let roads: &[Road] = match uring::allowed() {
            true => &[Road::Threads, Road::Wires, Road::Storage],
            false => &[Road::Threads, Road::Storage],
        };
        let road = roads[one_of(roads.len() as u64) as usize];
        let fault = [Fault::Panic, Fault::Hang, Fault::Stuck, Fault::Lost, Fault::Stopped][one_of(5) as usize];
        let phases =
            [Phase::Ready, Phase::WarmUp, Phase::Window, Phase::Drain, Phase::Undo, Phase::Reopening, Phase::Closing];
        let phase = match (phases[one_of(7) as usize], road) {
            (Phase::Undo | Phase::Reopening, Road::Storage) | (Phase::Closing, Road::Wires) => Phase::Window,
            (phase, _) => phase,
        };
        let (from, long) = match phase {
            Phase::Ready | Phase::WarmUp => (Nanos::ZERO, WARM_UP),
            Phase::Window | Phase::Undo | Phase::Reopening | Phase::Closing => (WARM_UP, MEASURE),
            // The last calls were begun just before.
            Phase::Drain => (WARM_UP + MEASURE - Nanos::from_millis(1), Nanos::from_millis(1)),
        };
        let at = from + Nanos(one_of(long.0));
        let (worker, open) = (one_of(u64::from(WORKERS)) as u32, one_of(2) == 0);
        let stop = (one_of(3) == 0).then(|| Nanos(one_of((WARM_UP + MEASURE + DRAIN + DRAIN).0)));
        Point { seed, road, fault, phase, at, worker, open, stop }
    }

    fn trial(&self) -> Trial {
        let load = match self.open {
            true => Spec::Open { rate: PerSecond(1e3), arrivals: Arrivals::Constant, slots: WORKERS },
            false => Spec::Closed { slots: WORKERS, think: Think::None },
        };
        let mut trial = sample::trial(load, MEASURE);
        (trial.phases.warm_up, trial.phases.drain, trial.phases.interval) = (WARM_UP, DRAIN, Nanos::from_millis(5));
        trial.streams[0].threads.pacing = Pacing::Sleep;
        trial
    }
}

/// Brings about what a point says.
struct Injector {
    point: Point,
    clock: WallClock,
    /// When the first call was made.
    began: OnceLock<Nanos>,
    /// Whether it has come to it.
    met: AtomicBool,
    /// Whether the connection whose reopening goes wrong was lost.
    lost: AtomicBool,
    /// Ends what nothing else ends, so that no thread outlives the test.
    released: AtomicBool,
}

impl Injector {
    fn new(point: Point) -> Arc<Injector> {
        let [met, lost, released] = [const { AtomicBool::new(false) }; 3];
        Arc::new(Injector { point, clock: WallClock::new(), began: OnceLock::new(), met, lost, released })
    }

    /// Whether it goes wrong now.
    fn meets(&self, worker: u32, moment: Moment) -> bool {
        let Point { fault, phase, worker: whose, .. } = self.point;
        if fault == Fault::Stopped && self.met.load(Ordering::Relaxed) {
            return true;
        }
        let fits = match moment {
            Moment::Ready => phase == Phase::Ready,
            Moment::Call => matches!(phase, Phase::WarmUp | Phase::Window | Phase::Drain) && self.due(),
            Moment::Undo => phase == Phase::Undo && self.due(),
            Moment::Open => phase == Phase::Reopening,
            Moment::Close => phase == Phase::Closing && self.due(),
        };
        fits && worker == whose && !self.met.swap(true, Ordering::Relaxed)
    }

    /// Whether the connection is lost whose reopening goes wrong.
    fn loses(&self, worker: u32) -> bool {
        let Point { phase, worker: whose, .. } = self.point;
        phase == Phase::Reopening && worker == whose && self.due() && !self.lost.swap(true, Ordering::Relaxed)
    }

    fn due(&self) -> bool {
        let now = self.clock.now();
        now.saturating_sub(*self.began.get_or_init(|| now)) >= self.point.at
    }

    fn wait(&self, cut: impl Fn() -> bool) {
        while !self.released.load(Ordering::Relaxed) && !cut() {
            std::thread::sleep(LOOK);
        }
    }

    /// What goes wrong with a call.
    fn strike(&self, cut: &AtomicBool) -> Failure {
        match self.point.fault {
            Fault::Panic => resume_unwind(Box::new("injected")),
            Fault::Hang | Fault::Stopped => self.wait(|| cut.load(Ordering::Relaxed)),
            Fault::Stuck => self.wait(|| false),
            Fault::Lost => {}
        }
        Failure::new(FailureKind::Lost, "injected")
    }
}

/// Transactions of a begin and a commit, or of a begin and what has to be undone.
struct Deals {
    injector: Arc<Injector>,
    worker: u32,
    steps: Vec<u32>,
}

impl Business for Deals {
    fn class(&mut self, _n: u64, _payload: u64) -> u16 {
        0
    }

    fn begin(&mut self, slot: u32, _begun: Begun) {
        self.restart(slot);
    }

    fn step(&mut self, slot: u32, _answers: &Answers, batch: &mut Batch) -> Step {
        let Injector { point, .. } = *self.injector;
        if point.road == Road::Wires && point.fault == Fault::Panic && self.injector.meets(self.worker, Moment::Call) {
            resume_unwind(Box::new("injected"));
        }
        self.steps[slot as usize] += 1;
        match self.steps[slot as usize] {
            1 => batch.begin(true),
            2 if point.phase == Phase::Undo => return Step::Fail,
            2 => batch.commit(),
            _ => return Step::Done { rolled_back: false },
        }
        Step::Send
    }

    fn restart(&mut self, slot: u32) {
        self.steps[slot as usize] = 0;
    }

    fn ended(&mut self, _slot: u32, _ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {}
}

/// A session on which it may go wrong.
struct Shaky {
    injector: Arc<Injector>,
    worker: u32,
    cut: Arc<AtomicBool>,
}

impl Session for Shaky {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        std::thread::sleep(CALL);
        let undoes = batch.calls().any(|call| matches!(call, Call::Rollback));
        if self.injector.meets(self.worker, if undoes { Moment::Undo } else { Moment::Call }) {
            return Err(self.injector.strike(&self.cut));
        }
        if self.injector.loses(self.worker) {
            return Err(Failure::new(FailureKind::Lost, "injected"));
        }
        batch.calls().for_each(|_| {
            answers.begin(0);
            answers.end(0);
        });
        Ok(())
    }

    fn script(&mut self, _sql: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        Ok(Vec::new())
    }

    fn load(&mut self, _: &str, _: &[&str], _: &mut dyn database::Rows) -> Result<u64, Failure> {
        Ok(0)
    }

    fn cut(&self) -> Option<Cut> {
        let cut = self.cut.clone();
        Some(Box::new(move || cut.store(true, Ordering::Relaxed)))
    }
}

impl Drop for Shaky {
    fn drop(&mut self) {
        if self.injector.point.fault != Fault::Stopped && self.injector.meets(self.worker, Moment::Close) {
            // A good-bye is not cut.
            self.injector.strike(&AtomicBool::new(false));
        }
    }
}

/// Lets one worker in, or does not.
struct Door(Arc<Injector>, u32);

impl Door {
    fn opens(&self) -> Result<(), DatabaseError> {
        if self.0.meets(self.1, Moment::Open) {
            if self.0.point.fault != Fault::Lost {
                self.0.strike(&AtomicBool::new(false));
            }
            return Err(DatabaseError::Refused { place: "nowhere".to_owned(), text: "injected".to_owned() });
        }
        Ok(())
    }

    fn session(&self) -> Box<dyn Session> {
        Box::new(Shaky { injector: self.0.clone(), worker: self.1, cut: Arc::default() })
    }

    /// A conversation with a server on a thread of its own.
    fn conversation(&self) -> Conversation {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (injector, worker) = (self.0.clone(), self.1);
        std::thread::spawn(move || serve(theirs, &injector, worker));
        (ours.into(), Box::new(PostgresWire::new(Arc::new(Texts::none(Engine::Postgres)), &how())))
    }
}

fn how() -> Sessions {
    Sessions { protocol: Protocol::Simple, ..Sessions::default() }
}

/// Answers like a server, until it goes wrong.
fn serve(mut stream: UnixStream, injector: &Injector, worker: u32) {
    let mut asked = [0; 256];
    while let Ok(count @ 1..) = stream.read(&mut asked) {
        std::thread::sleep(CALL);
        let asks = |word: &[u8]| asked[..count].windows(word.len()).any(|part| part == word);
        let wrong = || injector.meets(worker, if asks(b"ROLLBACK") { Moment::Undo } else { Moment::Call });
        // Whoever panics is a worker, not a server.
        if injector.point.fault != Fault::Panic && wrong() {
            if injector.point.fault != Fault::Lost {
                injector.wait(|| false);
            }
            return;
        }
        if injector.loses(worker) {
            return;
        }
        let open = if asks(b"BEGIN") { b'T' } else { b'I' };
        let answer = [b"C\0\0\0\x07OK\0Z\0\0\0\x05".as_slice(), &[open]].concat();
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

impl Database for Door {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn session(&self, _texts: &Texts, _how: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        self.opens().map(|()| Door::session(self))
    }

    fn conversation(&self, _texts: &Texts, _how: &Sessions) -> Result<Option<Conversation>, DatabaseError> {
        self.opens().map(|()| Some(Door::conversation(self)))
    }

    fn facts(&self) -> Facts {
        let (version, place) = (String::new(), "nowhere".to_owned());
        Facts { engine: Engine::Postgres, version, place, settings: Vec::new() }
    }
}

/// Storage on which it may go wrong.
struct ShakyPort<P> {
    port: P,
    injector: Arc<Injector>,
    worker: u32,
}

impl<P: Port> Port for ShakyPort<P> {
    fn now(&mut self) -> Nanos {
        self.port.now()
    }

    fn submit(&mut self) -> Result<(), PortError> {
        self.port.submit()
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        let before = into.len();
        self.port.reap(wait, into)?;
        if into.len() == before {
            return Ok(());
        }
        std::thread::sleep(CALL);
        if self.injector.meets(self.worker, Moment::Call) {
            // A call of the kernel is not cut.
            self.injector.strike(&AtomicBool::new(false));
            let gone = Ended::Failed { errno: libc::ENODEV };
            into[before..].iter_mut().for_each(|completion| completion.outcome = gone);
        }
        Ok(())
    }
}

impl<P: StoragePort> StoragePort for ShakyPort<P> {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.port.buffer(slot)
    }

    fn stage(&mut self, slot: u32, operation: &Operation, durable: bool) {
        self.port.stage(slot, operation, durable);
    }
}

impl<P> Drop for ShakyPort<P> {
    fn drop(&mut self) {
        if self.injector.point.fault != Fault::Stopped && self.injector.meets(self.worker, Moment::Close) {
            self.injector.strike(&AtomicBool::new(false));
        }
    }
}

/// The driver of one worker.
fn driver(injector: &Arc<Injector>, stream: StreamOf<'_>, place: crate::worker::assign::Place) -> Driver {
    let (injector, worker) = (injector.clone(), place.worker);
    let work = stream.storage_work(Bytes::gib(1), place).unwrap();
    let door = Door(injector.clone(), worker);
    let steps = vec![0; place.slots as usize];
    let business = Box::new(Deals { injector: injector.clone(), worker, steps });
    let transactions = Transactions { business, tries: 1, stops: false, profile: Profile::default() };
    Box::new(move |share: Share, start: &Start| {
        if injector.meets(worker, Moment::Ready) {
            let Failure { text, .. } = injector.strike(&AtomicBool::new(false));
            return Err(TrialError::Resource { action: "getting ready", source: std::io::Error::other(text) });
        }
        let door = Arc::new(door);
        let reconnect = Reconnect {
            database: Some(door.clone()),
            served: Arc::new(true.into()),
            texts: Texts::none(Engine::Postgres),
            how: how(),
            patience: Duration::ZERO,
        };
        let asked = TransactionWork::default();
        match injector.point.road {
            Road::Threads => session::drive(Door::session(&door), reconnect, transactions, asked, share, start),
            Road::Wires => {
                let conversations = vec![Door::conversation(&door)];
                connections::drive(conversations, reconnect, transactions, asked, share, start)
            }
            Road::Storage => {
                let port = NullPort::new(start.ready()?, share.slots());
                let mut port = ShakyPort { port, injector: injector.clone(), worker };
                share.drive(&mut port, work, &start.halt)
            }
        }
    })
}

/// What a trial came to, and how long after a stop.
struct Came {
    outcome: Outcome,
    ended: Result<(), TrialError>,
    met: bool,
    stopped_for: Option<Nanos>,
}

/// Runs the trial of a point.
fn come_to(point: Point, opened: &Opened, patience: Patience) -> Came {
    let (injector, trial, stop) = (Injector::new(point), point.trial(), Arc::new(AtomicBool::new(false)));
    let clock = WallClock::new();
    let mut collector = Collector::default();
    let shares = assign(&trial, &mut collector, |stream| {
        let injector = injector.clone();
        Ok(Carriers::new(WORKERS, move |place| Ok(driver(&injector, stream, place))))
    });
    let stopped_at = Arc::new(AtomicU64::new(u64::MAX));
    if let Some(after) = point.stop {
        let (stop, stopped_at, clock) = (stop.clone(), stopped_at.clone(), clock.clone());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_nanos(after.0));
            stopped_at.store(clock.now().0, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
        });
    }
    let watchers = Watchers { observer: &mut Unobserved, stop: &stop, enough: &mut |_| false };
    let (outcome, ended) = run_with(patience, opened, &trial, shares.unwrap(), collector, watchers);
    let (now, stopped_at) = (clock.now().0, stopped_at.load(Ordering::Relaxed));
    injector.released.store(true, Ordering::Relaxed);
    let stopped_for = (stopped_at <= now).then(|| Nanos(now - stopped_at));
    Came { outcome, ended, met: injector.met.load(Ordering::Relaxed), stopped_for }
}

/// Holds what a trial came to against what went wrong in it.
fn judge(point: Point, came: &Came) {
    let Came { outcome, ended, met, stopped_for } = came;
    let account = outcome.seen.accounts[0];
    let words = || format!("{point:?}\n{ended:?}\n{account:?}\n{:?}", outcome.seen.events);
    assert!(account.closes(), "an arrival is missing: {}", words());
    if stopped_for.is_some() && matches!(ended, Err(TrialError::Stopped)) {
        return;
    }
    let fits = match (point.fault, point.phase, point.road) {
        _ if !met => ended.is_ok(),
        // Whoever opens a session again is no worker, and nobody waits for it behind the deadline.
        (Fault::Panic | Fault::Lost, Phase::Reopening, _) => matches!(ended, Ok(()) | Err(TrialError::Gone { .. })),
        (Fault::Panic, ..) => matches!(ended, Err(TrialError::Panicked { .. })),
        (Fault::Lost, Phase::Ready, _) => matches!(ended, Err(TrialError::Resource { .. })),
        (Fault::Lost, Phase::Closing, _) => ended.is_ok(),
        (Fault::Lost, _, Road::Storage) => matches!(ended, Err(TrialError::Gone { .. })),
        (Fault::Lost, ..) => ended.is_ok(),
        (_, Phase::Ready | Phase::Closing, _) => matches!(ended, Err(TrialError::Hung { .. })),
        // It is waited for to the end, which comes.
        (_, Phase::Reopening, _) | (_, _, Road::Wires) => ended.is_ok(),
        (Fault::Hang | Fault::Stopped, _, Road::Threads) => ended.is_ok(),
        (Fault::Stuck, ..) | (_, _, Road::Storage) => matches!(ended, Err(TrialError::Hung { .. })),
    };
    assert!(fits, "{}", words());
    if ended.is_ok() && point.open {
        assert_eq!(account.planned, ARRIVALS, "{}", words());
    }
}

/// Runs so many points, several at a time. Answers with the longest time that a stop took.
fn injected(points: impl Iterator<Item = Point> + Send + 'static, patience: Patience) -> Nanos {
    let (points, (sender, results)) = (Arc::new(Mutex::new(points)), channel());
    for _ in 0..8 {
        let (points, sender) = (points.clone(), sender.clone());
        std::thread::spawn(move || {
            let opened = sample::open(Place::Null, 1, Bytes::gib(1), None).unwrap();
            loop {
                let Some(point) = points.lock().unwrap().next() else { return };
                if sender.send((point, None)).is_err() {
                    return;
                }
                let came = come_to(point, &opened, patience);
                let _ = sender.send((point, Some(came)));
            }
        });
    }
    drop(sender);
    let (mut under_way, mut longest, mut met, mut all) = (Vec::<Point>::new(), Nanos::ZERO, 0, 0);
    loop {
        match results.recv_timeout(LIMIT) {
            Ok((point, None)) => under_way.push(point),
            Ok((point, Some(came))) => {
                under_way.retain(|other| other.seed != point.seed);
                judge(point, &came);
                (met, all) = (met + u32::from(came.met), all + 1);
                longest = longest.max(came.stopped_for.unwrap_or_default());
            }
            Err(_) if under_way.is_empty() => break,
            Err(_) => panic!("these never ended: {under_way:#?}"),
        }
    }
    assert!(met > all / 3, "only {met} of {all} went wrong");
    longest
}

#[test]
fn whatever_goes_wrong_at_two_hundred_points_of_a_trial_it_ends_and_every_arrival_is_accounted_for() {
    injected((0..200).map(Point::numbered), SHORT);
}

/// With the patience of real trials, each of which somebody stops.
#[test]
#[ignore = "measures time: cargo nextest run -p engine --run-ignored only a_stop_ends --no-capture"]
fn a_stop_ends_a_trial_within_two_seconds_whatever_goes_wrong() {
    let stopped = |seed| {
        let point = Point::numbered(seed);
        Point { stop: Some(point.stop.unwrap_or(point.at)), ..point }
    };
    let longest = injected((0..400).map(stopped), Patience::default());
    assert!(longest < Nanos::from_secs(2), "{longest:?}");
    let mut told = std::io::stderr().lock();
    let _ = writeln!(told, "the longest of 400 stops took {}", units::duration(longest));
}
