//! What carries block operations to modules, be they files or devices: rings, or threads where io_uring is forbidden.

use crate::TrialError;
use crate::hot::storage::Data;
use crate::port::uring::RingSpec;
use crate::port::{blocking, uring};
use crate::target::backing::Setting;
use crate::worker::assign::{Carriers, Place, StreamOf};
use crate::worker::run::Driver;
use crate::worker::thread;
use observation::{Carrier, URING_REFUSED};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use study::{Access, RING_MAX, Stream, SyncMode, Trial};
use system::{Access as Way, Module};
use units::Bytes;
use workload::block::{self, DataPool, Generations};
use workload::kind::WORKERS_MAX;

/// How modules are reached, in words.
pub(crate) fn driver() -> String {
    match uring::probe() {
        Ok(()) => "io_uring".to_owned(),
        Err(error) => format!("plain pread and pwrite; {URING_REFUSED} ({error})"),
    }
}

/// The modules of a trial.
pub(crate) struct Modules<'a> {
    modules: &'a [Module],
    setting: &'a Setting,
    /// The map of acceptable generations, when anything that the trial writes is checked. All its streams share it.
    generations: Option<Arc<Generations>>,
}

impl<'a> Modules<'a> {
    pub(crate) fn of(modules: &'a [Module], trial: &Trial, setting: &'a Setting) -> Modules<'a> {
        let generations = setting.data.map().filter(|_| trial.watched() && !modules.is_empty());
        Modules { modules, setting, generations }
    }

    /// What carries a stream of block operations.
    pub(crate) fn carriers<'s>(&'s self, stream: StreamOf<'s>) -> Result<Carriers<'s, Driver>, TrialError> {
        let access = stream.access()?;
        let spec = stream.block_spec()?;
        if access.poll && matches!(access.sync, SyncMode::Every(_)) {
            return Err(stream.unsupported("sync through a polled ring: leave `poll` out, or sync each write"));
        }
        let trims = spec.trims.0 > 0.0;
        if trims && access.poll {
            return Err(stream.unsupported("trim through a polled ring: leave `poll` out, or `trims`"));
        }
        let measured = self.setting.alone[usize::from(access.direct)].as_ref();
        let by_plain = stream.single() && measured.is_some_and(|alone| alone.taken == Carrier::Plain);
        let ring = !by_plain && uses_ring(access.driver)?;
        let workers = if ring { stream.workers() } else { stream.stream().slots().max(1) };
        if !ring && workers > WORKERS_MAX {
            let ask = "take `driver = \"io_uring\"`, or fewer";
            let what = format!("give more than {WORKERS_MAX} operations in flight a thread each, got {workers}: {ask}");
            return Err(stream.unsupported(what));
        }
        let each = stream.stream().slots().div_ceil(workers.max(1));
        if ring && each > RING_MAX {
            let ask = "ask for more `workers`, or fewer operations";
            return Err(
                stream.unsupported(format!("hold more than {RING_MAX} operations in one io_uring, got {each}: {ask}"))
            );
        }
        let files = self.descriptors(stream, spec)?;
        let setting = self.setting;
        let pool = Arc::new(DataPool::new(setting.seed, spec.data));
        let checks = stream.trial.streams.iter().any(Stream::validates);
        Ok(Carriers::new(workers, move |place: Place| {
            // Workers count from far apart, so that two of them hardly ever write a block with equal bytes.
            let (count, generations) = (place.worker << 24, self.generations.clone());
            let data = Data { pool: pool.clone(), epoch: setting.epoch, count, generations, checks };
            let work = stream.storage_work(setting.module_bytes, place)?.with_data(data, spec.transfer_max());
            let (open, transfer_max) = (files.clone(), spec.transfer_max().0);
            let files: Vec<RawFd> = open.iter().map(|file| file.as_raw_fd()).collect();
            let priority = thread::encode(access.priority);
            let durable = if access.sync == SyncMode::Whole { libc::RWF_SYNC } else { libc::RWF_DSYNC };
            let Access { poll, sqpoll, .. } = access;
            let spec = RingSpec { files, slots: place.slots, transfer_max, poll, sqpoll, priority, durable };
            let driver: Driver = Box::new(move |share, start| {
                // A worker may be left behind in a call that does not end; its numbers of files must not become those of others.
                let _open = open;
                if ring {
                    uring::drive(spec, work, share, start)
                } else {
                    blocking::drive((spec.files, transfer_max, durable), work, share, start)
                }
            });
            Ok(driver)
        }))
    }

    fn descriptors(&self, stream: StreamOf<'_>, spec: &block::Spec) -> Result<Vec<Arc<File>>, TrialError> {
        let direct = stream.access()?.direct;
        let access = if direct { Way::Direct } else { Way::Buffered };
        let modules = self.modules.iter().take(stream.trial.modules as usize);
        let descriptor = |module: &Module| {
            let file = module.file(access).map_err(|error| stream.unsupported(error.to_string()))?;
            if spec.trims.0 > 0.0 && !module.punches() {
                let path = module.path().display();
                return Err(stream
                    .unsupported(format!("give ranges of `{path}` back: leave `trims` out, or take other storage")));
            }
            if let (true, Some(alignment)) = (direct, module.alignment()) {
                check_alignment(stream, spec, u64::from(alignment.offset_bytes))?;
            }
            Ok(file.clone())
        };
        modules.map(descriptor).collect()
    }
}

