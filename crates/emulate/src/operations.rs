//! Reads, writes and flushes of an emulated device.
//!
//! The one idea: data moves at once, the answer waits for the machine. Faults stand in front of both.

use crate::clockwork::{Clockwork, Finish, Order};
use crate::locked;
use crate::place::Places;
use crate::tree::{Node, filled};
use crate::volatile::Volatile;
use fuser::Errno;
use rustix::fs::FallocateFlags;
use std::collections::BTreeSet;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use units::Nanos;
use workload::happening::{Fault, Happening, Lost};
use workload::{Operation, OperationKind};

/// How an operation ended.
pub(crate) type Answer<T> = Box<dyn FnOnce(Result<T, Errno>) + Send>;

/// Faults that are on.
#[derive(Debug, Default)]
struct Faults {
    lost: bool,
    lie: bool,
    full: bool,
    hang: bool,
    read_errors: BTreeSet<u64>,
}

/// What stands behind a mount.
pub(crate) trait Serves: Send + Sync {
    /// Reads up to so many bytes.
    fn read(&self, node: &Node, offset: u64, bytes: u32, answer: Answer<Vec<u8>>);

    /// Writes; `durable` waits until it is.
    fn write(&self, node: &Node, offset: u64, data: &[u8], durable: bool, answer: Answer<u32>);

    /// Makes all durable that was written.
    fn flush(&self, answer: Answer<()>);

    /// Cuts a file to a size, or makes it longer.
    fn cut(&self, node: &Node, size: u64) -> std::io::Result<()>;

    /// A file was made at least so long by somebody who wrote nothing.
    fn reserved(&self, file: &File, size: u64);

    /// A file is gone.
    fn forget(&self, node: &Node);

    /// Whether names and sizes can be looked at and changed.
    fn alive(&self) -> Result<(), Errno>;

    /// Whether it has room for more.
    fn room(&self) -> Result<(), Errno>;

    /// Something happens to it; it is refused where its model has no such part.
    fn happen(&self, what: Happening) -> Result<(), Errno>;

    /// Which parts it has lost.
    fn lost(&self) -> String;

    /// How many operations were answered so far, and how many of them later than the model says.
    fn answers(&self) -> [u64; 2];

    /// What its model lets happen: a line each, with a tab before the number of its parts.
    fn knows(&self) -> String;

    /// Makes zeros of a stretch in the middle of a file, as `fallocate` does in this way; refused where its bytes may lie elsewhere.
    fn hollow(&self, _: &Arc<File>, _: (u64, u64), _: FallocateFlags) -> std::io::Result<()> {
        Err(rustix::io::Errno::OPNOTSUPP.into())
    }

    /// A page of what is known of the heat of files.
    fn heat(&self, _page: usize) -> Option<Vec<u8>> {
        None
    }
}

/// What would bring back a part that was not lost, or lose one once more.
pub(crate) const IDLE: Errno = Errno::EALREADY;

/// A device: what serves a folder, or one tier of two.
pub(crate) struct Device {
    /// None where the model adds nothing.
    clockwork: Option<Clockwork>,
    places: Mutex<Places>,
    pub(crate) memory: Arc<Volatile>,
    faults: Arc<RwLock<Faults>>,
    /// Whether the machine takes part; before, every operation passes at once.
    begun: AtomicBool,
    /// What is never answered.
    hung: Mutex<Vec<Finish>>,
    /// What its model lets happen.
    happens: model::kind::Happens,
    /// What it has lost; none where parts of it are lost from the beginning, and nobody knows what a spare is for.
    lost: Option<Mutex<Lost>>,
}

/// A backing file's error as the kernel is told.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_i32)
}

impl Device {
    pub(crate) fn new(
        clockwork: Option<Clockwork>,
        (happens, whole): (model::kind::Happens, bool),
        places: Places,
        memory: Arc<Volatile>,
    ) -> Device {
        Device {
            clockwork,
            places: Mutex::new(places),
            memory,
            faults: Arc::default(),
            begun: AtomicBool::new(false),
            hung: Mutex::default(),
            happens,
            lost: whole.then(Mutex::default),
        }
    }

    /// Whether operations take any time.
    pub(crate) fn takes_time(&self) -> bool {
        self.clockwork.is_some()
    }

