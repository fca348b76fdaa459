//! From the gate to the end: a worker gets ready, waits for the others, drives its lane, and reports.

use crate::TrialError;
use crate::hot::cpu::{ThreadCpu, ThreadUse};
use crate::hot::drive::{Driven, Ending, drive};
use crate::hot::lane::{Lane, Work};
use crate::hot::noticed::Noticed;
use crate::worker::assign::{Share, window};
use crate::worker::calls::Calls;
use crate::worker::rings::RingUse;
use crate::worker::thread;
use crate::worker::transactions::Transactions;
use load::{Kept, Load, Machine, Pacing};
use observation::Account;
use recorder::{Clock, Recorder, Unbalanced, WallClock};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use study::Trial;
use system::{Port, PortError};
use units::Nanos;

/// What a worker does with its share, on a thread of its own: it prepares a port, stands ready, and drives to the end.
pub(crate) type Driver = Box<dyn FnOnce(Share, &Start) -> Result<Return, TrialError> + Send>;

/// When the trial begins, on the machine's clock; nothing when somebody could not get ready.
pub(crate) type Gate = OnceLock<Option<Nanos>>;

/// What a worker brings home.
pub(crate) struct Return {
    pub(crate) stream: u16,
    pub(crate) account: Result<Account, Unbalanced>,
    pub(crate) noticed: Noticed,
    /// The errno after which no further operation could succeed.
    pub(crate) gone: Option<i32>,
    /// What the worker's thread took in the window.
    pub(crate) used: ThreadUse,
    /// When it was through, on the trial's clock.
    pub(crate) ended: Nanos,
    /// When each of its slots had done the last of the work itself, which is that of the first class.
    pub(crate) worked_until: Vec<Nanos>,
    /// When the last operation of the stream came back or was given up.
    pub(crate) last: Nanos,
    /// How what it carried by the clock kept up.
    pub(crate) kept: Vec<Kept>,
    /// Its ring, when it had one.
    pub(crate) ring: Option<RingUse>,
    /// Its transactions, with the workload's own memory of them.
    pub(crate) transactions: Option<Transactions>,
}

/// What a worker says.
pub(crate) enum Word {
    /// It stands at the gate.
    Ready,
    /// It is through; or it could not get ready, or its port broke.
    Home(Result<Box<Return>, TrialError>),
}

/// How a worker's trial begins, and how it may be cut short. It belongs to the worker, who may be left behind.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) clock: WallClock,
    pub(crate) gate: Arc<Gate>,
    pub(crate) halt: Arc<AtomicBool>,
    /// Where it says how its calls are cut.
    pub(crate) calls: Calls,
    pub(crate) words: Sender<Word>,
}

/// The machine's clock, counted from the start of the trial.
#[derive(Clone)]
pub(crate) struct TrialClock {
    clock: WallClock,
    zero: Nanos,
}

impl Clock for TrialClock {
    #[inline]
    fn now(&self) -> Nanos {
        // Before the trial begins it stays at zero; nothing is issued then.
        self.clock.now().saturating_sub(self.zero)
    }

    fn pass(&self, at: Nanos) {
        self.clock.pass(at.saturating_add(self.zero));
    }
}

impl Start {
    /// Says that everything is prepared, and waits for the beginning.
    pub(crate) fn ready(&self) -> Result<TrialClock, TrialError> {
        self.say(Word::Ready);
        let zero = self.gate.wait().ok_or(TrialError::Stopped)?;
        while self.clock.now() < zero {
            std::hint::spin_loop();
        }
        Ok(TrialClock { clock: self.clock.clone(), zero })
    }

    fn say(&self, word: Word) {
        // A coordinator that has left no longer listens; there is nobody else to tell.
        let _ = self.words.send(word);
    }
}

/// Runs a worker to its end, on the thread that calls; everything that it has to say goes through the channel.
pub(crate) fn run(share: Share, driver: Driver, start: &Start) {
    thread::exact_timers();
    let worker = share.number;
    let placed = thread::place(share.threads.cpus, share.threads.pin.then_some(worker))
        .map_err(|source| TrialError::Resource { action: "keeping a worker on its `cpus`", source });
    let prioritised = placed.and_then(|()| {
        thread::prioritise(share.priority)
            .map_err(|source| TrialError::Resource { action: "setting the I/O priority", source })
    });
    // A worker that ends without a word would keep everybody waiting. What it worked with is given up with it.
    let driven = catch_unwind(AssertUnwindSafe(|| prioritised.and_then(|()| driver(share, start))));
    let home = driven.unwrap_or_else(|panic| Err(TrialError::Panicked { worker, what: said(&*panic) }));
    start.calls.are_cut_by(worker, None);
    start.say(Word::Home(home.map(Box::new)));
}

