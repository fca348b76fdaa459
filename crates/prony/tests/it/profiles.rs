//! What transactions of a measured run asked for, as numbers of a model that is used at once.

use crate::house::House;
use crate::program::Program;
use crate::schema::hold;
use serde_json::Value;

/// A short run on the embedded database, kept in `x.prony`.
fn measured() -> House {
    let house = House::new("sqlite:");
    house.run("--set customers=50 --set days=1 --set measure=500ms --set warm_up=0s --set sessions=2,1");
    house
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, got {value}"))
}

fn amount<'a>(calibrated: &'a Value, parameter: &str) -> &'a Value {
    let amounts = calibrated["profile"]["amounts"].as_array().expect("amounts");
    amounts.iter().find(|amount| amount["parameter"] == parameter).unwrap_or_else(|| panic!("{calibrated:#}"))
}

/// Processor time of a transaction by a prediction for one session, milliseconds: of so many cores that many were busy,
/// and completed so many.
fn predicted_ms(program: &Program, cores: f64) -> f64 {
    let predicted = program.json("predict brokerage --on model:./mine.toml --set sessions=1 --json");
    let of = |metric: &str| {
        let row = predicted["rows"].as_array().and_then(|rows| rows.iter().find(|row| row["metric"] == metric));
        number(&row.unwrap_or_else(|| panic!("{metric}: {predicted:#}"))["predicted"])
    };
    1e3 * of("utilisation") / 100.0 * cores / of("throughput")
}

#[test]
fn a_profile_of_a_measured_run_makes_a_model_that_predicts_and_simulates_at_once() {
    let house = measured();
    let program = &house.program;
    let calibrated = program.json("calibrate small-server --profile x.prony --json -o mine.toml");
    hold(&calibrated);
    assert_eq!(calibrated["profile"]["sessions"], 1, "where the least waits: {calibrated:#}");
    assert!(number(&calibrated["profile"]["transactions"]) > 10.0, "{calibrated:#}");
    let (demand, driver) = (amount(&calibrated, "demand"), amount(&calibrated, "driver"));
    let asked_ms = number(&demand["each"]) + number(&driver["value"]) / 1e3;
    let text = std::fs::read_to_string(program.path("mine.toml")).expect("the model");
    assert!(text.contains("from  = \"given: profile of run x, trial "), "{text}");
    assert!(number(&demand["each"]) > 0.0 && number(&demand["value"]) == number(&demand["each"]), "{demand:#}");
    let (predicted, contention) = (predicted_ms(program, 4.0), 1.0005);
    assert!((predicted / (asked_ms * contention) - 1.0).abs() < 1e-3, "{predicted} of {asked_ms} ms");
    let run = program.json(
        "run brokerage --on model:./mine.toml --set sessions=1 --set measure=1s --set warm_up=100ms \
         --set highest_rate=off --seed 5 --json",
    );
    assert!(number(&run["trials"][0]["throughput_per_s"]) > 0.0, "{run:#}");
}

#[test]
fn a_profile_says_what_it_took_and_what_it_left_and_rows_move_the_rest() {
    let house = measured();
    let told = house.program.fine("calibrate small-server --profile x.prony");
    for words in [
        "the fewest sessions of the run, so that the least waits",
        "of its statements, sampled",
        "left unused: a server-on-flash has no such number",
        "nothing was written; -o FILE writes the calibrated model",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let asked = house.program.fine("calibrate small-server --profile x.prony --trial 0");
    assert!(asked.contains("in trial 0 of x") && asked.contains("as asked for"), "{asked}");
    let disks = house.program.json("calibrate power770-san --profile x.prony --json");
    assert!(number(&amount(&disks, "other")["value"]) > 0.0, "{disks:#}");
    let pair = house.program.json("calibrate mirror-case2 --profile x.prony --json");
    assert!(number(&amount(&pair, "demand")["value"]) > 0.0, "{pair:#}");
    assert!(amount(&pair, "target_mirror")["each"].is_null(), "this run has no mirror: {pair:#}");
    let both = house.program.json("calibrate small-server x.prony --profile x.prony --json");
    hold(&both);
    assert!(both["rows"].as_array().is_some_and(|rows| rows.len() == 4), "{both:#}");
    let moved = both["parameters"].as_array().expect("parameters");
    assert!(moved.iter().all(|parameter| parameter["name"] != "demand"), "what is given stays: {both:#}");
}

#[test]
fn a_run_that_gives_no_profile_is_refused_with_what_to_do() {
    let house = measured();
    let program = &house.program;
    program.fine(
        "run flash --on null: --only random-read --set modules=1 --set measure=100ms --set warm_up=0s -o storage.prony",
    );
    program.fine(
        "run brokerage --on model:small-server --set sessions=1 --set measure=500ms --set warm_up=0s \
         --set highest_rate=off --seed 5 -o simulated.prony",
    );
    for (line, words) in [
        ("calibrate small-server --profile storage.prony", "transactions are needed, got a run without any"),
        ("calibrate small-server --profile simulated.prony", "a measured run is needed, got one that was simulated"),
        ("calibrate f5100 --profile x.prony", "a server-on-disks or a mirrored-pair, got a flash-array"),
        ("calibrate small-server --profile x.prony --trial 9", "got 9; those are 0, 1"),
        ("calibrate small-server --profile none", "no file has this name"),
        ("calibrate small-server", "rows or a profile are needed, got neither"),
    ] {
        let refused = program.refused(line);
        assert!(refused.contains(words), "{line}: {refused}");
    }
}

/// A statement that takes as long as it says, by the clock of the client and by that of the server.
fn both_clocks_agree(on: &'static str, statement: &str, server: &str) {
    let Some(house) = House::with_server(on) else { return };
    std::fs::write(house.program.path("rest.sql"), statement).expect("a script");
    let run = house.program.json(&format!(
        "run sql --on {on} --set script=rest.sql --set sessions=1 --set measure=2s --set warm_up=0s {server} --json --quiet -o x.prony"
    ));
    let (asked, total) = (&run["trials"][0]["service_ms"], &run["trials"][0]["server"]["profile"]["total"]);
    let counted_ms = number(&total["execution_us"]) / number(&total["server_executions"]) / 1e3;
    assert!(number(&asked["mean"]) >= 20.0, "{asked:#}");
    assert!((20.0..number(&asked["max"])).contains(&counted_ms), "{counted_ms} ms of {asked:#}");
}

#[test]
fn a_postgres_counts_what_its_clients_waited_for() {
    both_clocks_agree("local:postgres", "SELECT pg_sleep(0.02);\n", "");
}

#[test]
fn a_mariadb_that_is_asked_to_counts_what_its_clients_waited_for() {
    both_clocks_agree("local:mariadb", "SELECT SLEEP(0.02);\n", "--set server=performance_schema=ON");
}
