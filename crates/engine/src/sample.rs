//! A plain trial and systems for it, made without a study: random reads of 4 KiB blocks of one module. What the generator
//! measures of itself is measured with them.

use crate::{Described, Need, OpenError, Opened};
use load::{Pacing, Ramp, Spec};
use observation::{ClassKind, Footprint, StreamLabel, TrialLabel};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Access, Operations, Phases, Place, State, Storage, Stream, SystemSpec, Threads, Trial, Work};
use units::{Bytes, Nanos, Share};
use workload::block;

/// One stream of reads with such a load, paced by spinning.
pub(crate) fn trial(load: Spec, measure: Nanos) -> Trial {
    let workload = block::Spec {
        pattern: block::Pattern::Random,
        offsets: block::Offsets::Uniform,
        transfers: vec![block::Transfer { size: Bytes::kib(4), weight: 1.0 }],
        read: Share(1.0),
        write_transfers: Vec::new(),
        trims: Share(0.0),
        shift: Bytes(0),
        start: Bytes(0),
        range: Share(1.0),
        data: block::DataShape::default(),
    };
    let classes = ["read", "write", "sync"].map(|name| (name.to_owned(), ClassKind::Work)).to_vec();
    let name = || "ceiling".to_owned();
    let label = StreamLabel { name: name(), workload: name(), load: name(), classes, ..StreamLabel::default() };
    let access = Access { direct: true, ..Access::default() };
    let of = Storage::Block(workload);
    let phases = Phases {
        warm_up: Nanos::from_millis(100),
        measure,
        interval: Nanos::from_millis(100),
        round: Nanos::from_millis(100),
        fixed_work: false,
        drain: Nanos::from_secs(1),
    };
    Trial {
        label: TrialLabel { experiment: name(), system: "null".into(), streams: vec![label], ..TrialLabel::default() },
        streams: vec![Stream {
            work: Work::Operations(Operations { of, count: None, access }),
            load,
            ramp: Ramp::default(),
            threads: Threads { count: 1, pin: false, cpus: study::Cpus::Any, pacing: Pacing::Spin },
        }],
        modules: 1,
        module_bytes: Bytes::gib(1),
        state: State::default(),
        phases,
        events: Vec::new(),
        server: Vec::new(),
        seed: 1,
    }
}

/// Opens a system that no study names.
pub(crate) fn open(
    place: Place,
    modules: u32,
    module_bytes: Bytes,
    model: Option<&Described>,
) -> Result<Opened, OpenError> {
    let (name, footprint) = (place.word().to_owned(), Footprint::default());
    let need = Need {
        model,
        modules,
        filled: modules,
        module_bytes,
        run_id: "ceiling",
        seed: 1,
        keep: false,
        data_set: false,
        consents: &[],
        cache_dir: Path::new("."),
        stop: &Arc::new(AtomicBool::new(false)),
    };
    Opened::open(&SystemSpec { name, place, size: None, modules: None, footprint }, &need)
}

/// A machine that ships.
pub(crate) fn described(name: &str) -> Option<Described> {
    let shipped = model::models().iter().find(|shipped| shipped.name == name)?;
    let description = model::file::read(shipped.name, shipped.text).ok()?;
    Some(Described { description, text: shipped.text.to_owned() })
}
