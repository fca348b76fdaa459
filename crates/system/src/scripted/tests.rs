//! Known answers: load, scripted system and recorder together must give what the formulas give.

use super::*;
use load::{Arrivals, Limit, Load, Machine, Next, Ramp, Spec, Think, whole};
use observation::{Account, Cell, Window};
use proptest::prelude::*;
use recorder::{Collector, Layout, Origin, Outcome};
use units::{PerSecond, Share};
use workload::OperationKind;

const READ: Operation = Operation { kind: OperationKind::Read, class: 0, module: 0, offset: 0, bytes: 4096 };

fn script(service: &[Nanos]) -> ScriptSpec {
    ScriptSpec {
        service: service.to_vec(),
        servers: 1,
        per_byte_ns: 0.0,
        spread: Share(0.0),
        stall: None,
        fail_every: None,
        drift_per_s: 0.0,
    }
}

/// What a trial of some length comes to; a fifth of it is warm-up.
struct Trial {
    total: Cell,
    account: Account,
    window: Window,
}

impl Trial {
    fn run(spec: Spec, script: ScriptSpec, length: Nanos) -> Trial {
        let window = Window { start: Nanos(length.0 / 5), end: length };
        let limit = Limit { until: length, count: None };
        let load = whole(&spec, Ramp::default(), limit, 20, Nanos::ZERO).measured(window.start, window.end);
        let port = ScriptedPort::new(script, 4, load.slots());
        Trial::drive(load, port, window)
    }

    fn drive(mut load: Machine, mut port: ScriptedPort, window: Window) -> Trial {
        let mut collector = Collector::default();
        let interval = Nanos(window.length().0 / 4);
        let (classes, endpoints) = (1, 1);
        let layout = Layout { stream: 0, generator: 0, classes, endpoints, window, interval, start: Nanos::ZERO };
        let mut recorder = collector.recorder(layout);
        let mut flights = vec![(Nanos::ZERO, Nanos::ZERO); load.slots() as usize];
        let mut ended = Vec::new();
        let mut out = 0;
        loop {
            let now = port.now();
            let wait = match load.next(now) {
                Next::Issue(arrival) => {
                    flights[arrival.slot as usize] = (arrival.intended, now);
                    port.stage(arrival.slot, &READ, false);
                    port.submit().unwrap();
                    out += 1;
                    continue;
                }
                Next::WaitUntil(at) => Wait::Until(at),
                Next::Finished if out == 0 => break,
                Next::Blocked | Next::Finished => Wait::Completion,
            };
            port.reap(wait, &mut ended).unwrap();
            for completion in ended.drain(..) {
                let (intended, issued) = flights[completion.slot as usize];
                let failed = matches!(completion.outcome, crate::Outcome::Failed { .. });
                let outcome = if failed { Outcome::Failed } else { Outcome::done(READ.bytes.into()) };
                recorder.record(recorder::Operation {
                    class: 0,
                    endpoint: 0,
                    origin: Origin::Planned,
                    intended,
                    issued: Some(issued),
                    completed: completion.at,
                    outcome,
                });
                load.completed(completion.slot, completion.at);
                out -= 1;
            }
        }
        let books = load.books();
        let account = recorder.finish(books.planned).unwrap();
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        let mut total = Cell::default();
        let inside = |cell: &&Cell| window.contains(Nanos(interval.0 * u64::from(cell.key.interval)));
        cells.iter().filter(inside).for_each(|cell| total.merge(cell));
        Trial { total, account: Account { think_ns: books.think_ns, slots_ns: books.slots_ns, ..account }, window }
    }

    fn throughput(&self) -> f64 {
        self.total.tally.done as f64 / self.window.length().seconds()
    }

    /// Mean response time in seconds.
    fn response(&self) -> f64 {
        self.total.response.mean_ns().unwrap() / 1e9
    }

    fn quantile(&self, q: f64) -> f64 {
        self.total.response.quantile_ns(q).unwrap() as f64 / 1e9
    }
}

fn open(rate: f64, arrivals: Arrivals) -> Spec {
    Spec::Open { rate: PerSecond(rate), arrivals, slots: 4096 }
}

fn near(seen: f64, expected: f64, share: f64) {
    assert!((seen / expected - 1.0).abs() < share, "{seen} is not within {share} of {expected}");
}

