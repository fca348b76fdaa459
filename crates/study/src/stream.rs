//! From a point to its streams: workload, load and access of each.
//!
//! The one idea: every rule about which keys go together is written here once, and refuses with the place of the key. What a
//! workload makes of its own keys is the workload's to say.
//!
//! What it does not do: phases and state are the trial's, not a stream's.

use crate::keys::access::{CPUS, DIRECT, DRIVER, PIN, POLL, PRIORITY, SQPOLL, SYNC, VALIDATE, VERIFY, WORKERS};
use crate::keys::load::{
    ARRIVALS, OUTSTANDING, PACING, PER, Pace, Per, RAMP, RATE, SLOTS, THINK, THINK_TIMES, ThinkTimes, USERS,
};
use crate::keys::session::THREADS;
use crate::point::{FACTOR, Point, StreamSettings};
use crate::{Access, Driver, Operations, Stream, SyncMode, Threads, Work, label, sessions};
use load::{Ramp, Spec as LoadSpec, Think};
use observation::StreamLabel;
use reading::key::{Count, Key};
use reading::{AnyKey, Problems};
use units::{Nanos, PerSecond};
use workload::{Interface, Storage, Workload, block, files};

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
            Workload::Operations(Storage::Block(spec)) => {
                let (access, threads) = (self.access(problems), self.threads(&WORKERS));
                if access.direct {
                    block::keys::check_sectors(&spec, &mut StreamSettings { point, stream: i, problems });
                }
                let load = self.operations(&spec, threads, problems);
                let count = point.get(&block::keys::OPERATIONS, i);
                let work = Work::Operations(Operations { of: Storage::Block(spec), count, access });
                Stream { work, load, ramp, threads }
            }
            Workload::Operations(Storage::Files(spec)) => self.files(spec, problems),
            Workload::Transactions(asked) => {
                let pool = sessions::pool(point, i, asked.as_ref(), problems);
                let load = self.transactions(pool.sessions, asked.paces_itself(), problems);
                let threads = self.session_threads(pool.sessions, problems);
                Stream { work: Work::Transactions { asked, pool }, load, ramp, threads }
            }
        }
    }

    /// The width of file work is its load.
    fn files(&self, spec: files::Spec, problems: &mut Problems) -> Stream {
        let access = self.access(problems);
        let other = match access.sync {
            SyncMode::Never | SyncMode::Each => None,
            SyncMode::Whole => Some("o_sync"),
            SyncMode::Every(_) => Some("every N"),
        };
        if let Some(other) = other {
            self.refuse(&SYNC, format!("`never` or `each` for file work, got `{other}`"), problems);
        }
        if access.direct && !(spec.file.0.is_multiple_of(512) && spec.block.0.is_multiple_of(512)) {
            let message =
                format!("files and blocks of whole 512 B sectors, got {} B and {} B", spec.file.0, spec.block.0);
            self.refuse(&DIRECT, message, problems);
        }
        let of = Storage::Files(files::Spec { sync: access.sync == SyncMode::Each, ..spec });
        Stream {
            work: Work::Operations(Operations { of, count: None, access }),
            load: LoadSpec::Closed { slots: spec.width, think: Think::None },
            ramp: Ramp::default(),
            threads: Threads { count: spec.width, ..self.threads(&WORKERS) },
        }
    }

    fn refuse(&self, key: &dyn AnyKey, message: impl Into<String>, problems: &mut Problems) {
        self.point.refuse(key, self.i, message, problems);
    }

    /// The load of blocks.
    fn operations(&self, spec: &block::Spec, threads: Threads, problems: &mut Problems) -> LoadSpec {
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
        if threads.count > slots {
            let message =
                format!("at most as many workers as operations in flight, which are {slots}, got {}", threads.count);
            self.refuse(&WORKERS, message, problems);
        }
        if open { self.open(slots, Some(spec.moved_per_operation()), problems) } else { self.closed(slots) }
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
    fn transactions(&self, sessions: u32, paced: bool, problems: &mut Problems) -> LoadSpec {
        let (point, i) = (self.point, self.i);
        let (users, rate) = (point.get(&USERS, i), point.setting(&RATE, i));
        if users.is_some() && rate.is_some() {
            self.refuse(&RATE, "a load has `users` or a `rate`, got both", problems);
        }
        if paced {
            for (key, given) in [(&RATE as &dyn AnyKey, rate.is_some()), (&USERS, users.is_some())] {
                if given {
                    self.refuse(key, "none: the workload says itself when each transaction is due, got one", problems);
                }
            }
            return LoadSpec::Closed { slots: sessions, think: Think::Given };
        }
        if rate.is_some() || point.searched(i) {
            return self.open(sessions, None, problems);
        }
        self.closed(users.map_or(sessions, |users| users as u32))
    }

    /// A search fills its rates in one after the other. `moved` is what an operation moves on the mean.
    fn open(&self, slots: u32, moved: Option<f64>, problems: &mut Problems) -> LoadSpec {
        let rate = match self.point.given(&RATE, self.i) {
            None => PerSecond(1.0),
            Some(Pace::Operations(rate)) => rate,
            Some(Pace::Bytes(per_s)) => {
                let rate = moved.filter(|moved| *moved > 0.0).map(|moved| PerSecond(per_s / moved));
                if !rate.is_some_and(|rate| rate.0 <= RATE.domain.most.max) {
                    let message =
                        "a rate in `/s` here: bytes a second are for blocks that move some, at most 100 M/s of them";
                    self.refuse(&RATE, message, problems);
                }
                rate.unwrap_or(PerSecond(1.0))
            }
        };
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
            sqpoll: point.get(&SQPOLL, i),
            priority: point.get(&PRIORITY, i),
            validate: point.get(&VALIDATE, i),
            verify: point.get(&VERIFY, i) && point.spec().place.holds_data(),
        };
        if access.poll && (!access.direct || access.driver == Driver::Plain) {
            self.refuse(&POLL, "polling needs `direct = true` and io_uring", problems);
        }
        if access.sqpoll && (access.poll || access.driver == Driver::Plain) {
            self.refuse(&SQPOLL, "a thread of the kernel needs io_uring, and takes no `poll` beside it", problems);
        }
        access
    }

    fn threads(&self, count: &Key<Count>) -> Threads {
        let (point, i) = (self.point, self.i);
        Threads {
            count: point.get(count, i) as u32,
            pin: point.get(&PIN, i),
            cpus: point.get(&CPUS, i),
            pacing: point.get(&PACING, i),
        }
    }

    fn session_threads(&self, sessions: u32, problems: &mut Problems) -> Threads {
        let threads = self.threads(&THREADS);
        if threads.count > sessions {
            let message = format!("at most as many threads as sessions, which are {sessions}, got {}", threads.count);
            self.refuse(&THREADS, message, problems);
        }
        Threads { count: threads.count.min(sessions), ..threads }
    }
}
