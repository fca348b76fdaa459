//! Classes of transactions that ask for different things, on a described server.

use crate::bench::{closed, run, trial, try_run};
use engine::{Described, Need, Opened, TrialError};
use load::{Pacing, Ramp, Spec};
use observation::{ClassKind, Footprint, Observations, Whole};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{OnError, Place, Pool, Sessions, Stream, SystemSpec, Threads, Trial, Work};
use units::{Bytes, Nanos};
use workload::Demand;
use workload::brokerage::MEAN;
use workload::dataset::{DataSet, Language};
use workload::kind::{Around, Class, Ready, Share, Transactions, Unready};
use workload::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Statement, Step};

/// A workload whose classes come in turn, and which may be a job that ends.
#[derive(Clone, Debug, PartialEq)]
struct InTurn {
    demands: Vec<Option<Demand>>,
    work: Option<u64>,
}

/// So many statements, of as many rows found and changed as the mean transaction's have.
fn statements(count: f64) -> Option<Demand> {
    let each = count / MEAN.statements;
    Some(Demand { statements: count, lookups: each * MEAN.lookups, changes: each * MEAN.changes })
}

fn users(counts: &[f64]) -> InTurn {
    InTurn { demands: counts.iter().map(|count| statements(*count)).collect(), work: None }
}

impl Transactions for InTurn {
    fn classes(&self) -> Vec<Class> {
        self.demands.iter().map(|demand| Class { demand: *demand, ..Class::plain("a class") }).collect()
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        None
    }

    fn work(&self) -> Option<u64> {
        self.work
    }

    fn ready(&self, _around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(self.clone()))
    }
}

impl Ready for InTurn {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        Vec::new()
    }

    fn business(&self, _share: &Share) -> Box<dyn Business> {
        Box::new(self.clone())
    }
}

impl Business for InTurn {
    fn class(&mut self, n: u64, _payload: u64) -> u16 {
        (n % self.demands.len() as u64) as u16
    }

    fn begin(&mut self, _slot: u32, _begun: Begun) {}

    fn step(&mut self, _slot: u32, _answers: &Answers, _batch: &mut Batch) -> Step {
        Step::Done { rolled_back: false }
    }

    fn restart(&mut self, _slot: u32) {}

