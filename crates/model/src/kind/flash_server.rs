//! A transaction server on flash: threads that go round between processors, storage and, when the load driver shares the
//! machine, the driver.
//!
//! The one idea: storage answers in a time that hardly depends on this load, so it is a delay; all that bends the curve is
//! in the processors. The driver's own work takes processor time too, but outside of the response that it measures: that
//! is why threads are more than throughput times response.
//!
//! Where a file says how large the data of a customer and the buffer are, other numbers of customers in a row, and the memory
//! that sessions take from the buffer, move the reads that miss it.

use super::law::{Carries, Inside, Law};
use super::{OF_SERVERS, Quantity, Steady, Unanswered, Values, carried, number};
use crate::form::misses::misses;
use crate::form::processors::Processors;
use crate::form::{closed, group_commit};
use crate::rows::Row;
use crate::server::{Amount, Factors, Log, Plan, Profile, Reads, Server, Work};

super::asks! {
    counted "cores" "cores" 100_000.0 "cores of the server";
    asked "capacity_2" "cores" 1.0 2.0 "what a core does with two threads, in cores with one";
    asked "capacity_4" "cores" 1.0 4.0 "what a core does with four threads";
    asked "capacity_8" "cores" 1.0 8.0 "what a core does with eight threads; as with four when it has no more";
    asked "demand" "ms" 1e-5 1e6 "processor time of a transaction on a core of its own";
    asked "contention" "1" 1e-9 1.0 "share by which each ready thread makes the work of all longer";
    asked "reads" "reads" 1e-6 1e6 "reads of a transaction that it waits for, one after the other";
    asked "read_time" "us" 0.01 1e8 "response of the storage to one of them";
    asked "writes" "writes" 1e-6 1e6 "writes of a transaction that it does not wait for";
    asked "log_time" "us" 1e-3 1e8 "a write of the log, which all who commit meanwhile share";
    asked "driver" "us" 1e-6 1e7 "processor time of the load driver for a transaction, outside of the response";
    misses;
    jobs;
    asked "latch" "1" 0.0 0.5 "share of a transaction's work with the latch held that is asked for most; who waits for it spins" or 0.0;
    asked "customers" "customers" 0.0 1e9 "customers of the data at which `reads` holds; 0 when nothing is known of them" or 0.0;
    asked "customer_bytes" "MB" 1e-6 1e6 "data of a customer, with indexes" or 8.0;
    asked "buffer" "GB" 1e-6 1e6 "memory that holds pages" or 1.0;
    asked "skew" "1" 0.0 0.99 "exponent of Zipf's law by which pages are asked for" or 0.5;
    asked "session_memory" "MB" 0.0 1e6 "memory that each session takes from the buffer" or 0.0;
}

const ANSWERS: &[Quantity] = &[
    OF_SERVERS[0],
    OF_SERVERS[1],
    OF_SERVERS[2],
    Quantity::rate("io-rate", "1/s"),
    Quantity::other("io-response", "us"),
];

pub(super) const LAW: Law = Law {
    inside: Some(Inside::SESSIONS),
    keys: &["customers"],
    amounts: &[
        (Amount::Cpu, "demand"),
        (Amount::Reads, "reads"),
        (Amount::Writes, "writes"),
        (Amount::Driver, "driver"),
    ],
    carries: Carries::Transactions(|_, values, setting| {
        let customers = setting.customers.map(|customers| customers as f64);
        let described = OnFlash::of(values, customers, f64::from(setting.slots));
        Ok(Box::new(Server::new(&described.plan(&setting.classes), setting.slots, setting.seed)))
    }),
    ..Law::closed(ASKS, ANSWERS, answer)
};

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let at_threads =
        |threads: f64| OnFlash::of(values, row.number("customers"), threads).settled(threads).quantity(quantity);
    match quantity {
        "io-response" => Ok(values.of("read_time")),
        // Operations of a run whose threads nobody states are the most that there are.
        "io-rate" if row.text("threads").is_none() => Ok(most(values, at_threads)),
        _ => Ok(at_threads(number(row, "threads")?)),
    }
}

/// The most of a rate over all numbers of threads. It has been seen where all cores are full and more threads add nothing.
fn most(values: &Values, rate: impl Fn(f64) -> f64) -> f64 {
    let full = THREADS_A_CORE * values.of("cores");
    let (mut threads, mut most) = (1.0, 0.0f64);
    while threads < MOST_THREADS {
        let found = rate(threads);
        if threads > full && found < most * RISING {
            break;
        }
        most = most.max(found);
        threads = libm::ceil(threads * STEP);
    }
    most
}

