//! Studies on described machines, through the whole program.

use crate::program::Program;
use serde_json::Value;

/// The classic rates of the array, in windows that a test can wait for.
const RATES: &str = "run flash --backend simulated --on model:f5100 --set modules=1,20 --only random-read --only random-write \
                     --set measure=1s --set warm_up=100ms --seed 5 --json";

fn rate(run: &Value, stream: &str, modules: u64) -> f64 {
    let trials = run["trials"].as_array().expect("trials");
    let found = trials.iter().find(|trial| {
        trial["stream"] == stream && trial["factors"]["modules"] == modules && trial["experiment"] == "rates by modules"
    });
    found.and_then(|trial| trial["throughput_per_s"].as_f64()).expect("the trial")
}

/// What the closed form of the shipped model says to a row.
fn formal(test: &str, modules: u64) -> f64 {
    let shipped = model::models().iter().find(|shipped| shipped.name == "f5100").expect("it ships");
    let described = model::file::read(shipped.name, shipped.text).expect("a model");
    let table = model::rows::read(&format!("row_id,test,transfer_kb,modules,rate\na,{test},4,{modules},1\n"));
    described.answer(&table.expect("a table").rows[0], "rate").expect("an answer")
}

#[test]
fn a_study_runs_unchanged_on_a_described_array_and_gives_the_rates_of_its_closed_form() {
    let run = Program::new().json(RATES);
    for (stream, test) in [("random-read", "random_read_4k"), ("random-write", "random_write_4k")] {
        for modules in [1, 20] {
            let (simulated, formal) = (rate(&run, stream, modules), formal(test, modules));
            assert!((simulated / formal - 1.0).abs() < 0.01, "{stream} {modules}: {simulated} against {formal}");
        }
    }
    let trials = run["trials"].as_array().expect("trials");
    assert!(trials.iter().all(|trial| trial["backend"] == "simulated"), "{run:#}");
    let facts = run["systems"][0]["fingerprint"].as_array().expect("facts");
    let says = |key: &str, value: &str| facts.iter().any(|fact| fact["key"] == key && fact["value"] == value);
    assert!(says(
        "model.parameter.modules_per_port",
        "5 modules; given: published configuration, 80 modules behind 16 ports"
    ));
    assert!(facts.iter().all(|fact| fact["key"].as_str().is_some_and(|key| key.starts_with("model."))), "{facts:#?}");
}

#[test]
fn equal_seeds_give_equal_bytes_on_a_model() {
    let short = RATES.replace("--set modules=1,20", "--set modules=2").replace("measure=1s", "measure=200ms");
    // When a trial ran is the one thing that differs.
    let timeless = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.contains("started_unix_ns")).map(str::to_owned).collect()
    };
    let (one, two) = (Program::new().fine(&short), Program::new().fine(&short));
    assert!(one.lines().count() > 1_000);
    assert_eq!(timeless(one), timeless(two));
}

#[test]
fn a_model_file_of_ones_own_is_run_and_its_slips_are_told_with_line_and_column() {
    let program = Program::new();
    let parameter = |name: &str, value: &str, unit: &str| {
        format!("[parameters.{name}]\nvalue = {value}\nunit = \"{unit}\"\nfrom = \"given: this test\"\n")
    };
    let text = format!(
        "title = \"A device\"\nkind = \"queue-device\"\n{}{}{}",
        parameter("device_time", "100", "us"),
        parameter("overlap", "4", "operations"),
        parameter("host_time", "1", "us"),
    );
    program.write("mine.toml", &text);
    let line = "run flash --on model:./mine.toml --only random-read --set modules=1 --set measure=1s --set warm_up=100ms \
                --seed 1 --json";
    let run = program.json(line);
    let simulated = rate(&run, "random-read", 1);
    assert!((simulated / 40_000.0 - 1.0).abs() < 0.01, "{simulated}");
    program.write("mine.toml", &text.replace("value = 4", "value = 0"));
    let refused = program.refused(line);
    assert!(refused.contains("mine:8:9:") && refused.contains("got `0`"), "{refused}");
}

#[test]
fn models_and_scripts_stand_side_by_side() {
    let run = Program::new().json(
        "run flash --on a=model:f5100 --on b=scripted:service=100us,servers=4 --only random-read --set modules=1 \
         --set measure=200ms --set warm_up=50ms --set replicates=4 --seed 5 --json",
    );
    let trials = run["trials"].as_array().expect("trials");
    assert!(trials.iter().all(|trial| trial["backend"] == "simulated"), "{run:#}");
    let on = |name: &str| trials.iter().any(|trial| trial["system"] == name);
    assert!(on("a") && on("b"), "{run:#}");
}

