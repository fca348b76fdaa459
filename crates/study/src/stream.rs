//! From a point to its streams: workload, load and access of each.
//!
//! The one idea: every rule about which keys go together is written here once, and refuses with the place of the key. What a
//! workload makes of its own keys is the workload's to say.
//!
//! What it does not do: phases and state are the trial's, not a stream's.

use crate::keys::access::{DIRECT, DRIVER, PIN, POLL, PRIORITY, SYNC, VALIDATE, WORKERS};
use crate::keys::load::{
    ARRIVALS, OUTSTANDING, PACING, PER, Per, RAMP, RATE, SLOTS, THINK, THINK_TIMES, ThinkTimes, USERS,
};
use crate::keys::session::THREADS;
use crate::point::{FACTOR, Point, StreamSettings};
use crate::{Access, Driver, Stream, SyncMode, label, sessions};
use load::{Ramp, Spec as LoadSpec, Think};
use observation::StreamLabel;
use reading::{AnyKey, Problems};
use units::{Nanos, PerSecond};
use workload::{Interface, Workload, block, files};

/// The streams of a point with their labels, for so many modules.
pub(crate) fn streams(point: &Point, modules: u32, problems: &mut Problems) -> (Vec<Stream>, Vec<StreamLabel>) {
    (0..point.streams.len())
        .map(|i| {
            let stream = Maker { point, i, modules }.stream(problems);
            let label = label::label(&point.streams[i], &stream);
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
        let (point, i) = (self.point, self.i);
        let workload = (point.streams[i].kind.read)(&mut StreamSettings { point, stream: i, problems });
        let ramp = Ramp { over: point.get(&RAMP, i) };
        match workload {
            Workload::Block(spec) => {
                let access = self.access(problems);
                if access.direct {
                    block::keys::check_sectors(&spec, &mut StreamSettings { point, stream: i, problems });
                }
                let load = self.operations(&access, problems);
                let operations = point.get(&block::keys::OPERATIONS, i);
                Stream { workload: Workload::Block(spec), load, ramp, operations, access, pool: None }
            }
            Workload::Files(spec) => self.files(spec, problems),
            Workload::Transactions(asked) => {
                let pool = sessions::pool(point, i, asked.as_ref(), problems);
                let load = self.transactions(pool.sessions, problems);
                let access = self.threads(pool.sessions, problems);
                let workload = Workload::Transactions(asked);
                Stream { workload, load, ramp, operations: None, access, pool: Some(pool) }
            }
        }
    }

    /// The width of file work is its load.
    fn files(&self, spec: files::Spec, problems: &mut Problems) -> Stream {
        let access = self.access(problems);
        if let SyncMode::Every(_) = access.sync {
            self.refuse(&SYNC, "`never` or `each` for file work, got `every N`", problems);
        }
        if access.direct && !(spec.file.0.is_multiple_of(512) && spec.block.0.is_multiple_of(512)) {
            let message =
                format!("files and blocks of whole 512 B sectors, got {} B and {} B", spec.file.0, spec.block.0);
            self.refuse(&DIRECT, message, problems);
        }
        Stream {
            workload: Workload::Files(files::Spec { sync: access.sync == SyncMode::Each, ..spec }),
            load: LoadSpec::Closed { slots: spec.width, think: Think::None },
            ramp: Ramp::default(),
            operations: None,
            access: Access { workers: spec.width, ..access },
            pool: None,
        }
    }

    fn refuse(&self, key: &dyn AnyKey, message: impl Into<String>, problems: &mut Problems) {
        self.point.refuse(key, self.i, message, problems);
    }

    /// The load of blocks.
    fn operations(&self, access: &Access, problems: &mut Problems) -> LoadSpec {
        let (point, i) = (self.point, self.i);
        let rank = |key: &dyn AnyKey| point.setting(key, i).map(|(rank, _)| rank);
        let open = match (rank(&RATE), rank(&OUTSTANDING)) {
            // Inside one `load` table the reader has said so already.
            (Some(rate), Some(outstanding)) if rate == outstanding && rate <= FACTOR => {
                self.refuse(&RATE, "a load is closed (`outstanding`) or open (`rate`), got both", problems);
                true
            }
            // The one that is closer to the command line decides.
            (Some(rate), Some(outstanding)) => rate < outstanding,
            (rate, _) => rate.is_some() || point.searched(i),
        };
        let slots = if open { point.get(&SLOTS, i) as u32 } else { self.outstanding(problems) };
        if access.workers > slots {
            let message =
                format!("at most as many workers as operations in flight, which are {slots}, got {}", access.workers);
            self.refuse(&WORKERS, message, problems);
        }
        if open { self.open(slots) } else { self.closed(slots) }
    }

    fn outstanding(&self, problems: &mut Problems) -> u32 {
        let each = self.point.get(&OUTSTANDING, self.i) as u32;
        let per_module = self.point.get(&PER, self.i) == Per::Module;
        let slots = if per_module { each.saturating_mul(self.modules) } else { each };
        if slots > 65_536 {
            self.refuse(&OUTSTANDING, format!("at most 65536 operations in flight, got {slots}"), problems);
        }
        slots
    }

    /// The load of transactions: users and arrivals are the load, sessions are what carries it. A closed load without users
    /// has one user a session.
    fn transactions(&self, sessions: u32, problems: &mut Problems) -> LoadSpec {
        let (point, i) = (self.point, self.i);
        let (users, rate) = (point.get(&USERS, i), point.setting(&RATE, i));
        if users.is_some() && rate.is_some() {
            self.refuse(&RATE, "a load has `users` or a `rate`, got both", problems);
        }
        if rate.is_some() || point.searched(i) {
            return self.open(sessions);
        }
        self.closed(users.map_or(sessions, |users| users as u32))
    }

    /// A search fills its rates in one after the other.
    fn open(&self, slots: u32) -> LoadSpec {
        let rate = self.point.given(&RATE, self.i).unwrap_or(PerSecond(1.0));
        LoadSpec::Open { rate, arrivals: self.point.get(&ARRIVALS, self.i), slots }
    }

    fn closed(&self, slots: u32) -> LoadSpec {
        let think = match (self.point.get(&THINK, self.i), self.point.get(&THINK_TIMES, self.i)) {
            (Nanos::ZERO, _) => Think::None,
            (time, ThinkTimes::Exponential) => Think::Exponential(time),
            (time, ThinkTimes::Constant) => Think::Constant(time),
        };
        LoadSpec::Closed { slots, think }
    }

    fn access(&self, problems: &mut Problems) -> Access {
        let (point, i) = (self.point, self.i);
        // File work goes through the page cache, as programs do, unless it says otherwise.
        let direct = point.streams[i].kind.interface != Interface::File;
        let access = Access {
            direct: point.given(&DIRECT, i).unwrap_or(direct),
            sync: point.get(&SYNC, i),
            driver: point.get(&DRIVER, i),
            poll: point.get(&POLL, i),
            workers: point.get(&WORKERS, i) as u32,
            pin: point.get(&PIN, i),
            priority: point.get(&PRIORITY, i),
            pacing: point.get(&PACING, i),
            validate: point.get(&VALIDATE, i),
        };
        if access.poll && (!access.direct || access.driver == Driver::Plain) {
            self.refuse(&POLL, "polling needs `direct = true` and io_uring", problems);
        }
        access
    }

    fn threads(&self, sessions: u32, problems: &mut Problems) -> Access {
        let (point, i) = (self.point, self.i);
        let threads = point.get(&THREADS, i) as u32;
        if threads > sessions {
            let message = format!("at most as many threads as sessions, which are {sessions}, got {threads}");
            self.refuse(&THREADS, message, problems);
        }
        let (pin, pacing) = (point.get(&PIN, i), point.get(&PACING, i));
        Access { workers: threads.min(sessions), pin, pacing, ..Access::plain() }
    }
}