/// Poisson arrivals, exponential service: the mean response is 1 / (service rate - arrival rate), and the time in the
/// system is exponential, so that its 99th percentile is ln 100 times the mean (Kleinrock, Queueing Systems I, 3.2).
#[test]
fn one_server_with_drawn_times_has_the_response_of_m_m_1() {
    let system = ScriptSpec { spread: Share(1.0), ..script(&[Nanos::from_micros(500)]) };
    let trial = Trial::run(open(1_000.0, Arrivals::Poisson), system, Nanos::from_secs(500));
    near(trial.response(), 1e-3, 0.02);
    near(trial.quantile(0.99), 100f64.ln() * 1e-3, 0.03);
    near(trial.throughput(), 1_000.0, 0.01);
}

/// Pollaczek and Khinchine: with constant service the wait is half that of drawn service.
#[test]
fn one_server_with_constant_times_has_the_wait_of_m_d_1() {
    let trial = Trial::run(open(1_400.0, Arrivals::Poisson), script(&[Nanos::from_micros(500)]), Nanos::from_secs(300));
    let (service, load) = (500e-6, 0.7);
    near(trial.response(), service + load * service / (2.0 * (1.0 - load)), 0.02);
}

/// Erlang's C formula for two servers: the mean wait is `load^2 * service / (1 - load^2)`.
#[test]
fn two_servers_have_the_wait_of_m_m_2() {
    let system = ScriptSpec { servers: 2, spread: Share(1.0), ..script(&[Nanos::from_millis(1)]) };
    let trial = Trial::run(open(1_200.0, Arrivals::Poisson), system, Nanos::from_secs(400));
    let (service, load) = (1e-3, 0.6);
    near(trial.response(), service + load * load * service / (1.0 - load * load), 0.02);
}

/// Mean value analysis of ten users who think and one server (Reiser and Lavenberg 1980), exact for drawn times.
#[test]
fn a_closed_load_with_think_time_has_the_throughput_of_the_machine_repair_model() {
    let (users, think, service) = (10, 5e-3, 1e-3);
    let system = ScriptSpec { spread: Share(1.0), ..script(&[Nanos::from_millis(1)]) };
    let spec = Spec::Closed { slots: users, think: Think::Exponential(Nanos::from_millis(5)) };
    let trial = Trial::run(spec, system, Nanos::from_secs(200));
    let (mut waiting, mut response, mut throughput) = (0.0, 0.0, 0.0);
    for n in 1..=users {
        response = service * (1.0 + waiting);
        throughput = f64::from(n) / (think + response);
        waiting = throughput * response;
    }
    near(trial.throughput(), throughput, 0.01);
    near(trial.response(), response, 0.02);
}

#[test]
fn a_closed_load_on_constant_times_is_exact_and_closes_littles_law() {
    let system = ScriptSpec { servers: 2, ..script(&[Nanos::from_micros(100)]) };
    let trial = Trial::run(Spec::Closed { slots: 8, think: Think::None }, system, Nanos::from_secs(1));
    assert_eq!(trial.throughput(), 20_000.0);
    assert_eq!((trial.total.response.min_ns(), trial.total.response.max_ns()), (400_000, 400_000));
    let account = trial.account;
    assert_eq!(account.service_ns + account.lateness_ns + account.think_ns, account.slots_ns);
    assert_eq!(account.slots_ns, 8 * u128::from(trial.window.length().0));
}

const STALL: Option<Stall> = Some(Stall { every: Nanos::from_secs(10), lasts: Nanos::from_secs(1) });

/// A thousand arrivals a second, a server that needs 0.1 ms, and 1 s of every 10 in which it does nothing. The arrival
/// that comes k ms into the pause is served 0.1 ms after the one before it, so its response is 1.0001 s - k * 0.9 ms.
/// Of 10 000 arrivals the hundred worst lie beyond the 99th percentile, the ten worst beyond the next digit.
#[test]
fn a_stall_of_1_s_in_10_is_seen_exactly_under_constant_arrivals() {
    let system = ScriptSpec { stall: STALL, ..script(&[Nanos::from_micros(100)]) };
    let trial = Trial::run(open(1_000.0, Arrivals::Constant), system, Nanos::from_secs(100));
    near(trial.quantile(0.99), 1.0001 - 100.0 * 0.0009, 0.001);
    near(trial.quantile(0.999), 1.0001 - 10.0 * 0.0009, 0.001);
    near(trial.quantile(0.5), 100e-6, 0.001);
    assert_eq!(trial.total.response.max_ns(), 1_000_100_000);
    assert_eq!(trial.account.planned, 80_000);
}