/// Past the page cache only whole units of the disk or filesystem can be moved.
fn check_alignment(stream: StreamOf<'_>, spec: &block::Spec, unit: u64) -> Result<(), TrialError> {
    let sizes = spec.all_transfers().map(|transfer| transfer.size).chain([spec.shift, spec.start]);
    match sizes.into_iter().find(|size| !size.0.is_multiple_of(unit)) {
        Some(size) => Err(stream.unsupported(format!(
            "move {} past the page cache: its unit is {}; use `direct = false` or whole units",
            units::bytes(size),
            units::bytes(Bytes(unit))
        ))),
        None => Ok(()),
    }
}

fn uses_ring(driver: study::Driver) -> Result<bool, TrialError> {
    match (driver, uring::probe()) {
        (study::Driver::Plain, _) => Ok(false),
        (_, Ok(())) => Ok(true),
        (study::Driver::Uring, Err(source)) => Err(TrialError::NoRing { source }),
        (study::Driver::Auto, Err(_)) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use load::{Spec, Think};
    use units::Nanos;

    #[test]
    fn more_operations_in_flight_than_a_ring_holds_are_refused_before_it_is_built() {
        if !uring::allowed() {
            return;
        }
        let setting = Setting { system: "s".into(), seed: 1, module_bytes: Bytes::gib(1), ..Setting::default() };
        let rings = |slots, workers| {
            let mut trial = sample::trial(Spec::Closed { slots, think: Think::None }, Nanos::from_millis(1));
            trial.streams[0].threads.count = workers;
            let modules = Modules::of(&[], &trial, &setting);
            modules.carriers(StreamOf { trial: &trial, index: 0 }).map(drop)
        };
        rings(RING_MAX, 1).unwrap();
        rings(2 * RING_MAX, 2).unwrap();
        let refused = rings(RING_MAX + 1, 1).unwrap_err().to_string();
        assert!(refused.contains("more than 32767 operations in one io_uring, got 32768: ask for more"), "{refused}");
    }

    #[test]
    fn more_operations_in_flight_than_there_may_be_threads_are_refused_before_any_is_started() {
        let setting = Setting { system: "s".into(), seed: 1, module_bytes: Bytes::gib(1), ..Setting::default() };
        let workers = |slots| {
            let mut trial = sample::trial(Spec::Closed { slots, think: Think::None }, Nanos::from_millis(1));
            trial.streams[0].operations_mut().unwrap().access.driver = study::Driver::Plain;
            let modules = Modules::of(&[], &trial, &setting);
            modules.carriers(StreamOf { trial: &trial, index: 0 }).map(drop)
        };
        workers(WORKERS_MAX).unwrap();
        let refused = workers(WORKERS_MAX + 1).unwrap_err().to_string();
        assert!(refused.contains("more than 2048 operations in flight a thread each, got 2049"), "{refused}");
    }
}
