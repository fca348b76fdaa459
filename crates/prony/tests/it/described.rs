//! Every kind of described machine through the whole program, beside its closed form.

use crate::program::Program;
use crate::schema::hold;
use serde_json::Value;

/// Random reads of 4 KiB, so many outstanding, on whatever model `--on` names.
fn reads(program: &Program, outstanding: u32) {
    let study = format!(
        "title = \"Reads\"\nquestion = \"How many?\"\nprimary = \"throughput of reads at 1 modules\"\n\
         [system.any]\nkind = \"model\"\nname = \"f5100\"\n\
         [workload.reads]\nkind = \"block\"\npattern = \"random\"\ntransfer = \"4 KiB\"\nread = \"100%\"\n\
         [[experiment]]\nname = \"rates\"\nworkload = [\"reads\"]\nfactor.modules = [1]\n\
         load = {{ outstanding = {outstanding}, per = \"module\" }}\nmeasure = \"1 s\"\nwarm_up = \"100 ms\"\n"
    );
    program.write("reads.toml", &study);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, got {value}"))
}

/// Operations or transactions a second of the one trial of a run.
fn simulated(program: &Program, line: &str) -> f64 {
    let run = program.json(&format!("run {line} --seed 5 --json"));
    let [trial] = run["trials"].as_array().expect("trials").as_slice() else { panic!("one trial: {run:#}") };
    assert_eq!(trial["backend"], "simulated");
    number(&trial["throughput_per_s"])
}

/// What the closed form says of the one point of a study.
fn predicted(program: &Program, line: &str, metric: &str) -> f64 {
    let predicted = program.json(&format!("predict {line} --json"));
    let row = predicted["rows"].as_array().and_then(|rows| rows.iter().find(|row| row["metric"] == metric));
    number(&row.unwrap_or_else(|| panic!("{metric}: {predicted:#}"))["predicted"])
}

/// Rates of reads on a model: simulated over a window, and by the closed form.
fn both(program: &Program, model: &str, (measure, more): (&str, &str)) -> (f64, f64) {
    let line = format!("./reads.toml --on model:{model} --set measure={measure}");
    (simulated(program, &format!("{line} {more}")), predicted(program, &line, "rate"))
}

#[test]
fn a_flash_device_nears_what_its_dies_can_do_and_one_read_alone_takes_a_service_time() {
    let program = Program::new();
    reads(&program, 256);
    let (full, most) = both(&program, "nand-device", ("100ms", "--set warm_up=20ms"));
    assert!((0.95..1.0).contains(&(full / most)), "{full} of {most} a second");
    reads(&program, 1);
    let (one, _) = both(&program, "nand-device", ("300ms", ""));
    let time_ms = predicted(&program, "./reads.toml --on model:nand-device", "service-time");
    assert!((one * time_ms / 1e3 - 1.0).abs() < 0.01, "{one} a second of {time_ms} ms each");
}

#[test]
fn a_disk_serves_one_read_after_the_other_in_the_time_of_its_closed_form() {
    let program = Program::new();
    reads(&program, 1);
    let (simulated, formal) = both(&program, "disk-15k", ("60s", "--set size=146GB"));
    // The form takes cylinders as equally full; the outer ones hold more and are nearer to each other.
    assert!((1.0..1.06).contains(&(simulated / formal)), "{simulated} against {formal}");
    let (near, _) = both(&program, "disk-15k", ("20s", "--set size=4GiB"));
    assert!(near > 1.2 * simulated, "short moves of the arm: {near} against {simulated}");
}

#[test]
fn a_tier_of_disks_and_flash_lies_between_disks_alone_and_flash_alone() {
    let program = Program::new();
    reads(&program, 32);
    let of = |share: u32, measure: &str| {
        let model = format!("tiered,fast_share={share}");
        let (simulated, formal) = both(&program, &model, (measure, ""));
        assert!((simulated / formal - 1.0).abs() < 0.12, "{model}: {simulated} against {formal}");
        simulated
    };
    let (disks, tier, flash) = (of(0, "4s"), of(10, "4s"), of(100, "100ms"));
    assert!(2.0 * disks < tier && 2.0 * tier < flash, "{disks}, {tier} and {flash} a second");
}

#[test]
fn an_array_serves_one_read_after_the_other_in_the_time_of_its_closed_form() {
    let program = Program::new();
    reads(&program, 1);
    for (model, measure, off) in [("disk-array", "20s", 0.03), ("flash-array-2d", "1s", 0.03)] {
        let (simulated, formal) = both(&program, model, (measure, ""));
        assert!((simulated / formal - 1.0).abs() < off, "{model}: {simulated} against {formal}");
    }
    let healthy = both(&program, "flash-array-2d", ("500ms", "")).0;
    let hurt = both(&program, "flash-array-2d,failed_modules=1", ("500ms", "")).0;
    assert!(hurt < 0.99 * healthy, "reads of a lost module become reads of all others: {hurt} against {healthy}");
}