/// With Poisson arrivals and next to no service time, a response beyond x s means an arrival in the first 1 - x s of a
/// pause: one in ten times 1 - x. Those who came before take 1 us each, which adds a thousandth of the time waited.
#[test]
fn a_stall_of_1_s_in_10_is_seen_under_poisson_arrivals() {
    let system = ScriptSpec { stall: STALL, ..script(&[Nanos::from_micros(1)]) };
    let trial = Trial::run(open(1_000.0, Arrivals::Poisson), system, Nanos::from_secs(500));
    near(trial.quantile(0.99), 1.0 - 0.1 * 0.999, 0.01);
    near(trial.quantile(0.999), 1.0 - 0.01 * 0.999, 0.01);
}

/// What a closed load with one outstanding would have claimed: it meets each stall once, and hides it. This is why a
/// rate is offered and not awaited.
#[test]
fn a_closed_load_meets_each_stall_once() {
    let system = ScriptSpec { stall: STALL, ..script(&[Nanos::from_millis(1)]) };
    let trial = Trial::run(Spec::Closed { slots: 1, think: Think::None }, system, Nanos::from_secs(100));
    assert_eq!(trial.total.response.count_above(2_000_000), 8);
    near(trial.quantile(0.999), 1e-3, 0.001);
}

#[test]
fn times_are_used_in_turn_bytes_cost_and_every_nth_fails() {
    let times = [Nanos(100), Nanos(300)];
    let system = ScriptSpec { per_byte_ns: 0.25, fail_every: Some(3), ..script(&times) };
    let mut port = ScriptedPort::new(system, 1, 4);
    (0..4).for_each(|slot| port.stage(slot, &READ, false));
    let mut ended = Vec::new();
    while ended.len() < 4 {
        port.reap(Wait::Completion, &mut ended).unwrap();
    }
    let seen: Vec<_> = ended.iter().map(|c| (c.slot, c.outcome, c.at.0)).collect();
    let (moved, failed) = (crate::Outcome::Moved { bytes: 4096 }, crate::Outcome::Failed { errno: 5 });
    assert_eq!(seen, [(0, moved, 1_124), (1, moved, 2_448), (2, failed, 3_572), (3, moved, 4_896)]);
}

#[test]
fn service_drifts_by_the_share_that_is_written() {
    let system = ScriptSpec { drift_per_s: 0.5, ..script(&[Nanos(1_000)]) };
    let mut port = ScriptedPort::new(system, 1, 1);
    let mut ended = Vec::new();
    port.reap(Wait::Until(Nanos::from_secs(2)), &mut ended).unwrap();
    port.stage(0, &READ, false);
    port.reap(Wait::Completion, &mut ended).unwrap();
    assert_eq!(ended[0].at, Nanos(2_000_002_000));
}

#[test]
fn a_driver_that_spins_moves_time_too() {
    let mut port = ScriptedPort::new(script(&[Nanos(120)]), 1, 1);
    let mut ended = Vec::new();
    port.stage(0, &READ, false);
    while ended.is_empty() {
        port.reap(Wait::Poll, &mut ended).unwrap();
    }
    assert_eq!(ended[0].at, Nanos(150));
}

#[test]
fn equal_seeds_give_equal_cells_and_other_seeds_others() {
    let run = |rate| {
        let system = ScriptSpec { spread: Share(0.7), stall: STALL, ..script(&[Nanos(70_000), Nanos(90_000)]) };
        Trial::run(open(rate, Arrivals::Poisson), system, Nanos::from_secs(20)).total
    };
    assert_eq!(run(3_000.0), run(3_000.0));
    assert_ne!(run(3_000.0), run(3_001.0));
}

proptest! {
    /// Step by step: time goes on, work only outside the pauses.
    #[test]
    fn service_goes_on_behind_a_stall(every in 2u64..40, lasts in 0u64..39, start in 0u64..200, service in 0u64..100) {
        let stall = Stall { every: Nanos(every), lasts: Nanos(lasts.min(every - 1)) };
        let awake = |at: u64| at % every < every - stall.lasts.0;
        let (mut at, mut left) = (start, service);
        while left > 0 || (service == 0 && !awake(at)) {
            left -= u64::from(left > 0 && awake(at));
            at += 1;
        }
        prop_assert_eq!(end(stall, start, service), at);
    }
}

#[test]
fn draws_of_a_seed_stay_what_they_are() {
    let mut port = ScriptedPort::new(ScriptSpec { spread: Share(1.0), ..script(&[Nanos(1_000_000_000)]) }, 42, 4);
    let mut completions = Vec::new();
    (0..4).for_each(|slot| port.stage(slot, &READ, false));
    while completions.len() < 4 {
        port.reap(Wait::Completion, &mut completions).unwrap();
    }
    let ends: Vec<u64> = completions.iter().map(|one| one.at.0).collect();
    assert_eq!(ends, [298_992_625, 2_132_134_290, 3_410_108_451, 4_476_667_818]);
}