    /// From now on operations take their time.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::Release);
    }

    /// The way of reads and of writes through the kernel takes so much of it, there and back; the device is as its model says.
    pub(crate) fn go_by(&self, ways: [Nanos; 2]) {
        if let Some(clockwork) = &self.clockwork {
            clockwork.set_ways(ways);
            clockwork.order(Order::Renew);
        }
    }

    fn fault(&self, fault: Fault) -> Result<(), Errno> {
        let mut faults = self.faults.write().unwrap_or_else(PoisonError::into_inner);
        match fault {
            Fault::PowerLoss => {
                faults.lost = true;
                self.memory.lose().map_err(|error| errno(&error))?;
            }
            Fault::PowerOn => {
                faults.lost = false;
                self.memory.power();
            }
            Fault::Lie => faults.lie = true,
            Fault::Full => faults.full = true,
            Fault::Hang => faults.hang = true,
            Fault::ReadError(at) => drop(faults.read_errors.insert(at)),
            // Nothing takes no time, and not so many times as long.
            Fault::Slow(times) => {
                self.clockwork.as_ref().ok_or(Errno::EINVAL)?.order(Order::Slow((times * 1000.0) as u64));
            }
            Fault::None => {
                *faults = Faults { lost: faults.lost, ..Faults::default() };
                self.clockwork.iter().for_each(|clockwork| clockwork.order(Order::Renew));
                self.lost.iter().for_each(|lost| *locked(lost) = Lost::default());
                // What ends asks for the faults, too.
                drop(faults);
                let hung = std::mem::take(&mut *locked(&self.hung));
                hung.into_iter().for_each(|finish| finish(true));
            }
        }
        Ok(())
    }

    /// Reads up to so many bytes of a file that the device knows by a number.
    pub(crate) fn read_from(&self, file: &Arc<File>, number: u64, offset: u64, bytes: u32, answer: Answer<Vec<u8>>) {
        let came = self.now();
        let read = self.allowed(|faults| {
            let end = offset + u64::from(bytes);
            faults.read_errors.range(offset..end).next().map_or(Ok(()), |_| Err(Errno::EIO))
        });
        let read = read.and_then(|()| {
            let mut data = vec![0; bytes as usize];
            let length = filled(file, &mut data, offset).map_err(|error| errno(&error))?;
            data.truncate(length);
            Ok(data)
        });
        let finish = move |done| answer(carried(done, read));
        self.carry(came, OperationKind::Read, number, (offset, u64::from(bytes)), Box::new(finish));
    }

    /// Writes to such a file; `durable` waits until it is.
    pub(crate) fn write_to(
        &self,
        file: &Arc<File>,
        number: u64,
        (offset, data): (u64, &[u8]),
        durable: bool,
        answer: Answer<u32>,
    ) {
        let came = self.now();
        let bytes = data.len() as u32;
        let written = self.room().and_then(|()| {
            self.memory.write(file, offset, data).map_err(|error| errno(&error))?;
            Ok(bytes)
        });
        let settle = self.settle(durable);
        let finish = move |done| {
            let written = carried(done, written);
            answer(written.and_then(|written| settle().map(|()| written)));
        };
        self.carry(came, OperationKind::Write, number, (offset, u64::from(bytes)), Box::new(finish));
    }

    /// Takes the time of an operation that moves no data here.
    pub(crate) fn spend(&self, kind: OperationKind, number: u64, (offset, bytes): (u64, u64)) -> bool {
        let (done, over) = std::sync::mpsc::channel();
        let finish = move |carried| {
            let _ = done.send(carried);
        };
        self.carry(self.now(), kind, number, (offset, bytes), Box::new(finish));
        over.recv().unwrap_or(false)
    }

    /// A file is gone, and all that is known of it.
    pub(crate) fn is_gone(&self, node: &Node) {
        locked(&self.places).forget(node.number);
        self.memory.forget(node.door());
    }

    fn now(&self) -> Nanos {
        self.clockwork.as_ref().map_or(Nanos::ZERO, Clockwork::now)
    }

    fn allowed(&self, also: impl FnOnce(&Faults) -> Result<(), Errno>) -> Result<(), Errno> {
        let faults = seen(&self.faults);
        if faults.lost { Err(Errno::EIO) } else { also(&faults) }
    }

    /// What makes durable when an operation is over; it fails where the power was lost meanwhile.
    fn settle(&self, durable: bool) -> impl FnOnce() -> Result<(), Errno> + Send + use<> {
        let (memory, faults) = (self.memory.clone(), self.faults.clone());
        move || {
            let faults = seen(&faults);
            if faults.lost {
                return Err(Errno::EIO);
            }
            if durable && !faults.lie {
                memory.flush();
            }
            Ok(())
        }
    }

    /// Has the machine carry out what touches a stretch of a file; `finish` comes when all of it is done.
    fn carry(&self, came: Nanos, kind: OperationKind, file: u64, (offset, bytes): (u64, u64), finish: Finish) {
        if seen(&self.faults).hang {
            return locked(&self.hung).push(finish);
        }
        let begun = self.begun.load(Ordering::Acquire);
        let Some(clockwork) = self.clockwork.as_ref().filter(|_| begun) else { return finish(true) };
        let operation =
            |(module, offset), bytes: u64| Operation { kind, class: 0, module, offset, bytes: bytes as u32 };
        let mut places = locked(&self.places);
        let mut pieces =
            Places::pieces(offset, bytes).map(|(at, bytes)| operation(places.of(file, at), bytes)).peekable();
        let first = pieces.next().unwrap_or(operation((0, 0), 0));
        if pieces.peek().is_none() {
            drop(pieces);
            drop(places);
            return clockwork.ask(came, first, finish);
        }
        let all: Vec<Operation> = std::iter::once(first).chain(pieces).collect();
        drop(places);
        let left = Arc::new((AtomicUsize::new(all.len()), AtomicBool::new(true), Mutex::new(Some(finish))));
        for operation in all {
            let left = left.clone();
            let done = move |carried| {
                left.1.fetch_and(carried, Ordering::AcqRel);
                if left.0.fetch_sub(1, Ordering::AcqRel) == 1
                    && let Some(finish) = locked(&left.2).take()
                {
                    finish(left.1.load(Ordering::Acquire));
                }
            };
            clockwork.ask(came, operation, Box::new(done));
        }
    }
}