/// Numbers of threads among which the most is looked for: each so many times the one before, up to some thousands.
const STEP: f64 = 1.1;
const MOST_THREADS: f64 = 5_000.0;
/// Threads with which a core does the most that it can.
const THREADS_A_CORE: f64 = 8.0;
/// A rate that has not grown by so much in a step has reached its most.
const RISING: f64 = 1.0001;

/// The factor on reads of other customers than those at which they hold, and of memory that sessions take.
fn missing(values: &Values, customers: Option<f64>, threads: f64) -> f64 {
    let (known, buffer) = (values.of("customers"), values.of("buffer"));
    let customers = customers.unwrap_or(known);
    let left = (buffer - threads * values.of("session_memory") / 1e3).max(LEAST * buffer);
    if known <= 0.0 || (customers == known && left == buffer) {
        return 1.0;
    }
    let share = |buffer: f64, customers: f64| {
        misses(1e3 * buffer / (customers * values.of("customer_bytes")), values.of("skew"))
    };
    share(left, customers) / share(buffer, known).max(LEAST)
}

/// Share of the buffer that sessions leave at least, and of look-ups that miss at least.
const LEAST: f64 = 1e-3;

/// The server as its file describes it, with so many customers' data and sessions: the closed form and the simulation are both
/// made of it.
pub(crate) struct OnFlash {
    processors: Processors,
    profile: Profile,
    read_us: f64,
    log_us: f64,
    driver_us: f64,
    jobs: u32,
}

/// Variation of reads of flash: some queue inside the array, most do not.
const VARIATION: f64 = 0.5;

impl OnFlash {
    pub(crate) fn of(values: &Values, customers: Option<f64>, sessions: f64) -> OnFlash {
        let profile = Profile {
            cpu_ms: values.of("demand"),
            reads: missing(values, customers, sessions) * values.of("misses") * values.of("reads"),
            writes: values.of("writes"),
            changes: 1.0,
            ..Profile::default()
        };
        OnFlash {
            processors: Processors::of(values),
            profile,
            read_us: values.of("read_time"),
            log_us: values.of("log_time"),
            driver_us: values.of("driver"),
            jobs: values.of("jobs") as u32,
        }
    }

    /// What its simulation is built from, for classes that ask for so many times what its transaction does.
    pub(crate) fn plan(&self, classes: &[Factors]) -> Plan {
        Plan {
            work: Work::Shared(self.processors),
            reads: Reads::Delay { us: self.read_us, variation: VARIATION },
            log: Some(Log { write_us: self.log_us, bytes_per_s: f64::INFINITY }),
            driver_us: self.driver_us,
            jobs: self.jobs,
            classes: self.profile.of_each(classes),
        }
    }

    /// How it does with so many threads that take one transaction after the other.
    fn settled(&self, threads: f64) -> Steady {
        let driver_s = self.driver_us / 1e6;
        let busy_s = self.profile.cpu_ms / 1e3 + driver_s;
        let (reads_s, log_s) = (self.profile.reads * self.read_us / 1e6, self.log_us / 1e6);
        let completions = self.processors.completions(libm::ceil(threads) as u32, busy_s);
        let around = |outside: f64, delay_s: f64| {
            // Who waits for a job is nowhere else; the driver works for others meanwhile.
            closed::between(carried(self.jobs, threads, outside), |count| {
                closed::one_station(count, delay_s, |n| completions[n as usize])
            })
        };
        let mut settled = around(0.0, reads_s + log_s);
        // The wait for the log hardly moves the rate that it depends on: each round is far closer than the one before.
        for _ in 0..ROUNDS {
            let outside = settled.at_stations * driver_s / busy_s;
            settled = around(outside, reads_s + group_commit::wait_s(settled.rate_per_s, log_s));
        }
        let outside = settled.at_stations * driver_s / busy_s;
        let cores = self.processors.cores;
        Steady {
            rate_per_s: settled.rate_per_s,
            response_ms: 1e3 * (threads - outside) / settled.rate_per_s,
            utilisation: self.processors.work(settled.at_stations).min(cores) / cores,
            operations_per_s: settled.rate_per_s * (self.profile.reads + self.profile.writes),
        }
    }
}

/// Rounds in which the rate and the wait for the log settle.
const ROUNDS: u32 = 4;