#[test]
fn what_cannot_be_simulated_is_refused_with_what_to_do() {
    let program = Program::new();
    for (line, words) in [
        ("run flash --backend simulated --on file:.", "`simulated` needs a model, got a file system"),
        ("run flash --backend measured --on model:f5100", "a model system is simulated by nature, got `measured`"),
        ("run flash --on model:f510", "did you mean `f5100`?"),
        ("run flash --on model:none.toml", "reading the model `none.toml`"),
        ("run flash --on model:mirror-link", "laws and no stations"),
        ("run flash --on model:f5100 --set modules=1,81", "at most 80 modules, got 81"),
    ] {
        let refused = program.refused(line);
        assert!(refused.contains(words), "{line}: {refused}");
    }
    assert_eq!(program.files(), Vec::<String>::new());
}

#[test]
fn a_plan_on_a_model_says_that_nothing_is_touched() {
    let plan = Program::new().fine("plan flash --on model:f5100 --set modules=1,20");
    assert!(plan.contains("nothing for `f5100`, which is a model: no disk is touched"), "{plan}");
    assert!(plan.contains("(model f5100, in virtual time)"), "{plan}");
}

#[test]
fn a_healthy_and_a_hurt_machine_stand_side_by_side() {
    let line = "run flash --on healthy=model:f5100 --on hurt=model:f5100,failed_ports=15 --on model:f5100,failed_channels=1 \
                --only random-read --set modules=10 --set measure=500ms --set warm_up=100ms --set replicates=1 --seed 5 --json";
    let run = Program::new().json(line);
    let trials = run["trials"].as_array().expect("trials");
    let of = |system: &str| {
        let found = trials
            .iter()
            .find(|trial| trial["system"] == system && trial["experiment"] == "rates by modules")
            .expect("it");
        found["throughput_per_s"].as_f64().expect("a rate")
    };
    assert!((of("hurt") / of("healthy") - 0.5).abs() < 0.01, "one port instead of two: {}", of("hurt"));
    assert!(
        (of("f5100 failed_channels=1") / of("healthy") - 0.952).abs() < 0.01,
        "modules are slower than their ports now"
    );
    let hurt = run["systems"].as_array().expect("systems").iter().find(|system| system["name"] == "hurt").expect("it");
    let facts = hurt["fingerprint"].as_array().expect("facts");
    let value =
        |key: &str| facts.iter().find(|fact| fact["key"] == key).map(|fact| fact["value"].as_str().expect("text"));
    assert_eq!(
        value("model.parameter.failed_ports"),
        Some("15 ports; given: asked for; the file says 0 (given: the default of its kind; the file leaves it out)")
    );
    assert_eq!(hurt["place"], "f5100 with failed_ports=15, in virtual time");
}

#[test]
fn a_study_file_names_what_is_otherwise_in_its_model() {
    let program = Program::new();
    let study = "title = \"Hurt\"\nquestion = \"What if?\"\nprimary = \"throughput of reads at 10 modules\"\n\
                 [system.hurt]\nkind = \"model\"\nname = \"f5100\"\nwith = { failed_ports = 15 }\n\
                 [workload.reads]\nkind = \"block\"\npattern = \"random\"\ntransfer = \"4 KiB\"\nread = \"100%\"\n\
                 [[experiment]]\nname = \"rates\"\nworkload = [\"reads\"]\nfactor.modules = [5, 10]\n\
                 load = { outstanding = 32, per = \"module\" }\nmeasure = \"300 ms\"\nwarm_up = \"50 ms\"\n";
    program.write("hurt.toml", study);
    let run = program.json("run ./hurt.toml --seed 5 --json");
    let trials = run["trials"].as_array().expect("trials");
    let rates: Vec<f64> = trials.iter().filter_map(|trial| trial["throughput_per_s"].as_f64()).collect();
    assert!(rates.len() >= 2 && rates.iter().all(|rate| (rate / rates[0] - 1.0).abs() < 0.01), "{rates:?}");
    program.write("wrong.toml", &study.replace("{ failed_ports = 15 }", "3"));
    let refused = program.refused("check ./wrong.toml");
    assert!(refused.contains("a table of parameters"), "{refused}");
}

#[test]
fn the_brokerage_runs_unchanged_on_a_described_server_and_gives_the_curve_of_its_closed_form() {
    let program = Program::new();
    for (model, sessions, measure) in [("s824-fs840", "80,112", "5s"), ("power770-san", "16,64", "100s")] {
        let run = program.json(&format!(
            "run brokerage --backend simulated --on model:{model} --set sessions={sessions} --set measure={measure} \
             --set warm_up=500ms --set highest_rate=off --seed 5 --json"
        ));
        let predicted = program.json(&format!("predict brokerage --on model:{model} --set sessions={sessions} --json"));
        let trials = run["trials"].as_array().expect("trials");
        assert_eq!(trials.len(), 2, "{run:#}");
        for trial in trials {
            assert_eq!(trial["backend"], "simulated");
            let at = format!("sessions {}", trial["factors"]["sessions"]);
            let rows = predicted["rows"].as_array().expect("rows");
            let row = rows.iter().find(|row| row["metric"] == "throughput" && row["row_id"].to_string().contains(&at));
            let formal = row.and_then(|row| row["predicted"].as_f64()).unwrap_or_else(|| panic!("{at}: {predicted:#}"));
            let simulated = trial["throughput_per_s"].as_f64().expect("a rate");
            assert!((simulated / formal - 1.0).abs() < 0.01, "{model}, {at}: {simulated} against {formal}");
        }
    }
}