impl Serves for Device {
    fn read(&self, node: &Node, offset: u64, bytes: u32, answer: Answer<Vec<u8>>) {
        match node.file() {
            Ok(file) => self.read_from(&file, node.number, offset, bytes, answer),
            Err(error) => answer(Err(errno(&error))),
        }
    }

    fn write(&self, node: &Node, offset: u64, data: &[u8], durable: bool, answer: Answer<u32>) {
        match node.file() {
            Ok(file) => self.write_to(&file, node.number, (offset, data), durable, answer),
            Err(error) => answer(Err(errno(&error))),
        }
    }

    fn flush(&self, answer: Answer<()>) {
        let came = self.now();
        let allowed = self.allowed(|_| Ok(()));
        let settle = self.settle(true);
        let finish = move |done| answer(carried(done, allowed).and_then(|()| settle()));
        self.carry(came, OperationKind::Sync, 0, (0, 0), Box::new(finish));
    }

    fn cut(&self, node: &Node, size: u64) -> std::io::Result<()> {
        let file = node.file()?;
        rustix::fs::ftruncate(&file, size)?;
        self.memory.cut(&file, size);
        Ok(())
    }

    fn reserved(&self, file: &File, size: u64) {
        self.memory.reserve(file, size);
    }

    fn hollow(&self, file: &Arc<File>, place: (u64, u64), way: FallocateFlags) -> std::io::Result<()> {
        self.memory.hollow(file, place, way)
    }

    fn forget(&self, node: &Node) {
        self.is_gone(node);
    }

    fn alive(&self) -> Result<(), Errno> {
        self.allowed(|_| Ok(()))
    }

    fn room(&self) -> Result<(), Errno> {
        self.allowed(|faults| if faults.full { Err(Errno::ENOSPC) } else { Ok(()) })
    }

    fn happen(&self, what: Happening) -> Result<(), Errno> {
        if let Happening::Fault(fault) = what {
            return self.fault(fault);
        }
        let known = self.happens.iter().find(|(word, _)| *word == what.word());
        let clockwork = self
            .clockwork
            .as_ref()
            .filter(|_| known.is_some_and(|(_, count)| what.number().is_none_or(|number| number < *count)));
        let clockwork = clockwork.ok_or(Errno::EINVAL)?;
        if self.lost.as_ref().is_some_and(|lost| !locked(lost).changes(what)) {
            return Err(IDLE);
        }
        clockwork.order(Order::Happen(what));
        Ok(())
    }

    fn lost(&self) -> String {
        self.lost.as_ref().map(|lost| locked(lost).to_string()).unwrap_or_default()
    }

    fn answers(&self) -> [u64; 2] {
        self.clockwork.as_ref().map(Clockwork::answers).unwrap_or_default()
    }

    fn knows(&self) -> String {
        self.happens.iter().map(|(word, count)| format!("{word}\t{count}\n")).collect()
    }
}

/// The faults as they are, for many at once.
fn seen(faults: &RwLock<Faults>) -> RwLockReadGuard<'_, Faults> {
    faults.read().unwrap_or_else(PoisonError::into_inner)
}

/// What the device could carry out: a part that is lost took it along.
fn carried<T>(done: bool, result: Result<T, Errno>) -> Result<T, Errno> {
    if done { result } else { Err(Errno::EIO) }
}
