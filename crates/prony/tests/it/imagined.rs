//! Banks and warehouses on machines that nobody here owns: the studies that ship, and a profile that was measured.

use crate::house::House;
use crate::program::Program;
use crate::schema::hold;
use serde_json::Value;

fn trials(program: &Program, line: &str) -> Vec<Value> {
    let run = program.json(&format!("run {line} --seed 5 --json --quiet"));
    hold(&run);
    run["trials"].as_array().expect("trials").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, got {value}"))
}

fn an_hour(trial: &Value, what: &str) -> f64 {
    let mut given = trial["yields"].as_array().expect("yields").iter();
    number(&given.find(|given| given["what"] == what).unwrap_or_else(|| panic!("{what} of {trial:#}"))["per_h"])
}

/// Mean service of a class, milliseconds.
fn service(trial: &Value, class: &str) -> f64 {
    let mut classes = trial["classes"].as_array().expect("classes").iter();
    let class = classes.find(|seen| seen["name"] == class).unwrap_or_else(|| panic!("{class} of {trial:#}"));
    number(&class["service_ms"]["mean"])
}

fn of<'a>(trials: &'a [Value], stream: &str, experiment: &str) -> &'a Value {
    let wanted = |trial: &&Value| trial["stream"] == stream && trial["experiment"] == experiment;
    trials.iter().find(wanted).unwrap_or_else(|| panic!("{stream} in {experiment}"))
}

#[test]
fn a_night_comes_to_its_end_on_a_described_server_and_jobs_share_it() {
    let program = Program::new();
    let line = "bank-night --on model:s824-fs840 --set accounts=2000 --only 'accounts by jobs' --set sessions=1,4 \
                --set replicates=1 --set deadline=1h --allow-inconclusive";
    let trials = trials(&program, line);
    let [alone, four] = trials.as_slice() else { panic!("two: {trials:#?}") };
    let faster = number(&alone["elapsed_s"]) / number(&four["elapsed_s"]);
    assert!((2.5..4.5).contains(&faster), "{faster} times as fast with four jobs");
    assert!(an_hour(four, "accounts balanced") > 2.0 * an_hour(alone, "accounts balanced"));
    assert_eq!((&four["done"], &alone["jobs"]), (&alone["done"], &Value::Null));
    let jobs = &four["jobs"];
    let (longest, mean) = (number(&jobs["longest_s"]), number(&jobs["mean_s"]));
    assert!(longest >= mean && mean > 0.0 && longest < number(&four["elapsed_s"]), "{jobs:#}");
    let told = program.json(&format!("predict {} --json", line.split(" --set replicates").next().expect("a line")));
    let mut rows = told["rows"].as_array().expect("rows").iter();
    let predicted = rows.rfind(|row| row["metric"] == "throughput").unwrap_or_else(|| panic!("{told:#}"));
    let off = number(&predicted["predicted"]) / number(&four["throughput_per_s"]) - 1.0;
    assert!(off.abs() < 0.05, "{predicted:#}");
    let busiest = four["events"].as_array().expect("events").iter().filter_map(|event| event["text"].as_str());
    let busiest = busiest.filter_map(|text| text.split("station processors at ").nth(1)).next().expect("the busiest");
    let percent: f64 = busiest.trim_end_matches('%').parse().expect("percent");
    assert!(percent < 30.0, "four of 24 cores: {busiest}");
    assert!(number(&four["bound"]["cpu"]) < 0.3, "four of 24 cores: {:#}", four["bound"]);
    // A single job never waits for another.
    let waits = |trial| service(trial, "cut-off");
    assert!(waits(four) > 1.2 * waits(alone), "{} and {} ms", waits(four), waits(alone));
}

