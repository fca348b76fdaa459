//! One worker: gets ready, waits at the gate, drives its lane to the end, and reports.

use crate::TrialError;
use crate::hot::cpu::ThreadCpu;
use crate::hot::drive::{Driven, Ending, drive};
use crate::hot::lane::Lane;
use crate::hot::task::{Noticed, Task};
use crate::port::blocking::Plain;
use crate::port::connections::{Line, WirePort};
use crate::port::files;
use crate::port::reconnect::Again;
use crate::port::session::{SessionPort, Work};
use crate::port::uring::{Ring, RingSpec};
use crate::trial::coordinator::Word;
use crate::trial::start_gate::{Gate, Go};
use crate::trial::thread;
use database::Session;
use load::{Load, Machine};
use observation::{Account, CpuTime, Window};
use recorder::{Clock, Recorder, Unbalanced, WallClock};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use system::Port;
use system::null::NullPort;
use units::Nanos;

/// Everything one worker is given.
pub(crate) struct Assignment {
    pub(crate) stream: u16,
    pub(crate) recorder: Recorder,
    pub(crate) road: Road,
    pub(crate) task: Task,
    pub(crate) load: Machine,
    pub(crate) access: study::Access,
    /// Number of the worker in the trial.
    pub(crate) worker: u32,
    /// The measured window.
    pub(crate) window: Window,
    /// When waiting for what is still out ends.
    pub(crate) deadline: Nanos,
}

/// How a worker reaches the system.
pub(crate) enum Road {
    Null,
    Ring(RingSpec),
    Plain {
        files: Vec<RawFd>,
        transfer_max: u64,
    },
    Files(FileWork),
    /// One blocking session.
    Session(Box<dyn Session>, Again, Work),
    /// Many conversations over one ring.
    Wires(Vec<Line>, Again, Work),
}

/// One copy of the loop over whole files.
pub(crate) struct FileWork {
    pub(crate) spec: workload::files::Spec,
    pub(crate) copy: u32,
    /// Number of the worker in the trial: two streams may both have a first copy.
    pub(crate) worker: u32,
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) direct: bool,
}

/// What a worker brings home.
pub(crate) struct Return {
    pub(crate) stream: u16,
    pub(crate) account: Result<Account, Unbalanced>,
    pub(crate) noticed: Noticed,
    pub(crate) gone: Option<i32>,
    /// CPU of the worker's thread in the window.
    pub(crate) cpu: CpuTime,
    /// When it was through, on the trial's clock.
    pub(crate) ended: Nanos,
    /// Its transactions, with the workload's own memory of them.
    pub(crate) work: Option<Work>,
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

/// Runs a worker to its end; everything that it has to say goes through the sender.
pub(crate) fn run(assignment: Assignment, clock: WallClock, gate: &Gate, halt: &AtomicBool, words: &Sender<Word>) {
    let word = match work(assignment, clock, gate, halt, words) {
        Ok(Some(home)) => Word::Home(Box::new(home)),
        Ok(None) => return,
        Err(error) => Word::Lost(error),
    };
    // A coordinator that has left no longer listens; there is nobody else to tell.
    let _ = words.send(word);
}

/// Prepares what can fail, says so, and waits for the beginning. `None` is the word to go home.
fn stand_ready(clock: &WallClock, gate: &Gate, words: &Sender<Word>) -> Option<TrialClock> {
    let _ = words.send(Word::Ready);
    match gate.pass() {
        Go::At(zero) => {
            let clock = TrialClock { clock: clock.clone(), zero };
            while clock.clock.now() < zero {
                std::hint::spin_loop();
            }
            Some(clock)
        }
        Go::Home => None,
    }
}

fn work(
    mut assignment: Assignment,
    clock: WallClock,
    gate: &Gate,
    halt: &AtomicBool,
    words: &Sender<Word>,
) -> Result<Option<Return>, TrialError> {
    let resource = |action| move |source| TrialError::Resource { action, source };
    thread::exact_timers();
    if assignment.access.pin {
        thread::pin(assignment.worker);
    }
    thread::prioritise(assignment.access.priority).map_err(resource("setting the I/O priority"))?;
    let slots = assignment.load.slots();
    match std::mem::replace(&mut assignment.road, Road::Null) {
        Road::Null => {
            let Some(clock) = stand_ready(&clock, gate, words) else { return Ok(None) };
            finish(assignment, &mut NullPort::new(clock, slots), halt).map(Some)
        }
        Road::Ring(spec) => {
            let mut ring = Ring::new(spec).map_err(resource("building an io_uring"))?;
            let Some(clock) = stand_ready(&clock, gate, words) else { return Ok(None) };
            finish(assignment, &mut ring.port(clock), halt).map(Some)
        }
        Road::Plain { files, transfer_max } => {
            let mut plain = Plain::new(files, transfer_max).map_err(resource("allocating a buffer"))?;
            let Some(clock) = stand_ready(&clock, gate, words) else { return Ok(None) };
            finish(assignment, &mut plain.port(clock), halt).map(Some)
        }
        Road::Files(work) => files::work(assignment, work, |words| stand_ready(&clock, gate, words), halt, words),
        Road::Session(session, again, work) => {
            let Some(clock) = stand_ready(&clock, gate, words) else { return Ok(None) };
            let mut port = SessionPort::new((session, again), work, clock, slots);
            let home = finish(assignment, &mut port, halt)?;
            Ok(Some(Return { work: Some(port.dismantle()), ..home }))
        }
        Road::Wires(lines, again, work) => {
            let Some(clock) = stand_ready(&clock, gate, words) else { return Ok(None) };
            let mut port =
                WirePort::new((lines, again), work, clock, slots).map_err(resource("building an io_uring"))?;
            let home = finish(assignment, &mut port, halt)?;
            Ok(Some(Return { work: port.dismantle(), ..home }))
        }
    }
}

/// Drives the lane; the load is matched once, so that the loop is compiled for its kind.
fn finish<P: Port>(assignment: Assignment, port: &mut P, halt: &AtomicBool) -> Result<Return, TrialError> {
    let Assignment { stream, recorder, task, load, access, window, deadline, .. } = assignment;
    let ending = Ending { deadline, stop: halt, pacing: access.pacing, window };
    match load {
        Machine::Closed(load) => to_the_end(stream, port, Lane::new(load, recorder, task, 0), ending),
        Machine::Open(load) => to_the_end(stream, port, Lane::new(load, recorder, task, 0), ending),
    }
}

fn to_the_end<P: Port, L: Load>(
    stream: u16,
    port: &mut P,
    lane: Lane<L>,
    ending: Ending<'_>,
) -> Result<Return, TrialError> {
    let (mut lanes, mut cpu) = ([lane], ThreadCpu::new(ending.window));
    let driven = drive(port, &mut lanes, ending, &mut cpu)?;
    let (ended, cpu) = (port.now(), cpu.used());
    let [lane] = lanes;
    let (load, recorder, task) = lane.dismantle();
    let (ended, gone) = match driven {
        Driven::Finished { at } => (at, None),
        Driven::Stopped => (ended, None),
        Driven::Gone { errno } => (ended, Some(errno)),
    };
    Ok(Return { stream, account: close(recorder, &load), noticed: task.noticed, gone, cpu, ended, work: None })
}

/// Closes the books of one worker against the load's own count.
pub(crate) fn close<L: Load>(recorder: Recorder, load: &L) -> Result<Account, Unbalanced> {
    let books = load.books();
    let mut account = recorder.finish(books.planned)?;
    account.think_ns = books.think_ns;
    account.slots_ns = books.slots_ns;
    Ok(account)
}
