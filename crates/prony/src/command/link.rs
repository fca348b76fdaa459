//! `prony link`: a relay for as long as this command runs, an order to one, or what one costs.

use crate::args::Link;
use crate::failure::Failure;
use crate::output;
use crate::run::stop;
use link::{Address, Choice, Relay, Settings};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;
use study::Wire;

/// How often it looks whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// Serves, gives an order, or measures.
pub fn run(asked: &Link) -> Result<(), Failure> {
    match (&asked.listen, &asked.to, &asked.orders, &asked.order) {
        (Some(listen), Some(to), ..) => serve(asked, &settings(asked, listen, to)?),
        (_, _, Some(orders), Some(order)) => give(orders, order, asked.json),
        _ if asked.cost => cost(asked.json),
        _ => Err(Failure::new("`prony link` needs something to do")
            .hint("say --listen and --to, or --orders and --order, or --cost")),
    }
}

fn settings(asked: &Link, listen: &str, to: &str) -> Result<Settings, Failure> {
    let address = |option: &str, text: &str| {
        text.parse::<Address>().map_err(|error| Failure::new(format!("reading `{option}`: {error}")))
    };
    let shape =
        |text: &String| Wire::parse(text).map_err(|error| Failure::caused(format!("reading `--path {text}`"), &error));
    let failover = units::parse_duration(&asked.failover)
        .map_err(|error| Failure::caused(format!("reading `--failover {}`", asked.failover), &error))?;
    let paths: Vec<Wire> = asked.path.iter().map(shape).collect::<Result<_, _>>()?;
    Ok(Settings {
        listen: address("--listen", listen)?,
        to: address("--to", to)?,
        paths: if paths.is_empty() { vec![Wire::default()] } else { paths },
        choice: if asked.balance { Choice::Balance } else { Choice::Priority },
        failover,
        seed: 0,
    })
}

/// Relays until it is told to end.
fn serve(asked: &Link, settings: &Settings) -> Result<(), Failure> {
    let told = stop::listen()?;
    let listening = |error| {
        Failure::caused(format!("listening at `{}`", settings.listen), &error)
            .hint("name a free port or a socket that does not exist")
    };
    let relay = Arc::new(Relay::start(settings).map_err(listening)?);
    if let (Some(user), Address::Unix(socket)) = (asked.user, relay.address()) {
        let given = std::os::unix::fs::lchown(socket, Some(user), None);
        given.map_err(|error| Failure::caused(format!("handing over `{}`", socket.display()), &error))?;
    }
    if let Some(orders) = &asked.orders {
        let refused = |error| Failure::caused(format!("taking orders at `{}`", orders.display()), &error);
        link::obey(&relay, orders).map_err(refused)?;
    }
    let late = units::duration(relay.own());
    let late = match relay.own() < link::LATEST {
        true => format!("it wakes up {late} late, which is taken off each delay"),
        false => {
            format!("it wakes up later than {late} on this busy machine: {late} are taken off each delay, and no more")
        }
    };
    output::note_line(&format!("{} to {}; {late}", relay.address(), settings.to));
    while !told.load(Ordering::Relaxed) && !relay.is_ended() {
        sleep(LOOK);
    }
    if let Some(orders) = &asked.orders {
        // Whoever took it away first did the same.
        let _ = std::fs::remove_file(orders);
    }
    let [there, back] = relay.told().1;
    let carried = |(bytes, pieces): (u64, u64)| {
        format!("{} in {} pieces", units::bytes(units::Bytes(bytes)), units::count(pieces))
    };
    output::note_line(&format!("carried {} there and {} back", carried(there), carried(back)));
    Ok(())
}

fn give(orders: &Path, order: &str, as_json: bool) -> Result<(), Failure> {
    let order = link::parse(order).map(|_| order).map_err(|error| Failure::caused("reading `--order`", &error))?;
    let answer = link::ask(orders, order)
        .map_err(|error| Failure::caused(format!("telling the link at `{}` to `{order}`", orders.display()), &error))?;
    let lines: Vec<Vec<&str>> = answer.lines().map(|line| line.split('\t').collect()).collect();
    let Some((traffic, paths)) = lines.split_last() else { return Err(Failure::new("the link gave no answer")) };
    if as_json {
        return output::print_json(&told(paths, traffic));
    }
    let state = |path: &[&str]| match (path[1], path[2]) {
        ("true", "true") => "carries",
        ("false", "false") => "cut",
        _ => "half-open",
    };
    let mut text = String::new();
    for (number, path) in paths.iter().enumerate() {
        text += &format!("path {}  {}  {}  {} connections\n", number + 1, state(path), path[0], path[3]);
    }
    output::print(&format!(
        "{text}carried {} bytes in {} pieces there, {} bytes in {} pieces back\n",
        traffic[0], traffic[1], traffic[2], traffic[3]
    ))
}

fn told(paths: &[Vec<&str>], traffic: &[&str]) -> Value {
    let whole = |text: &str| text.parse::<u64>().unwrap_or(0);
    let path = |path: &Vec<&str>| {
        let connections = whole(path[3]);
        json!({ "shape": path[0], "there": path[1] == "true", "back": path[2] == "true", "connections": connections })
    };
    let way = |bytes: &str, pieces: &str| json!({ "bytes": whole(bytes), "pieces": whole(pieces) });
    json!({
        "schema": "prony/link/1",
        "paths": paths.iter().map(path).collect::<Vec<_>>(),
        "there": way(traffic[0], traffic[1]),
        "back": way(traffic[2], traffic[3]),
    })
}

fn cost(as_json: bool) -> Result<(), Failure> {
    let cost = link::cost().map_err(|error| Failure::caused("measuring a relay on loopback", &error))?;
    if as_json {
        return output::print_json(&json!({
            "schema": "prony/link-cost/1",
            "round_trip_us": cost.round_trip.0 as f64 / 1e3,
            "bytes_per_second": cost.throughput.0,
            "delay_over_asked_100us": cost.accuracy,
        }));
    }
    output::print(&format!(
        "a relay without delay adds {} to a round trip and carries {}; of 100 us each way it makes {:.3} times as much\n",
        units::duration(cost.round_trip),
        units::bytes_per_second(cost.throughput.0),
        cost.accuracy
    ))
}
