//! Servers against closed forms and theory.

use super::*;
use crate::asked::Values;
use crate::file::{self, Description};
use crate::form::processors::Processors;
use crate::form::{closed, group_commit};
use crate::kernel::tests::across;
use crate::kind::{OnDisks, OnFlash};
use crate::machine::{Ended, Machine, TRANSACTION};
use crate::rows::{self, Row};
use crate::{calibrate, judge};
use units::Nanos;
use workload::Operation;

/// What a closed load of so many sessions saw.
struct Seen {
    rate_per_s: f64,
    response_s: f64,
    server: Server,
}

fn run(plan: &Plan, sessions: u32, seed: u64, transactions: u64) -> Seen {
    let ask = |slot: u32| Operation { class: (slot % 2) as u16, ..TRANSACTION };
    let mut server = Server::new(plan, sessions, seed);
    let mut submitted = vec![Nanos(0); sessions as usize];
    (0..sessions).for_each(|slot| server.submit(Nanos(0), slot, &ask(slot)));
    let (mut ended, mut done, warm) = (Vec::<Ended>::new(), 0u64, transactions / 10);
    let (mut sum_ns, mut began, mut now) = (0u64, Nanos(0), Nanos(0));
    while done < transactions + warm {
        now = server.advance(Nanos(u64::MAX), &mut ended);
        for Ended { slot, at, .. } in ended.drain(..) {
            done += 1;
            if done > warm {
                sum_ns += at.0 - submitted[slot as usize].0 - server.outside(slot).0;
            } else if done == warm {
                (began, sum_ns) = (at, 0);
                server.clear();
            }
            submitted[slot as usize] = at;
            server.submit(at, slot, &ask(slot));
        }
    }
    let counted = (done - warm) as f64;
    Seen { rate_per_s: counted * 1e9 / (now.0 - began.0) as f64, response_s: sum_ns as f64 / counted / 1e9, server }
}

/// Means over a few seeds.
fn mean(plan: &Plan, sessions: u32, transactions: u64) -> (f64, f64) {
    let seen: Vec<Seen> = (1..=4).map(|seed| run(plan, sessions, seed, transactions)).collect();
    let of = |value: fn(&Seen) -> f64| across(&seen.iter().map(value).collect::<Vec<f64>>()).mean;
    (of(|seen| seen.rate_per_s), of(|seen| seen.response_s))
}

fn threads(count: u32) -> Row {
    Row { cells: [("threads".to_owned(), count.to_string())].into_iter().collect(), ..Row::default() }
}

