//! The study `brokerage` from the command line, on every kind of database: small, but whole.

use crate::house::House;
use crate::schema::hold;
use serde_json::Value;

/// A data set that is filled in a moment.
const SMALL: &str = "--set customers=50 --set days=1";

/// Half a second without warm-up.
const SHORT: &str = "--set measure=500ms --set warm_up=0s";

fn trials(run: &Value) -> &[Value] {
    run["trials"].as_array().expect("trials")
}

fn number(trial: &Value, key: &str) -> f64 {
    trial[key].as_f64().unwrap_or_else(|| panic!("{key} of {trial:#}"))
}

/// Transactions were done, none failed, and the books close.
fn went_well(trial: &Value) {
    assert!(number(trial, "throughput_per_s") > 0.0, "{trial:#}");
    assert_eq!(trial["failed"], 0, "{trial:#}");
    assert_eq!(trial["backend"], "measured");
    assert_eq!(number(trial, "planned"), number(trial, "done") + number(trial, "failed") + number(trial, "censored"));
}

/// Every trial of a run went well, and the data is right after each.
fn all_went_well(house: &House, run: &Value, expected: usize) {
    hold(run);
    assert_eq!(trials(run).len(), expected);
    for (index, trial) in trials(run).iter().enumerate() {
        went_well(trial);
        house.holds_after(index as u32);
    }
}

#[test]
fn the_desk_trades_on_the_embedded_database_with_nothing_set_up() {
    let house = House::new("sqlite:");
    let run = house.run(&format!("--set preset=desk {SMALL} {SHORT} --set sessions=1,2,4"));
    all_went_well(&house, &run, 3);
}

#[test]
fn the_whole_house_trades_on_a_private_postgres() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let run = house.run(&format!("--set preset=house {SMALL} {SHORT} --set sessions=1,8"));
    all_went_well(&house, &run, 2);
    fills_are_reused_and_checked(&house, &format!("--set preset=house {SMALL}"));
    users_keep_the_law(&house);
}

#[test]
fn the_whole_house_trades_on_a_private_mariadb() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    let run = house.run(&format!("--set preset=house {SMALL} {SHORT} --set sessions=1,4"));
    all_went_well(&house, &run, 2);
    fills_are_reused_and_checked(&house, &format!("--set preset=house {SMALL}"));
}

#[test]
fn a_fill_is_made_once_and_checks_hold() {
    let house = House::new("sqlite:");
    let told = house.program.fine(&house.line("db fill", SMALL));
    assert!(told.contains("was filled with"), "{told}");
    fills_are_reused_and_checked(&house, SMALL);
}

fn fills_are_reused_and_checked(house: &House, sets: &str) {
    let told = house.program.fine(&house.line("db fill", sets));
    assert!(told.contains("is there already"), "{told}");
    let checked = house.program.json(&house.line("db check", &format!("{sets} --json")));
    hold(&checked);
    let [set] = checked["datasets"].as_array().expect("data sets").as_slice() else { panic!("one: {checked:#}") };
    assert_eq!(set["passed"], true, "{checked:#}");
    assert!(set["checks"].as_array().is_some_and(|checks| checks.len() > 5), "{checked:#}");
}

#[test]
fn a_check_of_what_was_never_filled_says_so() {
    let house = House::new("sqlite:");
    let told = house.program.refused(&house.line("db check", SMALL));
    assert!(told.contains("not filled") && told.contains("hint: "), "{told}");
}

#[test]
fn a_check_of_a_study_looks_at_no_data_set_of_another_and_names_what_is_there() {
    let house = House::new("sqlite:own.db");
    house.program.fine(&house.line("db fill", SMALL));
    house.program.fine(&house.line("db check", ""));
    let told = house.program.refused("db check order-entry --on sqlite:own.db");
    let lacks = "no data set of order-entry is there; there are: brokerage-";
    assert!(told.contains(lacks) && told.contains("hint: "), "{told}");
}

#[test]
fn users_who_think_share_the_sessions() {
    users_keep_the_law(&House::new("sqlite:"));
}

/// The interactive response-time law (Denning and Buzen 1978): as many a second as users over think and response time. Nobody
/// thinks before what comes back from the exchange.
fn users_keep_the_law(house: &House) {
    let sets =
        "--set preset=desk --set users=50 --set think=100ms --set sessions=4 --set measure=3s --set warm_up=500ms";
    let run = house.program.json(&house.line("run", &format!("{SMALL} {sets} --json --quiet -o users.prony")));
    hold(&run);
    let [trial] = trials(&run) else { panic!("one trial: {run:#}") };
    went_well(trial);
    let (occupied_s, caused) = occupied(trial);
    let law = 50.0 / (0.1 * (1.0 - caused) + occupied_s);
    let rate = number(trial, "throughput_per_s");
    assert!((rate / law - 1.0).abs() < 0.05, "{rate} a second, the law says {law}: {trial:#}");
}

/// The mean time for which a transaction holds a user, seconds, and the share of those that come back from the exchange. These
/// are not waited for by anybody, so they hold one only while they are carried out.
fn occupied(trial: &Value) -> (f64, f64) {
    let (mut sum_ms, mut done, mut back) = (0.0, 0.0, 0.0);
    for class in trial["classes"].as_array().expect("classes") {
        let caused = class["name"] == "trade-result" || class["name"] == "market-feed";
        let time = if caused { "service_ms" } else { "response_ms" };
        let times = number(class, "done");
        if times > 0.0 {
            sum_ms += number(&class[time], "mean") * times;
            done += times;
            back += if caused { times } else { 0.0 };
        }
    }
    (sum_ms / done / 1e3, back / done)
}

#[test]
fn an_open_load_arrives_at_its_rate() {
    let house = House::new("sqlite:");
    let run = house.run(&format!("{SMALL} --set sessions=2 --set rate=200/s --set arrivals=constant {SHORT}"));
    all_went_well(&house, &run, 1);
    assert_eq!(number(&trials(&run)[0], "offered_per_s"), 200.0);
}

#[test]
fn a_null_database_shows_what_the_generator_itself_costs() {
    for on in ["null-database:", "null-database:socket"] {
        let house = House::new(on);
        let line =
            format!("run sql --on {on} --set script=tpcb-like {SHORT} --set sessions=2 --json --quiet -o y.prony");
        let scripts = house.program.json(&line);
        hold(&scripts);
        let brokerage = house.run(&format!("{SHORT} --set sessions=2"));
        hold(&brokerage);
        for run in [&scripts, &brokerage] {
            let [trial] = trials(run) else { panic!("one trial: {run:#}") };
            assert!(number(&trial["cpu_us_per_operation"], "user") > 0.0, "{trial:#}");
            went_well(trial);
        }
        let unchecked =
            |event: &observation::Event| event.text.contains("neither its data nor a ledger can be checked");
        assert!(house.events(0).iter().any(unchecked), "{:#?}", house.events(0));
        assert!(cost_us(&brokerage) > cost_us(&scripts), "{brokerage:#}");
    }
}

/// What a transaction costs the generator in its own process, by the facts of a run.
fn cost_us(run: &Value) -> f64 {
    let facts = run["systems"][0]["fingerprint"].as_array().expect("a fingerprint");
    let fact = facts.iter().find(|fact| fact["key"] == "generator.transaction.in_process").expect("the figure");
    fact["value"]
        .as_str()
        .and_then(|value| value.strip_suffix(" us"))
        .and_then(|us| us.parse().ok())
        .expect("microseconds")
}