#[test]
fn the_model_that_a_study_names_is_predicted_and_answers_no_service_time_of_a_queue() {
    let program = Program::new();
    reads(&program, 32);
    let text = std::fs::read_to_string(program.path("reads.toml")).expect("it was written");
    program.write("named.toml", &text.replace("\"f5100\"", "\"disk-array\""));
    let named = program.json("predict ./named.toml --json");
    assert_eq!(named["model"], "disk-array");
    let of = |predicted: &Value, metric: &str| {
        predicted["rows"].as_array().is_some_and(|rows| rows.iter().any(|row| row["metric"] == metric))
    };
    assert!(of(&named, "rate") && !of(&named, "service-time"), "{named:#}");
    assert_eq!(named["unanswered"], serde_json::json!([]));
    let line = "predict ./named.toml --find modules --need service-time<=6 --json";
    let needed = program.json(line);
    assert_eq!(needed["needed"][0]["predicted"], Value::Null);
    assert_eq!(needed["unanswered"][0]["metric"], "service-time");
    let one = program.json(&format!("{line} --set outstanding=1"));
    assert_eq!(one["needed"][0]["predicted"], 1, "{one:#}");
}

#[test]
fn more_modules_than_a_machine_has_are_not_predicted_and_the_most_that_it_has_are_found() {
    let program = Program::new();
    reads(&program, 1);
    let told = program.refused("predict ./reads.toml --on model:disk-array --set modules=9");
    assert!(told.contains("it offers 6 modules"), "{told}");
    let alone = predicted(&program, "./reads.toml --on model:disk-array", "rate");
    let six = predicted(&program, "./reads.toml --on model:disk-array --set modules=6", "rate");
    let found = |rate: f64| {
        let line = "predict ./reads.toml --on model:disk-array --find modules --need";
        program.json(&format!("{line} rate>={rate} --json"))["needed"][0]["predicted"].clone()
    };
    assert!(six > 5.5 * alone, "{alone} and {six}");
    assert_eq!(found(5.5 * alone), 6);
    assert_eq!(found(2.0 * six), Value::Null);
}

#[test]
fn a_mixture_of_transfer_sizes_is_no_transfer_of_its_mean_size() {
    let program = Program::new();
    reads(&program, 1);
    let line = "./reads.toml --on model:flash-array-2d --set measure=1s";
    let text = std::fs::read_to_string(program.path("reads.toml")).expect("it was written");
    program.write("reads.toml", &text.replace("\"4 KiB\"", "\"70% 4 KiB + 30% 64 KiB\""));
    let (seen, told) = (simulated(&program, line), predicted(&program, line, "rate"));
    assert!((told / seen - 1.0).abs() < 0.03, "{told} for {seen}");
}

/// A pair in a short run and in its closed form, transactions a second.
fn pair(program: &Program, what: &str) -> (f64, f64) {
    let line = format!("brokerage --on model:mirror-case2,source_cores=22{what} --set sessions=80");
    let run = format!("{line} --set measure=2s --set warm_up=300ms --set highest_rate=off");
    (simulated(program, &run), predicted(program, &line, "throughput"))
}

#[test]
fn a_mirrored_pair_pays_for_mirroring_and_for_distance_as_its_closed_form_says() {
    let program = Program::new();
    let of = |what: &str| {
        let (simulated, formal) = pair(&program, what);
        assert!((simulated / formal - 1.0).abs() < 0.015, "{what}: {simulated} against {formal}");
        simulated
    };
    let (alone, near) = (of(",mirroring=0"), of(",target_cores=11"));
    let far = of(",target_cores=11,distance=50");
    assert!(near < 0.9 * alone && far < 0.7 * near, "{alone}, {near} and {far} a second");
}

#[test]
fn time_outside_of_responses_is_called_by_what_the_machine_does_there() {
    let program = Program::new();
    let texts = |model: &str| {
        let run = program.json(&format!(
            "run brokerage --on model:{model} --set sessions=16 --set measure=1s --set warm_up=300ms \
             --set highest_rate=off --seed 5 --json"
        ));
        let caveats = run["caveats"].as_array().expect("caveats").iter();
        caveats.filter_map(|caveat| caveat["text"].as_str()).collect::<Vec<&str>>().join("\n")
    };
    let pair = texts("mirror-case2,source_cores=22,mirroring=0");
    assert!(pair.contains("what a job does between its transactions") && !pair.contains("load driver"), "{pair}");
    let server = texts("s824-fs840");
    assert!(server.contains("load driver's own work") && !server.contains("between its transactions"), "{server}");
}

