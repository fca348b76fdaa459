//! What a transaction costs the generator itself: one of seven statements on a database that answers at once with nothing.
//!
//! The one idea: time over a database that takes none is the generator's own, in this process and behind a socket. A rate
//! near its inverse says more about the generator than about a database.

use crate::ceiling;
use crate::observer::Unobserved;
use crate::{Need, Opened, TrialError, run_trial};
use load::{Spec, Think};
use observation::{ClassKind, Footprint};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Access, At, DatabaseSpec, Engine, Place, Pool, ScriptsSpec, Sessions, SystemSpec, Trial, Workload};
use units::{Bytes, Nanos};

/// Microseconds of one transaction, one session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientCost {
    /// On a database inside this process.
    pub in_process_us: f64,
    /// Behind a socket: one request and one reply a batch, the other end included.
    pub over_socket_us: f64,
}

/// Measures both; takes about a second.
///
/// # Errors
/// When a thread or a socket cannot be had.
pub fn measure_client_cost() -> Result<ClientCost, TrialError> {
    Ok(ClientCost { in_process_us: cost_us(false)?, over_socket_us: cost_us(true)? })
}

fn cost_us(socket: bool) -> Result<f64, TrialError> {
    let at = DatabaseSpec { engine: Engine::Null, at: At::Nowhere { socket } };
    let spec = SystemSpec {
        name: "null".into(),
        place: Place::Database(at),
        size: None,
        modules: None,
        footprint: Footprint::default(),
    };
    let need = Need {
        modules: 0,
        module_bytes: Bytes(0),
        run_id: "client-cost",
        seed: 1,
        keep: false,
        consents: &[],
        cache_dir: Path::new("."),
        stop: &Arc::new(AtomicBool::new(false)),
    };
    let what = |error| TrialError::Unsupported { system: "null".to_owned(), what: format!("be opened: {error}") };
    let mut opened = Opened::open(&spec, &need).map_err(|error: crate::OpenError| what(error.to_string()))?;
    let seen = run_trial(&mut opened, &trial(), &mut Unobserved, &AtomicBool::new(false))?;
    let done: u64 = seen.window_cells().map(|cell| cell.tally.done).sum();
    Ok(seen.window.length().0 as f64 / 1e3 / done.max(1) as f64)
}

fn trial() -> Trial {
    let mut trial = ceiling::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos::from_millis(300));
    let script = "tpcb-like".to_owned();
    trial.label.streams[0].classes = vec![(script.clone(), ClassKind::Work)];
    let stream = &mut trial.streams[0];
    stream.workload = Workload::Sql(ScriptsSpec { scripts: vec![(script, 1.0)], define: Vec::new(), scale: 1 });
    stream.access = Access::plain();
    stream.pool = Some(Pool { sessions: 1, how: Sessions::default(), check: false });
    trial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_on_nothing_costs_something_and_a_socket_costs_more() {
        let cost = measure_client_cost().unwrap();
        assert!(cost.in_process_us > 0.0 && cost.over_socket_us > cost.in_process_us, "{cost:?}");
    }
}