fn shipped(name: &str) -> Description {
    let text = crate::models().iter().find(|shipped| shipped.name == name).expect("it ships").text;
    file::read(name, text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn plan_of(kind: crate::kind::ModelKind, values: &Values) -> Plan {
    match kind {
        crate::kind::ModelKind::FlashServer => OnFlash::of(values, None, 1.0).plan(&[]),
        _ => OnDisks::of(values).plan(&[]),
    }
}

fn agrees(name: &str, counts: &[u32]) {
    let model = shipped(name);
    let numbers = model.numbers();
    let plan = plan_of(model.kind, &Values::new(model.kind.asks(), &numbers));
    for count in counts {
        let closed = |quantity| model.answer(&threads(*count), quantity).unwrap();
        let (rate, response) = mean(&plan, *count, 60_000);
        let off = (rate / closed("throughput") - 1.0, 1e3 * response / closed("response") - 1.0);
        assert!(off.0.abs() < 0.01 && off.1.abs() < 0.01, "{name} with {count} threads is off by {off:?}");
    }
}

#[test]
fn a_server_on_flash_is_its_closed_form() {
    agrees("s824-fs840", &[1, 32, 80, 112, 160]);
}

#[test]
fn a_server_on_disks_is_its_closed_form() {
    agrees("power770-san", &[1, 32, 80, 112, 160]);
}

#[test]
fn cores_that_are_shared_and_flash_beside_disks_are_as_the_closed_form_says() {
    agrees("power550-bw", &[12, 48]);
}

/// The same model with some numbers changed.
fn changed(name: &str, changes: &[(&str, &str)]) -> Description {
    let changes: Vec<(String, String)> =
        changes.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    shipped(name).changed(&changes).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_pool_of_jobs_and_other_memory_are_as_the_closed_form_says() {
    for (name, changes) in [
        ("s824-fs840", [("jobs", "40"), ("misses", "1")]),
        ("s824-fs840", [("jobs", "0"), ("misses", "3")]),
        ("power770-san", [("jobs", "25"), ("misses", "1")]),
        ("power770-san", [("jobs", "30"), ("misses", "0.5")]),
    ] {
        let model = changed(name, &changes);
        let numbers = model.numbers();
        let plan = plan_of(model.kind, &Values::new(model.kind.asks(), &numbers));
        for count in [20, 120] {
            let closed = |quantity| model.answer(&threads(count), quantity).unwrap();
            let (rate, response) = mean(&plan, count, 40_000);
            close(rate, closed("throughput"), &format!("{name} {changes:?} {count}: rate"));
            assert!(
                (1e3 * response / closed("response") - 1.0).abs() < 0.015,
                "{name} {changes:?} {count}: {response}"
            );
        }
    }
}

#[test]
fn who_waits_for_a_job_waits_in_the_response() {
    let one = Plan { jobs: 1, work: Work::Delay, ..base() };
    let (rate, response) = mean(&one, 8, 40_000);
    close(rate, 1.0 / (1e-3 + 3.0 * 400e-6), "one after the other");
    close(response, 8.0 / rate, "seven wait");
    let mut seen = run(&one, 8, 1, 40_000);
    let jobs = seen.server.reports().into_iter().find(|report| report.name == "jobs").unwrap();
    assert!(jobs.utilisation > 0.999 && (jobs.mean_there - 8.0).abs() < 1e-3, "{jobs:?}");
    assert!(seen.server.little().abs() < 1e-3, "{}", seen.server.little());
}

#[test]
fn littles_law_holds_in_every_run() {
    for sessions in [1, 8, 60] {
        let seen = run(&base(), sessions, 5, 400_000);
        assert!(seen.server.little().abs() < 1e-3, "{sessions}: {}", seen.server.little());
    }
}

/// Round numbers, none of them of a real machine.
fn base() -> Plan {
    Plan {
        work: Work::Shared(Processors { cores: 4.0, capacity: [1.0, 1.4, 1.8, 2.0], contention: 1e-3, latch: 0.0 }),
        reads: Reads::Delay { us: 400.0, variation: 1.0 },
        log: None,
        driver_us: 0.0,
        jobs: 0,
        classes: vec![Profile { cpu_ms: 1.0, reads: 3.0, changes: 1.0, ..Profile::default() }],
    }
}

fn close(found: f64, wanted: f64, what: &str) {
    assert!((found / wanted - 1.0).abs() < 0.01, "{what}: {found} against {wanted}");
}

#[test]
fn the_driver_takes_throughput_and_no_response_when_nobody_waits() {
    let plan = Plan { driver_us: 500.0, work: Work::Delay, ..base() };
    let (rate, response) = mean(&plan, 8, 40_000);
    close(response, 1e-3 + 3.0 * 400e-6, "response without the driver");
    close(rate, 8.0 / (response + 500e-6), "throughput with it");
}

#[test]
fn a_log_waits_as_group_commit_says() {
    // Many sessions that are mostly away commit at random.
    for (sessions, write_us) in [(20, 200.0), (200, 200.0), (200, 2_000.0)] {
        let log = Some(Log { write_us, bytes_per_s: f64::INFINITY });
        let away = Profile { cpu_ms: 30.0, changes: 1.0, ..Profile::default() };
        let plan = Plan { work: Work::Delay, log, classes: vec![away], ..base() };
        let (rate, response) = mean(&plan, sessions, 60_000);
        let wait_s = response - 30e-3;
        let theory_s = group_commit::wait_s(rate, write_us / 1e6);
        assert!((wait_s - theory_s).abs() < 0.01 * response, "{sessions}: {wait_s} against {theory_s}");
    }
}

#[test]
fn batches_of_the_log_grow_with_load_and_its_writes_have_a_limit() {
    let log = Some(Log { write_us: 1_000.0, bytes_per_s: f64::INFINITY });
    let plan = Plan { work: Work::Delay, log, ..base() };
    let mut before = 0.0;
    for sessions in [1, 4, 16, 64, 256] {
        let seen = run(&plan, sessions, 1, 40_000);
        let batch = 44_000.0 / seen.server.log.as_ref().unwrap().1.writes() as f64;
        assert!(batch >= before, "{sessions}: {batch} after {before}");
        assert!(seen.rate_per_s / batch <= 1_000.0 * 1.01, "{sessions}: {} in batches of {batch}", seen.rate_per_s);
        before = batch;
    }
}

#[test]
fn bytes_of_the_log_limit_it_too() {
    let log = Some(Log { write_us: 1.0, bytes_per_s: 1e6 });
    let heavy = Profile { cpu_ms: 0.1, changes: 1.0, log_bytes: 1_000.0, ..Profile::default() };
    let plan = Plan { work: Work::Delay, log, classes: vec![heavy], ..base() };
    close(run(&plan, 64, 1, 40_000).rate_per_s, 1_000.0, "a megabyte a second in thousands of bytes");
}

#[test]
fn reads_wait_for_each_other() {
    let profile = Profile { cpu_ms: 1e-6, reads: 4.0, ..Profile::default() };
    let plan = Plan { work: Work::Delay, classes: vec![profile], ..base() };
    close(mean(&plan, 1, 60_000).1, 1_600e-6, "four in turn");
}

#[test]
fn writes_that_nobody_waits_for_keep_disks_busy() {
    let reads = Reads::Disks { count: 2, us: 1_000.0, flash: None };
    let write = Profile { cpu_ms: 1e-6, reads: 1.0, writes: 1.0, ..Profile::default() };
    let plan = Plan { work: Work::Delay, reads, classes: vec![write], ..base() };
    close(mean(&plan, 256, 100_000).0, 1_000.0, "two disks, two turns a transaction");
}

#[test]
fn classes_have_their_own_profiles() {
    let [short, long] = [1.0, 9.0].map(|cpu_ms| Profile { cpu_ms, ..Profile::default() });
    let plan = Plan { work: Work::Delay, classes: vec![short, long], ..base() };
    let seen = run(&plan, 2, 1, 60_000);
    close(seen.rate_per_s, 1_000.0 + 1_000.0 / 9.0, "one session each");
}

#[test]
fn shared_processors_are_exact_whatever_pieces_work_comes_in() {
    let Work::Shared(processors) = base().work else { panic!("it shares") };
    for sessions in [2, 12, 40] {
        let completions = processors.completions(sessions, 1e-3);
        let exact = closed::one_station(sessions, 1_200e-6, |n| completions[n as usize]);
        let pieces = Plan { reads: Reads::Delay { us: 400.0, variation: 0.3 }, ..base() };
        close(mean(&pieces, sessions, 60_000).0, exact.rate_per_s, "three reads between four pieces");
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let rate = |seed| run(&base(), 12, seed, 2_000).rate_per_s;
    assert_eq!(rate(1), rate(1));
    assert_ne!(rate(1), rate(2));
}

#[test]
fn a_server_waits_for_its_time_and_reports_what_was_busy() {
    let mut server = Server::new(&base(), 1, 1);
    server.submit(Nanos(5_000), 0, &TRANSACTION);
    let mut ended = Vec::new();
    assert_eq!(server.advance(Nanos(4_000), &mut ended), Nanos(4_000));
    assert_eq!(server.events(), 0);
    let at = server.advance(Nanos(u64::MAX), &mut ended);
    assert_eq!(ended, [Ended { slot: 0, at, failed: false }]);
    let names: Vec<String> = server.reports().into_iter().map(|report| report.name).collect();
    assert_eq!(names, ["transactions", "processors", "storage"]);
}

#[test]
fn the_ceiling_says_what_it_took() {
    let found = ceiling(1_000);
    assert!(found.count >= 1_000 && found.events > 15 * found.count, "{found:?}");
}

#[test]
#[ignore = "a speed test without a clock: time the run of this test alone"]
fn two_million_transactions_of_seven_reads() {
    let found = ceiling(2_000_000);
    assert!(found.count >= 2_000_000 && found.events > 15 * found.count, "{found:?}");
}

#[test]
fn cores_are_busy_with_transactions_for_their_demand_and_never_beyond_the_cores() {
    let shipped = crate::models().iter().find(|model| model.name == "s824-fs840").expect("it ships");
    let model = file::read(shipped.name, shipped.text).unwrap_or_else(|problems| panic!("{problems}"));
    let numbers = model.numbers();
    let plan = plan_of(model.kind, &Values::new(model.kind.asks(), &numbers));
    let few = run(&plan, 8, 1, 40_000);
    let mut few = few;
    let cores = few.server.cores().expect("it has processors");
    let work = few.rate_per_s * plan.classes[0].cpu_ms / 1e3;
    // A thread for each core: only contention makes work longer, by half a thousandth for each that is ready.
    assert!((1.0..1.01).contains(&(cores.busy / work)), "{cores:?} for {work} seconds of work a second");
    let many = run(&plan, 200, 1, 40_000).server.cores().expect("it has processors");
    assert_eq!(many.count, 24.0);
    assert!(many.busy < 24.0 && many.busy > 0.95 * 24.0, "all but the driver's part: {many:?}");
    let disks = Plan { work: Work::Delay, ..plan };
    assert_eq!(run(&disks, 8, 1, 1_000).server.cores(), None, "a delay has no cores");
}

/// A server of sixteen processors of which scripts of users were measured before and past its peak: SPEC SDM91 on a SPARCcenter
/// 2000, October 1994, as in Gunther, Guerrilla Capacity Planning (2007). Scripts a second.
const SDM91: [(u32, f64); 7] = [
    (1, 64.9 / 3_600.0),
    (18, 995.9 / 3_600.0),
    (36, 1_652.4 / 3_600.0),
    (72, 1_853.2 / 3_600.0),
    (108, 1_828.9 / 3_600.0),
    (144, 1_775.0 / 3_600.0),
    (216, 1_702.2 / 3_600.0),
];

/// The server as one knew it before it was measured.
fn sparccenter() -> Description {
    let given = |name: &str, value: f64, unit: &str| {
        format!("[parameters.{name}]\nvalue = {value}\nunit = \"{unit}\"\nfrom = \"given: as published, or nothing\"\n")
    };
    let assumed = |name: &str, low: f64, high: f64, unit: &str| {
        let value = libm::sqrt(low * high);
        format!(
            "[parameters.{name}]\nvalue = {value}\nunit = \"{unit}\"\nfrom = \"assumed: before it was measured\"\n\
             low = {low}\nhigh = {high}\n"
        )
    };
    let text = [
        "title = \"SPARCcenter 2000\"\nkind = \"server-on-flash\"\nnoise = \"3%\"\n".to_owned(),
        given("cores", 16.0, "cores"),
        ["capacity_2", "capacity_4", "capacity_8"].map(|name| given(name, 1.0, "cores")).concat(),
        assumed("demand", 5e3, 6e4, "ms"),
        assumed("contention", 1e-4, 2.5e-3, "1"),
        given("reads", 1.0, "reads"),
        assumed("read_time", 5e6, 6e7, "us"),
        given("writes", 1.0, "writes"),
        given("log_time", 1.0, "us"),
        given("driver", 1.0, "us"),
        assumed("latch", 2e-4, 2e-2, "1"),
        "[answers.by-threads]\nmetrics = { throughput_tps = \"throughput\" }\ninputs = [\"threads\"]\nsize = \"threads\"\n".to_owned(),
    ];
    file::read("sparccenter", &text.concat()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn sdm91(points: &[(u32, f64)]) -> rows::Table {
    let lines = points.iter().map(|(users, rate)| format!("users-{users},{users},{rate:.6}\n"));
    rows::read(&format!("row_id,threads,throughput_tps\n{}", lines.collect::<String>())).expect("a table")
}

#[test]
fn a_fall_is_predicted_from_points_before_the_peak() {
    let (before, past) = (sdm91(&SDM91[..4]), sdm91(&SDM91[4..]));
    let fitted = calibrate::calibrate(&sparccenter(), std::slice::from_ref(&before)).expect("it fits").model;
    let model = calibrate::learned(&fitted, std::slice::from_ref(&before));
    let judged = judge::judge(&model, &past, &before.rows).expect("it answers").rows;
    for row in &judged {
        let (value, usl) = (row.published.expect("a value"), row.baselines.usl.as_ref().expect("it fits").predicted);
        let error = |said: f64| libm::log(said / value).abs();
        assert!((row.low..=row.high).contains(&value) && error(row.predicted) < 0.07, "{row:?}");
        assert!(error(usl) > 1.4 * error(row.predicted), "{row:?}");
    }
}

#[test]
fn other_customers_and_the_memory_of_sessions_miss_more() {
    let of = |model: &Description, cells: &str, quantity: &str| {
        let table = rows::read(&format!("row_id,customers,threads\na,{cells}\n")).expect("a table");
        model.answer(&table.rows[0], quantity).expect("it answers")
    };
    let shipped = shipped("s824-fs840");
    let rate = |cells: &str| of(&shipped, cells, "throughput");
    assert_eq!(rate("6000,96"), rate(",96"), "as many as the file says");
    assert!(rate("3000,96") > rate("6000,96") && rate("50000,96") < rate("6000,96"));
    let reads = |cells: &str| of(&shipped, cells, "io-rate") / rate(cells);
    assert!(reads("50000,96") > 1.5 * reads("6000,96") && reads("50000,96") < 10.0 * reads("6000,96"));
    let greedy = changed("s824-fs840", &[("session_memory", "500")]);
    assert!(of(&greedy, "6000,112", "io-rate") / of(&greedy, "6000,112", "throughput") > 1.2 * reads("6000,112"));
    // A published rate of a run whose threads nobody states is taken for the most.
    let most = of(&shipped, "6000,", "io-rate");
    assert!((80_000.0..140_000.0).contains(&most), "{most} operations a second");
}