#[test]
fn a_night_that_is_late_says_so_in_its_answer_and_ends_with_the_code_of_a_missed_threshold() {
    let program = Program::new();
    let line = "run bank-night --on model:s824-fs840 --set accounts=2000 --only 'accounts by jobs' --set sessions=4 \
                --set work=10000000 --set begins=23:00";
    let late = program.run(&format!("{line} --set deadline=1min"));
    assert_eq!(late.code, Some(1), "{late}");
    let told = |ran: &crate::program::Ran| ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told(&late).contains("after 23:01: too late.") && late.stderr.contains("late; it ends at 0"), "{late}");
    let in_time = program.run(&format!("{line} --set deadline=100h"));
    assert_eq!(in_time.code, Some(0), "{in_time}");
    assert!(told(&in_time).contains(": in time."), "{in_time}");
    for (wrong, told) in [
        ("--set deadline=0s", "a time above zero"),
        ("--set deadline=1h --set work=0", "a count above zero"),
        ("--set deadline=1h --set work=1999", "at least what is measured of it, 2000, got 1999"),
        ("--set begins=23:00", "`deadline.begins`: nothing without a deadline"),
    ] {
        let refused = program.refused(&format!("run bank-night --on model:s824-fs840 --set accounts=2000 {wrong}"));
        assert!(refused.contains(told), "{wrong}: {refused}");
    }
}

#[test]
fn a_need_may_be_postings_an_hour_and_a_simulation_tells_how_busy_processors_are() {
    let program = Program::new();
    let line = "predict bank-day --on model:s824-fs840 --set users=200 --set measure=2s";
    let ran = program.run(&format!("{line} --find sessions --need 'postings>=4M'"));
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.stdout.contains("of sessions meet the need"), "{ran}");
    let told = program.json(&format!("{line} --json"));
    let rows = told["rows"].as_array().expect("rows");
    let busy: Vec<f64> =
        rows.iter().filter(|row| row["metric"] == "utilisation").map(|row| number(&row["predicted"])).collect();
    let [few, many] = busy.as_slice() else { panic!("two: {told:#}") };
    assert!(0.0 < *few && 2.0 * few < *many && *many < 100.0, "{busy:?}");
}

#[test]
fn a_plan_of_a_night_says_that_its_jobs_take_their_time_and_that_databases_write() {
    let plan = Program::new().fine("plan bank-night --on sqlite:");
    assert!(plan.contains("plus the time of 8 jobs, 10 min at most each"), "{plan}");
    assert!(plan.contains("writes      data sets, changed rows and log") && !plan.contains("0 ns"), "{plan}");
}

#[test]
fn a_night_beside_the_day_costs_a_described_server_postings() {
    let program = Program::new();
    let line = "bank-overrun --on model:small-server,cores=1 --set jobs=4 --set accounts=50000 --set measure=3s";
    let trials = trials(&program, line);
    let (alone, beside) = (of(&trials, "day", "the day alone"), of(&trials, "day", "the day and the night"));
    let (before, after) = (an_hour(alone, "postings"), an_hour(beside, "postings"));
    assert!(after < 0.8 * before, "{before} and {after} postings an hour");
    assert!(service(beside, "card-posting") > 1.5 * service(alone, "card-posting"));
    assert!(an_hour(of(&trials, "night", "the day and the night"), "accounts balanced") > 0.0);
}

/// What came behind it was called a stall, and the accounts of the night were spread over the whole window.
#[test]
fn a_night_that_is_over_early_on_a_described_server_ends_the_window_that_is_told() {
    let program = Program::new();
    let sets = "--only 'the day and the night' --set accounts=10000 --set warm_up=2s --set measure=4s";
    let trials = trials(&program, &format!("bank-overrun --on model:small-server {sets}"));
    let night = of(&trials, "night", "the day and the night");
    let took = number(&night["elapsed_s"]);
    assert!(0.1 < took && took < 2.0, "{took} s");
    let accounts = an_hour(night, "accounts balanced") * took / 3600.0;
    assert!((accounts / 10_000.0 - 1.0).abs() < 0.02, "{accounts} accounts");
}

