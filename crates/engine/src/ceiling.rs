//! The generator measures itself on a system that answers at once: what it can do, and how late it is.

use crate::observer::Unobserved;
use crate::{Need, Opened, TrialError, run_trial};
use load::{Arrivals, Pacing, Ramp, Spec, Think};
use observation::{Asks, Ceiling, ClassKind, Footprint, StatePolicy, StreamLabel, TrialLabel};
use recorder::{Clock, WallClock};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Access, Cache, Driver, Phases, Place, State, Stream, SyncMode, SystemSpec, Trial, Workload};
use units::{Bytes, Nanos, PerSecond, Share};
use workload::block;

/// Outstanding operations of the closed part, as a worker of an array test would have.
const SLOTS: u32 = 32;

/// How often the closed part is measured.
const LOOKS: u32 = 3;

/// The rate of the open part, operations a second.
const OPEN_RATE: f64 = 300_000.0;

/// Measures the generator's own figures; takes about a second, and loads one core.
///
/// # Errors
/// When a thread cannot be started; nothing else can fail on a system that does nothing.
pub fn measure_ceiling() -> Result<Ceiling, TrialError> {
    let clock_read_ns = clock_read_ns();
    let mut null_operation_ns = f64::INFINITY;
    // The best of several looks: whatever else runs on the machine can only make it worse.
    for _ in 0..LOOKS {
        let closed = run(trial(Spec::Closed { slots: SLOTS, think: Think::None }, Nanos::from_millis(200)))?;
        let done: u64 = closed.window_cells().map(|cell| cell.tally.done).sum();
        null_operation_ns = null_operation_ns.min(closed.window.length().0 as f64 / done.max(1) as f64);
    }
    let rate = PerSecond(OPEN_RATE);
    let open = run(trial(Spec::Open { rate, arrivals: Arrivals::Poisson, slots: 1024 }, Nanos::from_millis(500)))?;
    let issued: u64 = open.window_cells().map(|cell| cell.tally.done).sum();
    let planned = open.accounts[0].planned as f64;
    let lateness = open.stream_total(0).lateness;
    Ok(Ceiling {
        null_operation_ns,
        clock_read_ns,
        lateness_p99_ns: lateness.quantile_ns(0.99).unwrap_or(0) as f64,
        open_rate_error_pct: (issued as f64 - planned) / planned.max(1.0) * 100.0,
    })
}

fn clock_read_ns() -> f64 {
    const READS: u32 = 200_000;
    let clock = WallClock::new();
    let start = clock.now();
    for _ in 0..READS {
        std::hint::black_box(clock.now());
    }
    clock.now().saturating_sub(start).0 as f64 / f64::from(READS)
}

fn run(trial: Trial) -> Result<observation::Observations, TrialError> {
    let spec = SystemSpec {
        name: "null".into(),
        place: Place::Null,
        size: None,
        modules: None,
        footprint: Footprint::default(),
    };
    let need = Need {
        model: None,
        modules: 1,
        module_bytes: Bytes::gib(1),
        run_id: "ceiling",
        seed: 1,
        keep: false,
        consents: &[],
        cache_dir: Path::new("."),
        stop: &Arc::new(AtomicBool::new(false)),
    };
    // Opening nothing cannot fail.
    let mut opened = Opened::open(&spec, &need).expect("a null system opens");
    run_trial(&mut opened, &trial, &mut Unobserved, &AtomicBool::new(false))
}

pub(crate) fn trial(load: Spec, measure: Nanos) -> Trial {
    let workload = block::Spec {
        pattern: block::Pattern::Random,
        offsets: block::Offsets::Uniform,
        transfers: vec![block::Transfer { size: Bytes::kib(4), weight: 1.0 }],
        read: Share(1.0),
        shift: Bytes(0),
        range: Share(1.0),
        data: block::DataShape { compressible: Share(0.0), duplicate: Share(0.0) },
    };
    let classes = ["read", "write", "sync"].map(|name| (name.to_owned(), ClassKind::Work)).to_vec();
    let label = StreamLabel {
        name: "ceiling".into(),
        workload: "ceiling".into(),
        asks: Asks::Operations,
        load: "ceiling".into(),
        slots: None,
        think_mean: Nanos::ZERO,
        offered: None,
        classes,
    };
    let access = Access {
        direct: true,
        sync: SyncMode::Never,
        driver: Driver::Auto,
        poll: false,
        workers: 1,
        pin: false,
        priority: None,
        pacing: Pacing::Spin,
        validate: false,
    };
    let phases = Phases {
        warm_up: Nanos::from_millis(100),
        measure,
        interval: Nanos::from_millis(100),
        round: Nanos::from_millis(100),
        fixed_work: false,
        drain: Nanos::from_secs(1),
    };
    Trial {
        label: TrialLabel {
            index: 0,
            experiment: "ceiling".into(),
            system: "null".into(),
            replicate: 0,
            block: 0,
            factors: vec![],
            streams: vec![label],
            state: StatePolicy::default(),
            search: None,
        },
        streams: vec![Stream {
            workload: Workload::Block(workload),
            load,
            ramp: Ramp::default(),
            access,
            operations: None,
            pool: None,
        }],
        modules: 1,
        module_bytes: Bytes::gib(1),
        state: State {
            refill: false,
            trim: false,
            precondition: None,
            cache: Cache::AsLeft,
            settle: Nanos::ZERO,
            restore: false,
            checkpoints: study::Checkpoints::default(),
        },
        phases,
        server: Vec::new(),
        seed: 1,
    }
}
