//! What a transaction costs the generator itself: those of the run, on a database that answers at once.
//!
//! The one idea: CPU over a database that needs none is the generator's own, in this process and behind a socket. The
//! transactions are those of the run (the brokerage with its mix, the user's own scripts), because a batch of twenty
//! statements costs more to make up than one.
//!
//! What it does not do: it knows nothing of the protocol of an engine, whose encoding comes on top.

use crate::observer::Unobserved;
use crate::sample;
use crate::{TrialError, run_trial};
use load::{Spec, Think};
use observation::{Observations, StreamLabel};
use std::sync::atomic::AtomicBool;
use study::{At, DatabaseSpec, Engine, OnError, Place, Pool, Threads, Trial, Work};
use units::{Bytes, Nanos};

/// How long each of the two is looked at.
const LOOK: Nanos = Nanos::from_millis(300);

/// CPU microseconds of one transaction, one session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientCost {
    /// On a database inside this process.
    pub in_process_us: f64,
    /// Behind a socket: one request and one reply a batch, the other end included.
    pub over_socket_us: f64,
}

/// Measures both with the transactions of a trial; takes about a second. None when the trial has none, or when none of
/// them comes to its end on a database without data (a script that divides by what it fetched).
///
/// # Errors
/// When a thread or a socket cannot be had, or a script cannot be read, and [`TrialError::Stopped`].
pub fn measure_client_cost(of: &Trial, stop: &AtomicBool) -> Result<Option<ClientCost>, TrialError> {
    let Some(trial) = trial(of) else { return Ok(None) };
    let (here, there) = (cost_us(&trial, false, stop)?, cost_us(&trial, true, stop)?);
    Ok(here.zip(there).map(|(in_process_us, over_socket_us)| ClientCost { in_process_us, over_socket_us }))
}

fn cost_us(trial: &Trial, socket: bool, stop: &AtomicBool) -> Result<Option<f64>, TrialError> {
    let at = DatabaseSpec::new(Engine::Null, At::Nowhere { socket });
    let mut opened = sample::open(Place::Database(at), 0, Bytes(0), None)?;
    let seen = run_trial(&mut opened, trial, &mut Unobserved, stop)?;
    Ok(cpu_us(&trial.label.streams[0], &seen))
}

/// CPU and not time: a script may sleep, and other programs may want the same core.
fn cpu_us(label: &StreamLabel, seen: &Observations) -> Option<f64> {
    let counted = seen.window_cells().filter(|cell| label.kind(cell.key.class).counts_operations());
    let done: u64 = counted.map(|cell| cell.tally.done).sum();
    (done > 0).then(|| seen.generator_cpu.total_s() * 1e6 / done as f64)
}

/// The first stream of transactions of a trial, by one session without a pause.
fn trial(of: &Trial) -> Option<Trial> {
    let place = of.streams.iter().position(|stream| stream.transactions().is_some())?;
    let Work::Transactions { asked, pool } = &of.streams[place].work else { return None };
    let mut trial = sample::trial(Spec::Closed { slots: 1, think: Think::None }, LOOK);
    trial.label.streams[0].classes.clone_from(&of.label.streams[place].classes);
    let pool = Pool {
        sessions: 1,
        how: pool.how,
        on_error: OnError::GoOn,
        check: false,
        recovery: Nanos::ZERO,
        waits: false,
        profile: false,
        limit: Nanos::ZERO,
    };
    trial.streams[0].work = Work::Transactions { asked: asked.clone(), pool };
    trial.streams[0].threads = Threads { count: 1, ..of.streams[place].threads };
    Some(trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::ClassKind;
    use std::sync::Arc;
    use study::Sessions;
    use workload::brokerage::{self, Market, Preset};
    use workload::kind::Transactions;
    use workload::sql;

    fn with(asked: Arc<dyn Transactions>, classes: Vec<(String, ClassKind)>) -> Trial {
        let mut trial = sample::trial(Spec::Closed { slots: 4, think: Think::None }, Nanos::from_secs(1));
        trial.label.streams[0].classes = classes;
        let pool = Pool {
            sessions: 4,
            how: Sessions::default(),
            on_error: OnError::GoOn,
            check: true,
            recovery: Nanos::ZERO,
            waits: false,
            profile: false,
            limit: Nanos::ZERO,
        };
        trial.streams[0].work = Work::Transactions { asked, pool };
        trial
    }

    #[test]
    fn a_transaction_on_nothing_costs_something_and_a_socket_costs_more_and_a_house_more_than_a_script() {
        let script = "tpcb-like".to_owned();
        let scripts =
            sql::Asked { scripts: vec![(script.clone(), 1.0)], define: Vec::new(), scale: 1, partitions: None };
        let scripts = with(Arc::new(scripts), vec![(script, ClassKind::Work)]);
        let spec = brokerage::Spec {
            preset: Preset::House,
            customers: 1000,
            days: 5,
            market: Market::ByTime,
            maintenance: true,
            procedures: false,
        };
        let classes = brokerage::classes(Preset::House);
        let classes = classes.into_iter().map(|class| (class.name, ClassKind::Work)).collect();
        let house = with(Arc::new(spec), classes);
        let [scripts, house] =
            [scripts, house].map(|trial| measure_client_cost(&trial, &AtomicBool::new(false)).unwrap().unwrap());
        for cost in [scripts, house] {
            assert!(cost.in_process_us > 0.0 && cost.over_socket_us > cost.in_process_us, "{cost:?}");
        }
        assert!(house.in_process_us > scripts.in_process_us, "{house:?} {scripts:?}");
    }

    #[test]
    fn storage_work_has_no_transaction_to_be_measured() {
        let trial = sample::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos::from_millis(1));
        assert_eq!(measure_client_cost(&trial, &AtomicBool::new(false)).unwrap(), None);
    }
}
