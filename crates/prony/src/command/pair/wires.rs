//! The wires between the nodes of a pair: a relay towards each, in a process of its own that outlives the command.

use super::failed;
use crate::failure::Failure;
use mirror::Home;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use study::Wire;

/// The nodes that a wire leads to.
const NODES: [&str; 2] = ["a", "b"];

/// How often it is looked for a relay that starts, and how many times: it measures itself first.
const LOOKS: (Duration, u32) = (Duration::from_millis(20), 500);

/// The folder of the sockets of a pair's wires, as its nodes are told it.
pub fn folder(home: &Home) -> String {
    home.folder().join("wires").display().to_string()
}

/// What a wire is like, in words that a relay takes.
pub fn words(text: &str) -> Result<String, Failure> {
    let words = if text == "plain" { "" } else { text };
    let wire = Wire::parse(words).map_err(|error| Failure::caused(format!("reading `--link {text}`"), &error))?;
    Ok(wire.to_string())
}

fn orders(home: &Home, node: &str) -> PathBuf {
    home.folder().join("wires").join(node).join("orders")
}

/// Starts what does not run, and gives all of them this shape, or the one that was said last.
pub fn start(home: &Home, said: Option<&str>) -> Result<(), Failure> {
    let kept = home.folder().join("wires").join("shape");
    let words = said.map(str::to_owned).or_else(|| std::fs::read_to_string(&kept).ok());
    let words = words.as_deref();
    for node in NODES {
        let (orders, doing) = (orders(home, node), || format!("starting the wire to node {node}"));
        let tell = words.map_or_else(|| "tell".to_owned(), |words| format!("shape 1 {words}"));
        if link::ask(&orders, &tell).is_ok() {
            let kept = words.map_or(Ok(()), |words| std::fs::write(&kept, words));
            kept.map_err(|error| Failure::caused(doing(), &error))?;
            continue;
        }
        let folder = home.folder().join("wires").join(node);
        for made in [folder.parent().unwrap_or(Path::new(".")), &folder] {
            database::server::house(made).map_err(|error| Failure::caused(doing(), &error))?;
        }
        let socket = folder.join(".s.PGSQL.5432");
        database::server::fits(&socket).map_err(|error| failed(&doing())(error.into()))?;
        // Those of relays that are gone.
        [&socket, &orders].map(std::fs::remove_file).into_iter().for_each(drop);
        let program = std::env::current_exe().map_err(|error| Failure::caused(doing(), &error))?;
        let to = home.folder().join(node).join("run/.s.PGSQL.5432");
        let mut relay = Command::new(program);
        relay.arg("link").arg("--listen").arg(&socket).arg("--to").arg(to).arg("--orders").arg(&orders);
        relay.args(words.map(|words| ["--path", words]).into_iter().flatten());
        relay.args(["--user", &database::server::postgres::Server::user().to_string()]);
        relay.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        relay.spawn().map_err(|error| Failure::caused(doing(), &error))?;
        let runs = (0..LOOKS.1).any(|_| {
            sleep(LOOKS.0);
            link::ask(&orders, "tell").is_ok()
        });
        if let Some(words) = words {
            std::fs::write(&kept, words).map_err(|error| Failure::caused(doing(), &error))?;
        }
        if !runs {
            return Err(Failure::new(format!("{}: it does not answer at `{}`", doing(), orders.display())));
        }
    }
    Ok(())
}

/// Gives an order to the wires of a pair; one that has none has nothing to do.
pub fn order(home: &Home, order: &str) -> Result<(), Failure> {
    for node in NODES {
        let orders = orders(home, node);
        if !orders.exists() {
            continue;
        }
        match link::ask(&orders, order) {
            // One that was killed is as good as ended.
            Err(_) if order == "end" => {}
            Ok(_) if order == "end" => {
                // It looks for its end from time to time.
                (0..LOOKS.1).find(|_| {
                    sleep(LOOKS.0);
                    link::ask(&orders, "tell").is_err()
                });
            }
            told => drop(told.map_err(|error| {
                Failure::caused(format!("telling the wire to node {node} to {order}"), &error)
                    .hint("`prony pair up` starts wires that are gone")
            })?),
        }
    }
    Ok(())
}
