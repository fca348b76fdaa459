//! From a point to its streams: workload, load and access of each.
//!
//! The one idea: every rule about which keys go together is written here once, and refuses with the place of the key.
//!
//! What it does not do: phases and state are the trial's, not a stream's.

use crate::definition::WorkloadKind;
use crate::point::{FACTOR, Point};
use crate::value::Value;
use crate::{Access, Driver, Stream, SyncMode, Workload, transactions};
use load::{Arrivals, Pacing, Ramp, Spec as LoadSpec, Think};
use observation::{Asks, ClassKind, READ, StreamLabel};
use reading::Problems;
use units::{Bytes, Nanos, PerSecond, Share};
use workload::block::{self, DataShape, Offsets, Pattern};
use workload::files;

/// The streams of a point with their labels, for so many modules.
pub(crate) fn streams(point: &Point, modules: u32, problems: &mut Problems) -> (Vec<Stream>, Vec<StreamLabel>) {
    (0..point.streams.len())
        .map(|i| {
            let stream = Maker { point, i, modules }.stream(problems);
            let label = label(point, i, &stream);
            (stream, label)
        })
        .unzip()
}

struct Maker<'a> {
    point: &'a Point<'a>,
    i: usize,
    modules: u32,
}

impl Maker<'_> {
    fn stream(&self, problems: &mut Problems) -> Stream {
        if self.point.streams[self.i].kind.transactions() {
            return transactions::stream(self.point, self.i, problems);
        }
        let access = self.access(problems);
        match self.point.streams[self.i].kind {
            WorkloadKind::Files => {
                let spec = self.files(&access, problems);
                Stream {
                    workload: Workload::Files(spec),
                    load: LoadSpec::Closed { slots: spec.width, think: Think::None },
                    ramp: Ramp::default(),
                    operations: None,
                    access: Access { workers: spec.width, ..access },
                    pool: None,
                }
            }
            _ => Stream {
                workload: Workload::Block(self.block(&access, problems)),
                load: self.load(&access, problems),
                ramp: Ramp { over: self.point.time("ramp", self.i).unwrap_or_default() },
                operations: self.point.count("operations", self.i),
                access,
                pool: None,
            },
        }
    }

    fn block(&self, access: &Access, problems: &mut Problems) -> block::Spec {
        let (point, i) = (self.point, self.i);
        let transfers = match point.value("transfer", i) {
            Some(Value::Transfers(transfers)) => transfers,
            _ => Vec::new(),
        };
        let offsets = match point.value("offsets", i) {
            Some(Value::Offsets(offsets)) => offsets,
            _ => Offsets::Uniform,
        };
        let pattern = match point.word("pattern", i) {
            "sequential" => Pattern::Sequential,
            "random-once" => Pattern::RandomOnce,
            _ => Pattern::Random,
        };
        if pattern != Pattern::Random && offsets != Offsets::Uniform {
            point.refuse("offsets", i, "`uniform` with this pattern; only `random` prefers offsets", problems);
        }
        let spec = block::Spec {
            pattern,
            offsets,
            transfers,
            read: point.share("read", i),
            shift: point.size("shift", i).unwrap_or_default(),
            range: point.share("range", i),
            data: DataShape { compressible: point.share("compressible", i), duplicate: point.share("duplicate", i) },
        };
        if access.direct {
            self.check_sectors(&spec, problems);
        }
        spec
    }

    /// Past the page cache, the kernel takes whole sectors only; 512 B is the smallest there is.
    fn check_sectors(&self, spec: &block::Spec, problems: &mut Problems) {
        let odd = |size: Bytes| !size.0.is_multiple_of(512);
        if let Some(transfer) = spec.transfers.iter().find(|transfer| odd(transfer.size)) {
            let message = format!("a multiple of 512 B with `direct`, got {} B", transfer.size.0);
            self.point.refuse("transfer", self.i, message, problems);
        }
        if odd(spec.shift) {
            let message = format!("a multiple of 512 B with `direct`, got {} B", spec.shift.0);
            self.point.refuse("shift", self.i, message, problems);
        }
    }

    fn files(&self, access: &Access, problems: &mut Problems) -> files::Spec {
        let (point, i) = (self.point, self.i);
        let (file, block) = (point.size("file", i).unwrap_or_default(), point.size("block", i).unwrap_or_default());
        if let SyncMode::Every(_) = access.sync {
            point.refuse("sync", i, "`never` or `each` for file work, got `every N`", problems);
        }
        if access.direct && !(file.0.is_multiple_of(512) && block.0.is_multiple_of(512)) {
            let message = format!("files and blocks of whole 512 B sectors, got {} B and {} B", file.0, block.0);
            point.refuse("direct", i, message, problems);
        }
        files::Spec {
            width: point.count("width", i).unwrap_or(1) as u32,
            loops: point.count("loops", i).unwrap_or(1) as u32,
            file,
            block,
            sync: access.sync == SyncMode::Each,
        }
    }

    fn load(&self, access: &Access, problems: &mut Problems) -> LoadSpec {
        let (point, i) = (self.point, self.i);
        let rank = |name| point.setting(name, i).map(|(rank, _)| rank);
        let open = match (rank("rate"), rank("outstanding")) {
            // Inside one `load` table the reader has said so already.
            (Some(rate), Some(outstanding)) if rate == outstanding && rate <= FACTOR => {
                point.refuse("rate", i, "a load is closed (`outstanding`) or open (`rate`), got both", problems);
                true
            }
            // The one that is closer to the command line decides.
            (Some(rate), Some(outstanding)) => rate < outstanding,
            (rate, _) => rate.is_some() || point.searched(i),
        };
        let load = if open { self.open() } else { self.closed(problems) };
        let (LoadSpec::Closed { slots, .. } | LoadSpec::Open { slots, .. }) = load;
        if access.workers > slots {
            let message =
                format!("at most as many workers as operations in flight, which are {slots}, got {}", access.workers);
            point.refuse("workers", i, message, problems);
        }
        load
    }

    fn open(&self) -> LoadSpec {
        let (point, i) = (self.point, self.i);
        let arrivals = if point.word("arrivals", i) == "constant" { Arrivals::Constant } else { Arrivals::Poisson };
        let slots = point.count("slots", i).unwrap_or(256) as u32;
        // A search fills its rates in one after the other.
        LoadSpec::Open { rate: point.rate("rate", i).unwrap_or(PerSecond(1.0)), arrivals, slots }
    }

    fn closed(&self, problems: &mut Problems) -> LoadSpec {
        let (point, i) = (self.point, self.i);
        let each = point.count("outstanding", i).unwrap_or(1) as u32;
        let slots = if point.word("per", i) == "module" { each.saturating_mul(self.modules) } else { each };
        if slots > 65_536 {
            point.refuse("outstanding", i, format!("at most 65536 operations in flight, got {slots}"), problems);
        }
        let think = match (point.time("think", i), point.word("think_times", i)) {
            (None | Some(Nanos::ZERO), _) => Think::None,
            (Some(time), "exponential") => Think::Exponential(time),
            (Some(time), _) => Think::Constant(time),
        };
        LoadSpec::Closed { slots, think }
    }

    fn access(&self, problems: &mut Problems) -> Access {
        let (point, i) = (self.point, self.i);
        let files = point.streams[i].kind == WorkloadKind::Files;
        let direct = match point.setting("direct", i) {
            // File work goes through the page cache, as programs do, unless it says otherwise.
            None => !files,
            Some(_) => point.flag("direct", i),
        };
        let access = Access {
            direct,
            sync: match point.value("sync", i) {
                Some(Value::Sync(sync)) => sync,
                _ => SyncMode::Never,
            },
            driver: match point.word("driver", i) {
                "io_uring" => Driver::Uring,
                "plain" => Driver::Plain,
                _ => Driver::Auto,
            },
            poll: point.flag("poll", i),
            workers: point.count("workers", i).unwrap_or(1) as u32,
            pin: point.flag("pin", i),
            priority: match point.value("priority", i) {
                Some(Value::Priority(priority)) => Some(priority),
                _ => None,
            },
            pacing: if point.word("pacing", i) == "spin" { Pacing::Spin } else { Pacing::Sleep },
            validate: point.flag("validate", i),
        };
        if access.poll && (!access.direct || access.driver == Driver::Plain) {
            point.refuse("poll", i, "polling needs `direct = true` and io_uring", problems);
        }
        access
    }
}