/// The end was rounded up to an interval, and the books were those of the window as it was planned.
#[test]
fn accounts_an_hour_of_a_night_that_is_over_early_do_not_depend_on_the_interval_and_one_without_a_payment_run_is_told()
{
    let program = Program::new();
    let sets = "--set accounts=20000 --set warm_up=2s --set measure=10s --set run_every=10s";
    let both = |interval: &str| trials(&program, &format!("bank-overrun --on model:small-server {sets} {interval}"));
    let (fine, coarse) = (both("--set interval=100ms"), both("--set interval=500ms"));
    let [fine_night, coarse_night] = [&fine, &coarse].map(|trials| of(trials, "night", "the day and the night"));
    assert_eq!(fine_night["elapsed_s"], coarse_night["elapsed_s"]);
    let [fine_h, coarse_h] = [fine_night, coarse_night].map(|night| an_hour(night, "accounts balanced"));
    assert!((fine_h / coarse_h - 1.0).abs() < 1e-9, "{fine_h} and {coarse_h}");
    let day = of(&fine, "day", "the day and the night");
    let classes = day["classes"].as_array().expect("classes").iter();
    let done: f64 = classes.map(|class| number(&class["done"])).sum();
    assert_eq!(done, number(&day["done"]), "{day:#}");
    let told = day["events"].as_array().expect("events").iter().filter_map(|event| event["text"].as_str());
    let mut told = told.filter(|text| text.contains("whether one fell into that time decides"));
    let text = told.next().expect("it is told");
    assert!(
        text.contains("payment runs of `day` come every 10 s") && text.ends_with("a shorter `run_every`"),
        "{text}"
    );
}

#[test]
fn loads_cost_dialog_steps_on_a_described_server_and_freshness_is_left_to_real_ones() {
    let program = Program::new();
    let line = "warehouse-frontier --on model:small-server --set load_rate=off,full --set measure=2s --set warm_up=200ms \
                --only 'the frontier'";
    let trials = trials(&program, line);
    let [alone, full] = trials.as_slice() else { panic!("two: {trials:#?}") };
    let (before, after) = (an_hour(alone, "dialog steps"), an_hour(full, "dialog steps"));
    assert!(after < 0.95 * before && an_hour(full, "rows loaded") > 0.0, "{before} and {after}");
    assert!(service(full, "delta-load") > 3.0 * service(full, "open"), "{full:#}");
    let classes = full["classes"].as_array().expect("classes");
    assert!(classes.iter().all(|class| class["name"] != "freshness" || class["done"] == 0), "{classes:#?}");
    let disks = self::trials(&program, "warehouse --on model:power550-mixed --set users=4 --set measure=5s");
    assert!(an_hour(&disks[0], "dialog steps") > 0.0);
}

/// It held the wait for a session, so that all classes seemed alike.
#[test]
fn service_on_a_model_begins_when_a_session_is_free() {
    let program = Program::new();
    let day = |users: &str| {
        let sets = "--set sessions=2 --set think=0s --set measure=5s --set warm_up=500ms";
        trials(&program, &format!("bank-day --on model:s824-fs840 {sets} --set users={users}")).remove(0)
    };
    let (few, many) = (day("off"), day("40"));
    for class in ["bulk-posting", "card-posting", "master-data"] {
        let (few, many) = (service(&few, class), service(&many, class));
        assert!((many / few - 1.0).abs() < 0.15, "{class}: {few} and {many} ms");
    }
    let mean = |what: &str| number(&many[what]["mean"]);
    assert!(mean("response_ms") > 10.0 * mean("service_ms"), "{many:#}");
    let parts = mean("service_ms") + mean("lateness_ms");
    assert!((parts / mean("response_ms") - 1.0).abs() < 0.05, "{parts} of {}", mean("response_ms"));
}

#[test]
fn what_the_database_has_of_response_is_compared_beside_postings() {
    let program = Program::new();
    let line = "run bank-day --on model:power550-mixed --on model:s824-fs840 --set sessions=8 --set users=16 --set measure=4s \
                --set warm_up=500ms --set replicates=4 --seed 5";
    let note = "the numbers of each of `power550-mixed` and `s824-fs840` were fitted to, or assumed for, transactions of its own";
    let plan = program.fine(&line.replace("run ", "plan "));
    assert!(plan.contains(note), "{plan}");
    let told = program.fine(line).split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, said) =
        told.split_once("request time: day, 8 sessions: on power550-mixed ").unwrap_or_else(|| panic!("{told}"));
    let (sentence, _) = said.split_once(" times").unwrap_or_else(|| panic!("{told}"));
    assert_eq!(sentence.matches("% of the latency").count(), 2, "{sentence}");
    assert!(sentence.contains("; on s824-fs840 "), "{sentence}");
    // So it is between two runs, which say first in what they asked differently.
    for (name, users) in [("a", 16), ("b", 24)] {
        let sets = "--set sessions=8 --set measure=2s --set warm_up=500ms --seed 5 --quiet --allow-inconclusive";
        program.fine(&format!("run bank-day --on model:s824-fs840 --set users={users} {sets} -o {name}.prony"));
    }
    let compared = program.json("compare a.prony b.prony --json --allow-inconclusive");
    let metrics: Vec<&str> =
        compared["findings"].as_array().expect("findings").iter().filter_map(|one| one["metric"].as_str()).collect();
    assert_eq!(metrics, ["postings", "service mean"], "{compared:#}");
    let says = compared["answer"][0].as_str().expect("an answer");
    assert!(says.contains("`a` has `users=16`; `b` has `users=24`"), "{says}");
}

