//! What a request takes on its way through the kernel, there and back.
//!
//! The one idea: it is measured at a mount of its own, in a folder that only this user may pass and that is gone before the device can be
//! seen. A process that waits for an answer of its own is not killed by `kill -9`: it waits on, and holds what would have ended its mount.
//! So another process asks, which has nothing open of what serves, and fails when the server is gone.

use crate::mounts::{detached, is_device};
use model::machine::{Ended, Machine};
use recorder::{Clock, WallClock};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use units::Nanos;
use workload::{Operation, OperationKind};

/// Operations that a machine holds at once; more wait before it.
pub(crate) const SLOTS: u32 = 1024;

/// Bytes of a module of a model that does not say.
pub(crate) const MODULE_BYTES: u64 = 1 << 40;

/// How often it is measured.
const WAYS: usize = 201;

/// Has another process measure the ways of reads and of writes at a mount.
pub type Measured = fn(&Path) -> io::Result<[Nanos; 2]>;

/// What a read and a write take beyond the time of a device that is as slow as those that are emulated: the medians of many. With
/// one that answers at once no core would fall asleep in between. The mount is taken away as soon as its file is open.
///
/// # Errors
/// When nothing is mounted there, or it does not answer.
pub fn measure(at: &Path) -> io::Result<[Nanos; 2]> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    if !is_device(at) {
        return Err(io::ErrorKind::NotConnected.into());
    }
    let path = at.join(format!(".prony-way-{}", std::process::id()));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?);
    std::fs::remove_file(&path)?;
    // Nothing is left then when the server is killed. Who is not root leaves that to the server.
    let _ = detached(at);
    let ways = [OperationKind::Read, OperationKind::Write].map(|kind| -> io::Result<Nanos> {
        let alone = alone(kind).ok_or(io::ErrorKind::NotFound)?;
        Ok(typical(&file, kind)?.saturating_sub(alone))
    });
    let [read, write] = ways;
    Ok([read?, write?])
}

/// The machine by which the way through the kernel is measured: one whose times never vary.
pub(crate) fn steady() -> Option<Box<dyn Machine>> {
    let shipped = model::models().iter().find(|shipped| shipped.name == "f5100")?;
    let model = model::file::read(shipped.name, shipped.text).ok()?;
    let setting = model::Setting { modules: 1, slots: SLOTS, module_bytes: MODULE_BYTES, ..model::Setting::default() };
    model::machine(&model, &setting).ok()
}

/// How long an operation takes there.
fn alone(kind: OperationKind) -> Option<Nanos> {
    let (mut machine, mut ended) = (steady()?, Vec::new());
    let operation = Operation { kind, class: 0, module: 0, offset: 0, bytes: 4096 };
    // The second follows one of its kind.
    let first = ends(&mut *machine, &operation, Nanos::ZERO, &mut ended);
    Some(ends(&mut *machine, &operation, first, &mut ended) - first)
}

/// When an operation ends that is all the work of a machine.
pub(crate) fn ends(machine: &mut dyn Machine, operation: &Operation, at: Nanos, ended: &mut Vec<Ended>) -> Nanos {
    ended.clear();
    machine.submit(at, 0, operation);
    machine.advance(Nanos(u64::MAX - 1), ended)
}

/// The median time of many operations of one page past the page cache.
fn typical(file: &File, kind: OperationKind) -> io::Result<Nanos> {
    let mut room = vec![0u8; 8192];
    let from = room.as_ptr().align_offset(4096);
    let page = &mut room[from..from + 4096];
    file.write_all_at(page, 0)?;
    let clock = WallClock::new();
    let mut taken = Vec::with_capacity(WAYS);
    for _ in 0..WAYS {
        let before = clock.now();
        match kind {
            OperationKind::Read => file.read_exact_at(page, 0)?,
            _ => file.write_all_at(page, 0)?,
        }
        taken.push(clock.now() - before);
    }
    taken.sort_unstable();
    Ok(taken[WAYS / 2])
}