fn label(point: &Point, i: usize, stream: &Stream) -> StreamLabel {
    let choice = &point.streams[i];
    let class = |name: &str, kind| (name.to_owned(), kind);
    let classes = match choice.kind {
        WorkloadKind::Block => {
            vec![class(READ, ClassKind::Work), class("write", ClassKind::Work), class("sync", ClassKind::Upkeep)]
        }
        WorkloadKind::Files => ["create", "copy", READ].map(|name| class(name, ClassKind::Work)).to_vec(),
        WorkloadKind::Brokerage | WorkloadKind::Sql | WorkloadKind::Rows => transactions::classes(&stream.workload),
    };
    let (slots, think_mean, offered) = match stream.load {
        LoadSpec::Closed { slots, think } => (Some(slots), think.mean(), None),
        LoadSpec::Open { rate, .. } => (None, Nanos::ZERO, Some(rate)),
    };
    StreamLabel {
        name: choice.name.clone(),
        workload: choice.workload.clone(),
        asks: match &stream.workload {
            _ if stream.pool.is_some() => Asks::Transactions,
            Workload::Files(_) => Asks::Files,
            _ => Asks::Operations,
        },
        load: load_words(stream),
        slots,
        think_mean,
        offered,
        classes,
    }
}

/// The load in words: `closed, 32 outstanding`.
pub(crate) fn load_words(stream: &Stream) -> String {
    if let Some(pool) = &stream.pool {
        return transactions::load_words(stream, pool);
    }
    if let Workload::Files(spec) = &stream.workload {
        let loops = if spec.loops == 1 { "1 loop".to_owned() } else { format!("{} loops", spec.loops) };
        return format!("{} wide, {loops} of {}", spec.width, size(spec.file));
    }
    match stream.load {
        LoadSpec::Closed { slots, think: Think::None } => format!("closed, {slots} outstanding"),
        LoadSpec::Closed { slots, think: Think::Constant(time) } => {
            format!("closed, {slots} outstanding, {} think time", units::duration(time))
        }
        LoadSpec::Closed { slots, think: Think::Exponential(time) } => {
            format!("closed, {slots} outstanding, {} mean think time", units::duration(time))
        }
        LoadSpec::Open { rate, arrivals, slots } => {
            let arrivals = if arrivals == Arrivals::Constant { "constant gaps" } else { "Poisson" };
            format!("open, {} {arrivals}, at most {slots} in flight", units::rate(rate.0))
        }
    }
}

/// A size in the family of units that it is round in: 10 000 000 bytes are `10 MB`, not `9.54 MiB`.
fn size(size: Bytes) -> String {
    const DECIMAL: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let round = DECIMAL.iter().find(|(unit, _)| size.0 >= *unit && size.0.is_multiple_of(*unit));
    match round {
        Some((unit, name)) if !size.0.is_multiple_of(1024) || *unit > 1_000 => format!("{} {name}", size.0 / unit),
        _ => units::bytes(size),
    }
}

/// Mean bytes that one operation of a block stream writes.
pub(crate) fn written_per_operation(spec: &block::Spec) -> f64 {
    let weight: f64 = spec.transfers.iter().map(|transfer| transfer.weight).sum();
    let bytes: f64 = spec.transfers.iter().map(|transfer| transfer.size.0 as f64 * transfer.weight).sum();
    let Share(read) = spec.read;
    if weight > 0.0 { bytes / weight * (1.0 - read) } else { 0.0 }
}