/// What one transaction asked for on the mean is what it takes on the model, shared out among classes by what they ask for.
#[test]
fn a_measured_day_carries_over_to_a_model_with_its_classes() {
    let house = House::new("sqlite:");
    let program = &house.program;
    let sets = "--set users=off --set think=0s --set sessions=1 --set measure=2s --set warm_up=0s";
    let line = format!("run bank-day --on sqlite: --set accounts=1000 {sets} --json --quiet -o x.prony");
    let measured = program.json(&line)["trials"][0].clone();
    let taken = program.json("calibrate small-server --profile x.prony -o mine.toml --json");
    hold(&taken);
    let amounts = taken["profile"]["amounts"].as_array().expect("amounts");
    let demand_ms = number(&amounts.iter().find(|one| one["parameter"] == "demand").expect("it was seen")["value"]);
    let model = "bank-day --on model:./mine.toml,driver=0.01,log_time=0.01,reads=0.000001";
    let imagined = trials(program, &format!("{model} {}", sets.replace("2s", "20s"))).remove(0);
    let text = std::fs::read_to_string(program.path("mine.toml")).expect("the model");
    let (_, said) = text.split_once("\nstatements =").expect("the mean transaction of the run");
    let mean: f64 = said.lines().next().and_then(|mean| mean.trim().parse().ok()).expect("a number");
    let (takes_ms, asks_ms) = (service(&imagined, "bulk-posting"), demand_ms * 158.0 / mean);
    assert!((takes_ms / asks_ms - 1.0).abs() < 0.1, "{takes_ms} of {asks_ms} ms");
    let of = |trial| ["bulk-posting", "card-posting", "list-postings"].map(|class| service(trial, class));
    // How long a commit takes is a matter of the machine on which this runs.
    let ([bulk, card, list], [seen_bulk, seen_card, seen_list]) = (of(&imagined), of(&measured));
    assert!(bulk > 1.5 * card && card > 1.5 * list, "{bulk}, {card} and {list} ms");
    assert!(seen_bulk > seen_list && seen_card > seen_list, "{seen_bulk}, {seen_card} and {seen_list} ms");
    let night = trials(
        program,
        "bank-night --on model:./mine.toml --set accounts=1000 --only 'accounts by jobs' --set replicates=1",
    );
    assert!(an_hour(&night[0], "accounts balanced") > 0.0);
}

#[test]
fn the_interval_of_a_utilisation_ends_at_100_percent() {
    let program = Program::new();
    let told = program.json("predict bank-day --on model:power550-mixed --set users=64 --set measure=2s --json");
    let rows = told["rows"].as_array().expect("rows");
    let busy: Vec<_> = rows.iter().filter(|row| row["metric"] == "utilisation").collect();
    assert!(!busy.is_empty() && busy.iter().all(|row| number(&row["high"]) <= 100.0), "{busy:#?}");
}

#[test]
fn a_stream_alone_and_the_same_beside_another_are_two_predictions() {
    let program = Program::new();
    let told = program.json("predict bank-overrun --on model:small-server --set accounts=2000 --set measure=1s --json");
    let rows = told["rows"].as_array().expect("rows");
    for id in ["the day alone, day: ", "the day and the night, day: ", "night: "] {
        let own = rows.iter().filter(|row| row["row_id"] == id && row["metric"] == "throughput");
        assert_eq!(own.count(), 1, "{id}: {told:#}");
    }
}
