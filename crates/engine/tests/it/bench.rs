//! Trials made by hand, for the tests of this binary.

use engine::{Need, OpenError, Opened, TrialError, Unobserved, run_trial};
use load::{Pacing, Ramp, Spec, Think};
use observation::{Asks, ClassKind, Footprint, Observations, StatePolicy, StreamLabel, TrialLabel};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{
    Access, Cache, Driver, Operations, Phases, Place, ScriptSpec, State, Storage, Stream, SyncMode, SystemSpec,
    Threads, Trial, Work,
};
use units::{Bytes, Nanos, Share};
use workload::block;

/// Random 4 KiB blocks.
pub fn blocks(read: f64) -> block::Spec {
    block::Spec {
        pattern: block::Pattern::Random,
        offsets: block::Offsets::Uniform,
        transfers: vec![block::Transfer { size: Bytes::kib(4), weight: 1.0 }],
        read: Share(read),
        write_transfers: Vec::new(),
        trims: Share(0.0),
        shift: Bytes(0),
        start: Bytes(0),
        range: Share(1.0),
        data: block::DataShape::default(),
    }
}

/// A closed load without think time.
pub fn closed(slots: u32) -> Spec {
    Spec::Closed { slots, think: Think::None }
}

/// One stream with the usual access.
pub fn stream(of: Storage, load: Spec) -> Stream {
    let access = Access {
        direct: true,
        sync: SyncMode::Never,
        driver: Driver::Auto,
        poll: false,
        sqpoll: false,
        priority: None,
        validate: false,
        verify: false,
    };
    let work = Work::Operations(Operations { of, count: None, access });
    Stream {
        work,
        load,
        ramp: Ramp::default(),
        threads: Threads { count: 1, pin: false, cpus: study::Cpus::Any, pacing: Pacing::Sleep },
    }
}

/// How its operations reach storage.
pub fn access(stream: &mut Stream) -> &mut Access {
    &mut stream.operations_mut().expect("a stream of operations").access
}

/// A trial of these streams over a short window.
pub fn trial(streams: Vec<Stream>, measure: Nanos) -> Trial {
    let label = |index: usize| StreamLabel {
        name: format!("stream {index}"),
        workload: "by hand".into(),
        asks: Asks::Operations,
        load: "by hand".into(),
        slots: None,
        think_mean: Nanos::ZERO,
        offered: None,
        classes: ["read", "write", "sync"].map(|name| (name.to_owned(), ClassKind::Work)).to_vec(),
        gives: Vec::new(),
    };
    Trial {
        label: TrialLabel {
            index: 0,
            experiment: "by hand".into(),
            system: "by hand".into(),
            replicate: 0,
            block: 0,
            factors: vec![],
            streams: (0..streams.len()).map(label).collect(),
            state: StatePolicy::default(),
            search: None,
        },
        streams,
        modules: 1,
        module_bytes: Bytes::mib(4),
        state: State {
            refill: false,
            trim: false,
            precondition: None,
            cache: Cache::AsLeft,
            settle: Nanos::ZERO,
            restore: false,
            checkpoints: study::Checkpoints::default(),
            wire: study::Wire::default(),
            resync: None,
            patience: Nanos::from_secs(1),
            spread: study::Spread::default(),
            cores: None,
        },
        phases: Phases {
            warm_up: Nanos::ZERO,
            measure,
            interval: Nanos::from_millis(50),
            round: Nanos::from_millis(100),
            fixed_work: false,
            drain: Nanos::from_secs(5),
        },
        events: vec![],
        server: vec![],
        seed: 7,
    }
}

/// Opens a system for these trials.
pub fn open(place: Place, modules: u32) -> Opened {
    let spec = SystemSpec { name: "by hand".into(), place, size: None, modules: None, footprint: Footprint::default() };
    try_open(&spec, modules, Bytes::mib(4)).expect("the system opens")
}

/// Opens a system with so many modules of this size, and nothing that a database would need.
pub fn try_open(spec: &SystemSpec, modules: u32, module_bytes: Bytes) -> Result<Opened, OpenError> {
    let (cache, stop) = (std::env::temp_dir(), Arc::new(AtomicBool::new(false)));
    let need = Need {
        model: None,
        modules,
        filled: modules,
        module_bytes,
        run_id: "test",
        seed: 11,
        keep: false,
        data_set: false,
        consents: &[],
        cache_dir: &cache,
        stop: &stop,
    };
    Opened::open(spec, &need)
}

/// A script with one service time.
pub fn script(service: Nanos, servers: u32) -> ScriptSpec {
    ScriptSpec {
        service: vec![service],
        servers,
        per_byte_ns: 0.0,
        spread: Share(0.0),
        stall: None,
        fail_every: None,
        drift_per_s: 0.0,
    }
}

/// Runs a trial that must succeed.
pub fn run(opened: &mut Opened, trial: &Trial) -> Observations {
    try_run(opened, trial).expect("the trial ends well")
}

/// Runs a trial.
pub fn try_run(opened: &mut Opened, trial: &Trial) -> Result<Observations, TrialError> {
    run_trial(opened, trial, &mut Unobserved, &AtomicBool::new(false))
}

/// A folder of this test's own, gone when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("prony-engine-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    pub fn place(&self) -> Place {
        Place::File { dirs: vec![study::Folder::plain(self.0.display().to_string())] }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Completions of work in the window.
pub fn done(observations: &Observations) -> u64 {
    observations.window_cells().map(|cell| cell.tally.done).sum()
}