#[test]
fn throughput_for_each_core_of_a_described_server_is_told_as_of_a_measured_one_and_marked() {
    let program = Program::new();
    let line = "run brokerage --on model:s824-fs840 --set sessions=8 --set measure=2s --set warm_up=300ms \
                --set highest_rate=off --seed 5 -o x.prony";
    let told = program.fine(line);
    assert!(
        told.contains("cost: brokerage (simulated): ") && told.contains("each of the machine's 24 cores"),
        "{told}"
    );
    let run = program.json("show x.prony --json");
    hold(&run);
    let (trial, server) = (&run["trials"][0], &run["trials"][0]["server"]);
    let rate = number(&trial["throughput_per_s"]);
    assert!((number(&server["transactions_per_machine_core_per_s"]) * 24.0 / rate - 1.0).abs() < 1e-6, "{server:#}");
    // The demand of the model, 2.95 ms, and a little contention.
    let cpu_ms = number(&server["per_transaction"]["cpu_ms"]);
    assert!((2.9..3.05).contains(&cpu_ms), "{cpu_ms} ms");
}

/// What a run on a model says of each event: how it was felt, for how long, and the least rate over the usual one.
fn felt(program: &Program, on: &str, events: &str) -> Vec<(String, Option<f64>, Option<f64>)> {
    let line = format!("run ./reads.toml --on {on} --set measure=10s --seed 5 --json --set 'events={events}'");
    let run = program.json(&line);
    hold(&run);
    let of = |found: &Value| {
        let share = found["rate_least_per_s"].as_f64().map(|least| least / number(&found["rate_before_per_s"]));
        (found["felt"].as_str().unwrap_or_default().to_owned(), found["felt_s"].as_f64(), share)
    };
    run["findings"].as_array().expect("a list").iter().filter(|found| found["kind"] == "felt").map(of).collect()
}

#[test]
fn a_port_that_fails_halves_what_its_modules_deliver_until_it_is_back() {
    let program = Program::new();
    reads(&program, 64);
    // Ten modules are behind two ports, each of which passes less than its five deliver.
    let two = "model:f5100 --set modules=10";
    let [(away, lasted, share), _] = &felt(&program, two, "3 s: fail port 1; 5 s: restore port 1")[..] else {
        panic!("two events")
    };
    assert!(away == "felt" && (1.9..2.3).contains(&lasted.unwrap()), "{away} {lasted:?}");
    assert!((0.45..0.55).contains(&share.unwrap()), "{share:?}");
    assert_eq!(felt(&program, two, "3 s: fail port 3")[0].0, "not felt", "nobody uses it");
    assert_eq!(felt(&program, two, "3 s: fail port 0")[0].0, "not back within the window");
}

#[test]
fn modules_and_channels_of_a_flash_array_fail_and_what_is_gone_fails_its_operations() {
    let program = Program::new();
    reads(&program, 64);
    let slower = felt(&program, "model:f5100", "3 s: fail channel 0");
    assert!(slower[0].0 == "not back within the window" && (0.85..0.95).contains(&slower[0].2.unwrap()), "{slower:?}");
    let gone = "run ./reads.toml --on model:f5100 --set measure=4s --seed 5 --json --set modules=2 --set 'events=2 s: fail module 0'";
    // Failed work has an exit code of its own.
    let run = program.run(gone).json();
    assert!(number(&run["trials"][0]["failed"]) > 0.0, "{:#}", run["trials"][0]);
}

#[test]
fn an_array_feels_a_lost_controller_less_than_an_update_of_both_halves_and_a_rebuild_while_it_runs() {
    let program = Program::new();
    reads(&program, 512);
    let array = "model:disk-array,read_hits=1,controller_time=400,policy=1 --set modules=1";
    let lost = felt(&program, array, "3 s: fail controller 0; 6 s: restore controller 0");
    assert!((0.4..0.6).contains(&lost[0].2.unwrap()) && (2.9..3.4).contains(&lost[0].1.unwrap()), "{lost:?}");
    let updated = felt(&program, array, "3 s: firmware=1s");
    assert!((1.9..2.4).contains(&updated[0].1.unwrap()), "one half and then the other: {updated:?}");
    reads(&program, 8);
    let disks = "model:disk-array,read_hits=0,module_size=0.02,rebuild_speed=40,variation=0 --set modules=1 --set interval=200ms --set warm_up=200ms";
    let made_again = felt(&program, disks, "3 s: fail module 0; 4 s: spare");
    assert!(made_again[1].0 == "felt" && made_again[1].1.unwrap() > 1.0, "{made_again:?}");
}