/// The words of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a word").to_owned()
}

impl Share {
    /// Drives this share alone over a port. The load is matched once, so that the loop is compiled for its kind.
    pub(crate) fn drive<P: Port, W: Work<P>>(
        self,
        port: &mut P,
        work: W,
        halt: &AtomicBool,
    ) -> Result<Return, TrialError> {
        let Share { stream, recorder, load, threads, batch, window, deadline, .. } = self;
        let ending = Ending { deadline, stop: halt, pacing: threads.pacing, window };
        match load {
            Machine::Closed(load) => alone(stream, port, Lane::new(load, recorder, work, 0).in_batches(batch), ending),
            Machine::Open(load) => alone(stream, port, Lane::new(load, recorder, work, 0).in_batches(batch), ending),
            Machine::Shared(load) => alone(stream, port, Lane::new(load, recorder, work, 0).in_batches(batch), ending),
            Machine::Clocked(load) => alone(stream, port, Lane::new(load, recorder, work, 0).in_batches(batch), ending),
        }
    }
}

fn alone<P: Port, L: Load, W: Work<P>>(
    stream: u16,
    port: &mut P,
    lane: Lane<L, W>,
    ending: Ending<'_>,
) -> Result<Return, TrialError> {
    let slots = lane.slots();
    let (_, mut home) = Lanes { lanes: vec![lane], streams: vec![stream], ending, slots }.drive(port)?;
    Ok(home.remove(0))
}

/// Lanes that share one port.
pub(crate) struct Lanes<'a, L, W> {
    lanes: Vec<Lane<L, W>>,
    /// Which stream each lane is of.
    streams: Vec<u16>,
    ending: Ending<'a>,
    /// Slots of all lanes.
    pub(crate) slots: u32,
}

impl<'a, W> Lanes<'a, Machine, W> {
    /// One lane for each share of a trial. How the first stream waits decides for all, which have one time.
    pub(crate) fn of(trial: &Trial, shares: Vec<(Share, W)>, stop: &'a AtomicBool) -> Lanes<'a, Machine, W> {
        let window = window(trial);
        let pacing = trial.streams.first().map_or(Pacing::Sleep, |stream| stream.threads.pacing);
        let ending = Ending { deadline: window.end + trial.phases.drain, stop, pacing, window };
        let mut all = Lanes { lanes: Vec::new(), streams: Vec::new(), ending, slots: 0 };
        for (share, work) in shares {
            all.streams.push(share.stream);
            let lane = Lane::new(share.load, share.recorder, work, all.slots);
            all.slots += lane.slots();
            all.lanes.push(lane);
        }
        all
    }
}

impl<L: Load, W> Lanes<'_, L, W> {
    /// How many slots each lane has, in their order.
    pub(crate) fn slots_of_each(&self) -> Vec<u32> {
        self.lanes.iter().map(Lane::slots).collect()
    }

    /// Drives the lanes over a port to their end, and closes the books of each.
    pub(crate) fn drive<P: Port>(mut self, port: &mut P) -> Result<(Driven, Vec<Return>), PortError>
    where
        W: Work<P>,
    {
        let mut cpu = ThreadCpu::new(self.ending.window);
        let driven = drive(port, &mut self.lanes, self.ending, &mut cpu)?;
        let (ended, gone) = match driven {
            Driven::Finished { at } => (at, None),
            Driven::Stopped => (port.now(), None),
            Driven::Gone { errno } => (port.now(), Some(errno)),
        };
        let used = cpu.used();
        let home = self.streams.into_iter().zip(self.lanes).map(|(stream, lane)| {
            let Lane { load, recorder, work, worked_until, last, .. } = lane;
            let (account, noticed, kept) = (close(recorder, &load), work.into_noticed(), load.kept());
            Return {
                stream,
                account,
                noticed,
                gone,
                used,
                ended,
                last,
                worked_until,
                kept,
                ring: None,
                transactions: None,
            }
        });
        Ok((driven, home.collect()))
    }
}

/// Closes the books of one worker against the load's own count.
pub(crate) fn close<L: Load>(recorder: Recorder, load: &L) -> Result<Account, Unbalanced> {
    let books = load.books();
    let mut account = recorder.finish(books.planned)?;
    account.think_ns = books.think_ns;
    account.slots_ns = books.slots_ns;
    Ok(account)
}
