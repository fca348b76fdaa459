//! Reads, writes and flushes of an emulated device.
//!
//! The one idea: data moves at once, the answer waits for the machine. Faults stand in front of both.

use crate::clockwork::{Clockwork, Finish};
use crate::fault::Fault;
use crate::locked;
use crate::place::Places;
use crate::tree::Node;
use crate::volatile::Volatile;
use fuser::Errno;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use units::Nanos;
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
    read_error: Option<u64>,
}

/// What stands behind a mount.
pub(crate) struct Device {
    /// None where the model adds nothing.
    clockwork: Option<Clockwork>,
    places: Mutex<Places>,
    memory: Arc<Mutex<Volatile>>,
    faults: Arc<Mutex<Faults>>,
    /// Whether the machine takes part; before, every operation passes at once.
    begun: AtomicBool,
    /// What is never answered.
    hung: Mutex<Vec<Finish>>,
}

/// A backing file's error as the kernel is told.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_i32)
}

impl Device {
    pub(crate) fn new(clockwork: Option<Clockwork>, places: Places, memory: Volatile) -> Device {
        Device {
            clockwork,
            places: Mutex::new(places),
            memory: Arc::new(Mutex::new(memory)),
            faults: Arc::default(),
            begun: AtomicBool::new(false),
            hung: Mutex::default(),
        }
    }

    /// From now on operations take their time. The way through the kernel takes so much of it, there and back.
    pub(crate) fn begin(&self, way: Nanos) {
        self.clockwork.iter().for_each(|clockwork| clockwork.set_way(way));
        self.begun.store(true, Ordering::Release);
    }

    /// Does something to the device.
    pub(crate) fn fault(&self, fault: Fault) -> Result<(), Errno> {
        let mut faults = locked(&self.faults);
        match fault {
            Fault::PowerLoss => {
                faults.lost = true;
                locked(&self.memory).lose().map_err(|error| errno(&error))?;
            }
            Fault::Lie => faults.lie = true,
            Fault::Full => faults.full = true,
            Fault::Hang => faults.hang = true,
            Fault::ReadError(at) => faults.read_error = Some(at),
            Fault::Slow(times) => self.slow(times),
            Fault::None => {
                *faults = Faults { lost: faults.lost, ..Faults::default() };
                self.slow(1.0);
                locked(&self.hung).drain(..).for_each(|finish| finish());
            }
        }
        Ok(())
    }

    fn slow(&self, times: f64) {
        self.clockwork.iter().for_each(|clockwork| clockwork.set_slow(times));
    }

    /// Reads up to so many bytes.
    pub(crate) fn read(&self, node: &Node, offset: u64, bytes: u32, answer: Answer<Vec<u8>>) {
        let came = self.now();
        let read = self.allowed(|faults| {
            let end = offset + u64::from(bytes);
            faults.read_error.is_none_or(|at| !(offset..end).contains(&at)).then_some(()).ok_or(Errno::EIO)
        });
        let read = read.and_then(|()| {
            let mut data = vec![0; bytes as usize];
            let length = filled(&*node.file().map_err(|error| errno(&error))?, &mut data, offset)?;
            data.truncate(length);
            Ok(data)
        });
        self.carry(came, OperationKind::Read, node.number, (offset, u64::from(bytes)), Box::new(move || answer(read)));
    }

    /// Writes; `durable` waits until it is.
    pub(crate) fn write(&self, node: &Node, offset: u64, data: &[u8], durable: bool, answer: Answer<u32>) {
        let came = self.now();
        let bytes = data.len() as u32;
        let written = self.room().and_then(|()| {
            let file = node.file().map_err(|error| errno(&error))?;
            locked(&self.memory).write(&file, offset, data).map_err(|error| errno(&error))?;
            Ok(bytes)
        });
        let settle = self.settle(durable);
        let finish = move || answer(written.and_then(|written| settle().map(|()| written)));
        self.carry(came, OperationKind::Write, node.number, (offset, u64::from(bytes)), Box::new(finish));
    }

    /// Makes all durable that was written.
    pub(crate) fn flush(&self, answer: Answer<()>) {
        let came = self.now();
        let allowed = self.allowed(|_| Ok(()));
        let settle = self.settle(true);
        self.carry(came, OperationKind::Sync, 0, (0, 0), Box::new(move || answer(allowed.and_then(|()| settle()))));
    }

    /// A file was cut to a size.
    pub(crate) fn cut(&self, file: &Arc<File>, size: u64) {
        locked(&self.memory).cut(file, size);
    }

    /// A file is gone.
    pub(crate) fn forget(&self, number: u64) {
        locked(&self.places).forget(number);
    }

    /// Whether names and sizes can be looked at and changed.
    pub(crate) fn alive(&self) -> Result<(), Errno> {
        self.allowed(|_| Ok(()))
    }

    /// Whether it has room for more.
    pub(crate) fn room(&self) -> Result<(), Errno> {
        self.allowed(|faults| if faults.full { Err(Errno::ENOSPC) } else { Ok(()) })
    }

    fn now(&self) -> Nanos {
        self.clockwork.as_ref().map_or(Nanos::ZERO, Clockwork::now)
    }

    fn allowed(&self, also: impl FnOnce(&Faults) -> Result<(), Errno>) -> Result<(), Errno> {
        let faults = locked(&self.faults);
        if faults.lost { Err(Errno::EIO) } else { also(&faults) }
    }

    /// What makes durable when an operation is over; it fails where the power was lost meanwhile.
    fn settle(&self, durable: bool) -> impl FnOnce() -> Result<(), Errno> + Send + use<> {
        let (memory, faults) = (self.memory.clone(), self.faults.clone());
        move || {
            let faults = locked(&faults);
            if faults.lost {
                return Err(Errno::EIO);
            }
            if durable && !faults.lie {
                locked(&memory).flush();
            }
            Ok(())
        }
    }

    /// Has the machine carry out what touches a stretch of a file; `finish` comes when all of it is done.
    fn carry(&self, came: Nanos, kind: OperationKind, file: u64, (offset, bytes): (u64, u64), finish: Finish) {
        if locked(&self.faults).hang {
            return locked(&self.hung).push(finish);
        }
        let begun = self.begun.load(Ordering::Acquire);
        let Some(clockwork) = self.clockwork.as_ref().filter(|_| begun) else { return finish() };
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
        let left = Arc::new((AtomicUsize::new(all.len()), Mutex::new(Some(finish))));
        for operation in all {
            let left = left.clone();
            let done = move || {
                if left.0.fetch_sub(1, Ordering::AcqRel) == 1
                    && let Some(finish) = locked(&left.1).take()
                {
                    finish();
                }
            };
            clockwork.ask(came, operation, Box::new(done));
        }
    }
}

/// Reads until the buffer is full or the file ends; answers with how much there was.
fn filled(file: &File, data: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let mut length = 0;
    while length < data.len() {
        match file.read_at(&mut data[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(errno(&error)),
        }
    }
    Ok(length)
}