#[test]
fn an_array_that_lost_both_controllers_keeps_what_is_inside_and_does_nothing_until_the_window_ends() {
    let program = Program::new();
    reads(&program, 8);
    let line = "run ./reads.toml --on model:disk-array --set measure=4s --seed 5 --json --set 'events=2 s: fail controller 0; 3 s: fail controller 1'";
    let ran = program.run(line);
    assert_ne!(ran.code, Some(2), "{ran}");
    let run = ran.json();
    hold(&run);
    let trial = &run["trials"][0];
    assert!(number(&trial["throughput_per_s"]) > 0.0, "{trial:#}");
    // A spare has something to do where a module is lost from the beginning.
    program
        .fine("plan ./reads.toml --on model:disk-array,failed_modules=1 --set modules=1 --set 'events=10 ms: spare'");
}

#[test]
fn a_mirror_that_goes_away_in_mid_run_of_a_simulated_pair_is_told_as_one_of_a_real_pair() {
    let program = Program::new();
    let pair = "model:mirror-case2,source_cores=22,link_speed=10,trip_bytes=200";
    let line = format!(
        "run mirror-outage --on {pair} --set fault=cut --set at=2s --set resume=4s --set patience=500ms \
         --set measure=10s --set warm_up=1s --set interval=50ms"
    );
    let run = program.json(&format!("{line} --seed 5 --json"));
    hold(&run);
    let findings = run["findings"].as_array().expect("a list");
    let of = |kind: &str| findings.iter().filter(|found| found["kind"] == kind).collect::<Vec<_>>();
    let [found] = of("pair")[..] else { panic!("one: {run:#}") };
    assert!(of("felt").is_empty(), "it is told once");
    assert!(found["event"] == "cut" && found["alone"] == "alone, nothing confirmed", "{found:#}");
    let (freeze, after) = (number(&found["freeze_s"]), number(&found["alone_after_s"]));
    assert!((0.4..0.61).contains(&freeze) && (after - 0.5).abs() < 1e-6, "{found:#}");
    assert!(found["released"].as_u64() >= Some(4), "every session waited: {found:#}");
    let rate = |name: &str| number(&found[name]);
    assert!(rate("rate_alone_per_s") > rate("rate_before_per_s"), "nobody waits for the mirror: {found:#}");
    assert!(rate("resync_s") > 0.0 && rate("resync_bytes") >= rate("kept_bytes"), "{found:#}");
    assert!((rate("rate_after_per_s") / rate("rate_before_per_s") - 1.0).abs() < 0.2, "{found:#}");
    // What nobody asked the model for it does not tell.
    assert!(found["acknowledged_kept"].is_null() && found["rows_equal"].is_null(), "{found:#}");
    let told = program.fine(&format!("{line} --seed 5"));
    assert!(told.contains("clients stood still for") && told.contains("The mirror caught up in"), "{told}");
    assert!(told.contains("included"), "the figures in short mix all phases, and say so: {told}");
    let predicted = program.json(&format!("predict {} --json", &line["run ".len()..]));
    assert_eq!(predicted["rows"][0]["by"], "simulation", "{predicted:#}");
}

#[test]
fn what_a_kind_of_machine_does_not_know_is_refused_before_it_runs() {
    let program = Program::new();
    reads(&program, 1);
    for (model, event, said) in [
        ("disk-15k", "fail port 0", "needs an emulated device, the model of an array"),
        ("f5100", "fail controller 0", "which it does not know: it knows `fail port 0..15`"),
        ("f5100", "fail port 16", "fail port 16"),
        ("disk-array", "slow=3", "which it does not know"),
        ("f5100", "cut", "the event `cut`, which it does not know: it knows `fail port 0..15`"),
        ("disk-array", "spare", "it changes nothing"),
        ("disk-array", "restore controller 1", "what it would bring back was not lost before"),
    ] {
        for command in ["check", "plan"] {
            let line = format!("{command} ./reads.toml --on model:{model} --set 'events=10 ms: {event}'");
            let ran = program.run(&line);
            assert!(ran.code == Some(2) || command == "check", "{line}: {ran}");
            assert!(ran.code == Some(0) || ran.stderr.contains(said) || ran.stdout.contains(said), "{line}: {ran}");
        }
    }
    assert!(program.refused("check ./reads.toml --set 'events=soon: fail port 0'").contains("events"));
}
