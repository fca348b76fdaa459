//! `prony pair serve`: a two-phase pair behind one address.

use super::{failed, named, opened};
use crate::args::PairServe;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::{output, run};
use mirror::{Home, Kind, Serving};
use pair::Node;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;
use units::Nanos;

/// Who is silent for less than that may only be busy.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// Serves until it is told to end.
pub(super) fn run(asked: &PairServe) -> Result<Outcome, Failure> {
    const DOING: &str = "serving the pair";
    if let Some(kind) = asked.kind.as_deref().filter(|kind| *kind != Kind::Rows.word()) {
        return Err(Failure::new(format!("{DOING}: only a {} is served, got `{kind}`", Kind::Rows.word())));
    }
    let listen: SocketAddr = asked.listen.parse().map_err(|_| {
        Failure::new(format!("reading --listen: a number and a port, got `{}`", asked.listen))
            .hint("such as --listen 127.0.0.1:6000")
    })?;
    if !listen.ip().is_loopback() && !asked.anywhere {
        return Err(Failure::new(format!(
            "{DOING}: {listen} is reached by other machines, and nobody is asked for a password"
        ))
        .hint("listen at 127.0.0.1, or say --anywhere"));
    }
    let patience = units::parse_duration(&asked.patience)
        .map_err(|error| Failure::caused(format!("reading --patience {}", asked.patience), &error))?;
    if patience < PATIENCE {
        let least = units::duration(PATIENCE);
        return Err(Failure::new(format!("reading --patience: at least {least}, got {}", asked.patience))
            .hint("a node that is well may be silent for some milliseconds; 1s is the default"));
    }
    let reads_on = Node::ALL.into_iter().find(|node| node.to_string() == asked.node);
    let stop = run::listen()?;
    let home = Home::find(&named(asked.dir.as_deref())?).map_err(failed(DOING))?;
    let serving =
        Serving::begin(home.clone(), listen, Duration::from_nanos(patience.0), reads_on).map_err(failed(DOING))?;
    {
        let _held = home.hold().map_err(failed(DOING))?;
        let mut pair = opened(home, &stop).map_err(failed(DOING))?;
        pair.look().and_then(|()| pair.lets_in()).map_err(failed(DOING))?;
    }
    let address = serving.address().map_err(|error| Failure::caused(DOING, &error))?;
    output::note_line(&format!("listening at {address}"));
    let look = |home: &Home, silent| {
        let _held = home.hold()?;
        opened(home.clone(), &stop)?.look_past(silent)
    };
    serving.serve(&stop, look).map_err(failed(DOING))?;
    if !stop.load(Ordering::Relaxed) {
        output::note_line("the pair is down, so that it is served no more");
    }
    Ok(Outcome::Fine)
}