    fn ended(&mut self, _slot: u32, _ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {}
}

fn stream(asked: InTurn, load: Spec, sessions: u32) -> Stream {
    let how = Sessions::default();
    let (on_error, recovery) = (OnError::GoOn, Nanos::ZERO);
    let pool =
        Pool { sessions, how, on_error, check: false, recovery, waits: false, profile: false, limit: Nanos::ZERO };
    let work = Work::Transactions { asked: Arc::new(asked), pool };
    Stream {
        work,
        load,
        ramp: Ramp::default(),
        threads: Threads { count: 1, pin: false, cpus: study::Cpus::Any, pacing: Pacing::Sleep },
    }
}

fn of(streams: Vec<Stream>, seconds: u64) -> Trial {
    let mut made = trial(streams, Nanos::from_secs(seconds));
    for (stream, label) in made.streams.iter().zip(&mut made.label.streams) {
        let (asked, _) = stream.transactions().expect("transactions");
        label.classes = asked.classes().into_iter().map(|class| (class.name, ClassKind::Work)).collect();
    }
    made
}

/// A server that ships, with some numbers changed.
fn server(name: &str, changes: &[(&str, &str)]) -> Opened {
    let shipped = model::models().iter().find(|shipped| shipped.name == name).expect("it ships");
    let changes: Vec<(String, String)> = changes.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
    let description = model::file::read(name, shipped.text).and_then(|model| model.changed(&changes));
    let described = Described { description: description.expect("it can be read"), text: shipped.text.to_owned() };
    let place = Place::Model { model: name.to_owned(), changes: Vec::new() };
    let spec = SystemSpec { name: "by hand".into(), place, size: None, modules: None, footprint: Footprint::default() };
    let (cache, stop) = (std::env::temp_dir(), Arc::new(AtomicBool::new(false)));
    let need = Need {
        model: Some(&described),
        modules: 1,
        filled: 1,
        module_bytes: Bytes(0),
        run_id: "test",
        seed: 11,
        keep: false,
        data_set: false,
        consents: &[],
        cache_dir: &cache,
        stop: &stop,
    };
    Opened::open(&spec, &need).expect("a server opens")
}

/// Mean response of a class in milliseconds, and how many of it ended.
fn seen(observations: &Observations, stream: u16, class: u16) -> (f64, u64) {
    let cells = observations.window_cells().filter(|cell| (cell.key.stream, cell.key.class) == (stream, class));
    let (mut response, mut done) = (observation::Histogram::default(), 0);
    cells.for_each(|cell| {
        response.merge(&cell.response);
        done += cell.tally.done;
    });
    (response.mean_ns().unwrap_or(0.0) / 1e6, done)
}

/// A session that is alone waits for nobody: what its classes take is what they ask for.
#[test]
fn classes_of_two_and_of_twenty_statements_take_as_long_as_they_ask() {
    // 0.3 ms of processor and one read of 0.12 ms for the mean transaction; the log takes both 0.1 ms.
    let mut opened = server("small-server", &[]);
    let seen_at = run(&mut opened, &of(vec![stream(users(&[2.0, 20.0]), closed(1), 1)], 20));
    for (class, statements) in [(0, 2.0), (1, 20.0)] {
        let (mean, done) = seen(&seen_at, 0, class);
        let exact = statements / MEAN.statements * (0.3 + 0.12) + 0.1;
        assert!((mean / exact - 1.0).abs() < 0.02 && done > 4_000, "{statements}: {mean} ms, exact {exact}");
    }
}

/// A class that changes nothing does not wait for the log.
#[test]
fn who_changes_nothing_does_not_wait_for_the_log() {
    let reads = Some(Demand { changes: 0.0, ..MEAN });
    let asked = InTurn { demands: vec![Some(MEAN), reads], work: None };
    let seen_at = run(&mut server("small-server", &[("log_time", "2000")]), &of(vec![stream(asked, closed(1), 1)], 20));
    let (writing, reading) = (seen(&seen_at, 0, 0).0, seen(&seen_at, 0, 1).0);
    assert!((writing - reading - 2.0).abs() < 0.05, "{writing} and {reading} ms");
}

/// Cores of the server on which transactions are at work, over all their cores.
fn utilisation(observations: &Observations) -> f64 {
    let of = |probe: Whole| observations.series_of(&probe.into()).expect("a server that has cores").points[0].1;
    of(Whole::ServerCpuBusy) / of(Whole::ServerCores)
}

#[test]
fn many_users_get_as_much_of_two_classes_as_of_one_of_their_mean_and_cores_are_busy_as_they_ask() {
    let none = [("driver", "0.000001"), ("contention", "0.000000001"), ("capacity_2", "1"), ("capacity_4", "1")];
    let changes: Vec<(&str, &str)> = none.into_iter().chain([("capacity_8", "1")]).collect();
    for (sessions, full) in [(2, false), (64, true)] {
        let rate = |counts: &[f64]| {
            let asked = stream(users(counts), closed(sessions), sessions);
            let seen_at = run(&mut server("small-server", &changes), &of(vec![asked], 20));
            (crate::bench::done(&seen_at) as f64 / 20.0, utilisation(&seen_at))
        };
        let ((both, busy), (mean, _)) = (rate(&[2.0, 20.0]), rate(&[11.0]));
        assert!((both / mean - 1.0).abs() < 0.03, "{sessions}: {both} and {mean} a second");
        // The utilisation law: what ends a second, times what it asks of four cores.
        let asked = both * 11.0 / MEAN.statements * 0.3e-3 / 4.0;
        assert!((busy / asked - 1.0).abs() < 0.02, "{sessions}: {busy} busy, asked {asked}");
        assert_eq!(full, busy > 0.98, "{busy}");
    }
}

#[test]
fn two_streams_on_one_server_have_their_own_classes() {
    let streams = vec![stream(users(&[2.0, 20.0]), closed(1), 1), stream(users(&[200.0]), closed(1), 1)];
    let cores = [("cores", "1000"), ("contention", "0.000000001")];
    let seen_at = run(&mut server("small-server", &cores), &of(streams, 20));
    for (stream, class, statements) in [(0, 0, 2.0), (0, 1, 20.0), (1, 0, 200.0)] {
        let (mean, exact) = (seen(&seen_at, stream, class).0, statements / MEAN.statements * 0.42 + 0.1);
        // The log is shared by both, so that who meets the other's write waits for the next.
        assert!((mean / exact - 1.0).abs() < 0.05, "{statements}: {mean} ms, exact {exact}");
    }
}

#[test]
fn a_job_runs_to_its_end_on_a_model_alone_and_beside_users() {
    let job = || stream(InTurn { work: Some(1_000), ..users(&[20.0]) }, closed(4), 4);
    let mut alone = of(vec![job()], 3_600);
    alone.phases.fixed_work = true;
    let seen_at = run(&mut server("small-server", &[]), &alone);
    assert_eq!((seen_at.accounts[0].done, seen_at.accounts[0].planned), (1_000, 1_000));
    // A thousand transactions of 3.5 times the mean by four sessions.
    let lasts = seen_at.elapsed_s.expect("the time of a job");
    assert!((0.3..1.0).contains(&lasts), "{lasts} s");

    let beside = of(vec![stream(users(&[2.0]), closed(8), 8), job()], 20);
    let seen_at = run(&mut server("small-server", &[]), &beside);
    assert_eq!(seen_at.accounts[1].done, 1_000);
    assert!(seen_at.accounts[0].done > 20_000, "{}", seen_at.accounts[0].done);
}

/// One session of a server, which a closed load says how many it carries out in a second; arrivals have gaps alike.
#[test]
fn an_open_load_with_a_limit_skips_what_would_begin_later_and_every_arrival_is_in_one_place() {
    let run_with = |per_s: f64, limit: Nanos| {
        let load = Spec::Open { rate: units::PerSecond(per_s), arrivals: load::Arrivals::Constant, slots: 1 };
        let mut asked = of(vec![stream(users(&[MEAN.statements]), load, 1)], 20);
        if let Work::Transactions { pool, .. } = &mut asked.streams[0].work {
            pool.limit = limit;
        }
        let counting = [("over".to_owned(), ClassKind::Late), ("skipped".to_owned(), ClassKind::Skipped)];
        asked.label.streams[0].classes.extend(counting);
        let seen_at = run(&mut server("small-server", &[]), &asked);
        let (late, skipped) = (seen(&seen_at, 0, 1).1, seen(&seen_at, 0, 2).1);
        assert!(seen_at.accounts[0].closes(), "{:?}", seen_at.accounts);
        (late, skipped, seen_at.accounts[0].planned)
    };
    let closed = run(&mut server("small-server", &[]), &of(vec![stream(users(&[MEAN.statements]), closed(1), 1)], 20));
    let most = crate::bench::done(&closed) as f64 / 20.0;
    // Twice what it can: half is skipped, and whoever is served waited for nearly as long as the limit lets him.
    let (late, skipped, served) = run_with(2.0 * most, Nanos::from_millis(20));
    let arrivals = 20.0 * 2.0 * most;
    assert!(((skipped + served) as f64 / arrivals - 1.0).abs() < 0.001, "{skipped} and {served} of {arrivals}");
    assert!(
        (skipped as f64 / arrivals - 0.5).abs() < 0.02 && late > served / 2,
        "{late} late, {skipped} of {arrivals}"
    );
    // Half of what it can: nobody waits, and all take longer than a limit below their own time.
    let (late, skipped, served) = run_with(0.5 * most, Nanos::from_millis(20));
    assert_eq!((late, skipped), (0, 0), "of {served}");
    let (late, skipped, served) = run_with(0.5 * most, Nanos(100_000));
    assert!(late > 99 * served / 100 && skipped < served / 50, "{late} of {served}, {skipped} skipped");
}

/// A job that is alone takes what its class asks for of both nodes; who changes nothing never asks the second.
#[test]
fn classes_of_a_pair_take_as_long_as_they_ask_and_who_changes_nothing_is_not_mirrored() {
    let shipped = model::models().iter().find(|shipped| shipped.name == "mirror-case2").expect("it ships");
    let described = model::file::read("pair", shipped.text).expect("it can be read");
    let ms = |names: &[&str]| names.iter().map(|name| described.parameter(name).expect("it has it").value).sum::<f64>();
    let (own, mirrored) = (ms(&["demand", "inside"]), ms(&["source_mirror", "target_mirror", "mirror_delay"]));
    let reads = Demand { changes: 0.0, ..MEAN };
    let asked = InTurn { demands: vec![statements(2.0), statements(20.0), Some(reads)], work: None };
    let mut pair = server("mirror-case2", &[("source_cores", "22")]);
    let seen_at = run(&mut pair, &of(vec![stream(asked, closed(1), 1)], 100));
    let times = |count: f64| count / MEAN.statements * (own + mirrored);
    for (class, exact) in [(0, times(2.0)), (1, times(20.0)), (2, own)] {
        let (mean, done) = seen(&seen_at, 0, class);
        assert!((mean / exact - 1.0).abs() < 0.03 && done > 3_000, "class {class}: {mean} ms, exact {exact}");
    }
}

#[test]
fn an_event_that_a_model_does_not_know_is_refused_by_name_before_anything_runs() {
    use workload::happening::{Happening, Mishap};
    let mut asked = of(vec![stream(users(&[2.0]), closed(1), 1)], 1);
    asked.events = vec![(Nanos(1), Happening::Pair(Mishap::Cut))];
    let refused = try_run(&mut server("small-server", &[]), &asked).expect_err("a server has no mirror");
    assert!(matches!(&refused, TrialError::Event { event, .. } if event == "cut"), "{refused:?}");
    try_run(&mut server("mirror-case2", &[("source_cores", "22")]), &asked).expect("a pair has one");
}
