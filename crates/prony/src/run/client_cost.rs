//! What a transaction costs the generator itself, beside the facts of every database.
//!
//! The one idea: it is measured once for each workload of the run, and a system carries the figures of what it is asked
//! first.

use crate::failure::Failure;
use engine::ClientCost;
use observation::{Fact, Reached, SystemFacts, SystemKind};
use std::sync::atomic::AtomicBool;
use study::{Plan, Trial};

/// Measures with the first trial of each system of transactions, and writes the figures into its facts.
///
/// # Errors
/// When a thread or a socket cannot be had for the measurement, and when it is stopped.
pub(super) fn add(plan: &Plan, systems: &mut [SystemFacts], stop: &AtomicBool) -> Result<(), Failure> {
    let mut measured: Vec<(&Trial, Option<ClientCost>)> = Vec::new();
    for system in systems {
        let Some(trial) = plan.first_trial_on(&system.name) else { continue };
        // In virtual time the generator costs nothing that anybody measures.
        if system.is(SystemKind::Model) {
            continue;
        }
        let asked = |trial: &Trial| trial.streams.iter().map(|stream| stream.work.clone()).collect::<Vec<_>>();
        let known = measured.iter().find(|(other, _)| asked(other) == asked(trial)).map(|(_, cost)| *cost);
        let cost = match known {
            Some(cost) => cost,
            None => measure(trial, stop)?,
        };
        measured.push((trial, cost));
        system.fingerprint.extend(cost.map(|cost| facts(cost, trial)).into_iter().flatten());
    }
    Ok(())
}

fn measure(trial: &Trial, stop: &AtomicBool) -> Result<Option<ClientCost>, Failure> {
    let doing = |error| Failure::caused("measuring what a transaction costs the load generator", &error);
    engine::measure_client_cost(trial, stop).map_err(doing)
}

fn facts(cost: ClientCost, trial: &Trial) -> [Fact; 3] {
    let of = trial.label.streams.first().map_or_else(String::new, |stream| stream.workload.clone());
    [
        Fact::client_cost(Reached::InProcess, cost.in_process_us),
        Fact::client_cost(Reached::OverSocket, cost.over_socket_us),
        Fact { key: "generator.transaction.of".to_owned(), value: of, private: false },
    ]
}