#[test]
fn other_customers_miss_the_buffer_of_a_described_server_as_its_closed_form_says() {
    let program = Program::new();
    let line =
        "brokerage --on model:s824-fs840 --set sessions=48 --set customers=1000,6000,50000 --set highest_rate=off";
    let run = program.json(&format!("run {line} --set measure=4s --set warm_up=500ms --seed 5 --json"));
    let predicted = program.json(&format!("predict {line} --json"));
    let rows = predicted["rows"].as_array().expect("rows");
    let formal = |customers: &Value| {
        let about = |row: &&Value| row["row_id"].to_string().contains(&format!("customers {customers}"));
        let row = rows.iter().filter(about).find(|row| row["metric"] == "throughput").expect("it is answered");
        assert_eq!(row["caveat"].is_string(), *customers != 6000, "{row}");
        row["predicted"].as_f64().expect("a rate")
    };
    let mut trials = run["trials"].as_array().expect("trials").clone();
    trials.sort_by_key(|trial| trial["factors"]["customers"].as_u64());
    let mut before = f64::INFINITY;
    for trial in &trials {
        let (customers, simulated) =
            (&trial["factors"]["customers"], trial["throughput_per_s"].as_f64().expect("a rate"));
        assert!(
            (simulated / formal(customers) - 1.0).abs() < 0.02,
            "{customers}: {simulated} for {}",
            formal(customers)
        );
        assert!(simulated < 0.95 * before, "{customers}: {simulated} after {before}");
        before = simulated;
    }
    let refused = program.refused("predict brokerage --on model:power770-san --set customers=1000,6000");
    assert!(refused.contains("`customers` as a factor, which moves no answer of a server-on-disks"), "{refused}");
}

#[test]
fn users_beyond_the_sessions_of_a_described_server_wait_for_one() {
    let run = Program::new().json(
        "run brokerage --on model:s824-fs840 --set sessions=8 --set users=64 --set measure=2s --set warm_up=500ms \
         --set highest_rate=off --seed 5 --json",
    );
    let trial = &run["trials"][0];
    let (rate, response) = (trial["throughput_per_s"].as_f64(), trial["response_ms"]["mean"].as_f64());
    let (rate, response) = (rate.expect("a rate"), response.expect("a response"));
    // Eight at a time are far from the peak, and the response of 64 users holds their wait.
    assert!((rate * response / 1e3 / 64.0 - 1.0).abs() < 0.02, "{rate} times {response} ms");
}

#[test]
fn a_model_carries_what_it_describes_and_says_what_it_does_not() {
    let program = Program::new();
    program.write("mine.sql", "select 1;");
    for (line, words) in [
        ("run flash --on model:s824-fs840", "storage work: this carries transactions"),
        ("run brokerage --on model:f5100", "transactions: they need a database"),
        (
            "run sql --on model:s824-fs840 --set script=mine.sql",
            "the transaction that a model describes is the brokerage's",
        ),
    ] {
        let refused = program.refused(line);
        assert!(refused.contains(words), "{line}: {refused}");
    }
}

#[test]
fn the_brokerage_confirms_the_highest_rate_in_an_open_load_unless_told_not_to() {
    let program = Program::new();
    let line = "run brokerage --on model:s824-fs840 --set sessions=160 --set open_sessions=160 --set measure=1s \
                --set warm_up=300ms --seed 5 --json";
    let run = program.json(line);
    let findings = run["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["kind"] == "highest-rate").unwrap_or_else(|| panic!("{run:#}"));
    let trials = run["trials"].as_array().expect("trials");
    let peak = trials.iter().find(|trial| trial["factors"]["sessions"] == 160).expect("the sweep");
    let peak = peak["throughput_per_s"].as_f64().expect("a rate");
    let rate = found["rate_per_s"]["value"].as_f64().unwrap_or_else(|| panic!("{found:#}"));
    // Every tenth transaction more is one that the market sends back by itself.
    assert!((0.8..1.0).contains(&(rate / peak)), "{rate} of {peak}");
    let answer = run["answer"].to_string();
    assert!(
        answer.contains("In an open load") && answer.contains("the highest rate with p99 under 100 ms"),
        "{answer}"
    );
    let shown = program.fine("show latest");
    assert!(shown.contains("highest rate ") && !shown.contains("peak: "), "{shown}");
    let without = program.json(&format!("{line} --set highest_rate=off"));
    assert_eq!(without["trials"].as_array().map(Vec::len), Some(1));
}

/// The line through times that are all the same has a slope of rounding: "483729017801128 GB/s".
#[test]
fn a_service_that_takes_the_same_whatever_the_size_has_no_rate_of_bytes() {
    let program = Program::new();
    let ran = program.fine(
        "run flash --on scripted:service=5ms,servers=16 --only 'service time by transfer size' --set measure=2s --seed 7 -o x.prony",
    );
    let told = ran.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("5 ms whatever the size") && !told.contains("GB/s (fit"), "{ran}");
}
