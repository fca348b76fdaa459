//! Whether the processors that a study names are there.

use crate::failure::Failure;
use study::{CpuSet, Cpus, Plan, Search, Study, Trial};
use system::machine;

/// Checks the `cpus` of every stream that runs on this machine.
///
/// # Errors
/// When one names a processor or a node that is not there, or the only node that there is.
pub fn check(study: &Study, plan: &Plan) -> Result<(), Failure> {
    let simulated = |trial: &&Trial| {
        let of = study.systems().iter().find(|spec| spec.name == trial.label.system);
        of.is_some_and(|spec| spec.place.simulated())
    };
    let trials = plan.trials.iter().chain(plan.searches.iter().map(Search::template)).filter(|trial| !simulated(trial));
    for trial in trials {
        for (stream, label) in trial.streams.iter().zip(&trial.label.streams) {
            let asked = stream.threads.cpus;
            if let Some(problem) = problem(asked, machine::allowed(), &machine::nodes()) {
                let experiment = &trial.label.experiment;
                return Err(Failure::new(format!("placing `{}` of `{experiment}`: `cpus`: {problem}", label.name)));
            }
        }
    }
    Ok(())
}

fn problem(asked: Cpus, allowed: CpuSet, nodes: &[u32]) -> Option<String> {
    match asked {
        Cpus::Any => None,
        Cpus::List(list) if list.among(allowed) == list => None,
        Cpus::List(list) => Some(format!("some of {allowed}, which this process may use, got {list}")),
        Cpus::Node(node) if nodes.len() < 2 => Some(format!(
            "this machine has a single node of memory, got `node {node}`; leave it out, or name processors"
        )),
        Cpus::Node(node) if nodes.contains(&node) => None,
        Cpus::Node(node) => {
            let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
            Some(format!("one of the nodes {}, got `node {node}`", nodes.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_nodes_that_are_not_there_are_named() {
        let list = |text| CpuSet::read(text).unwrap();
        let told = |asked, nodes: &[u32]| problem(asked, list("0-1"), nodes);
        assert_eq!(told(Cpus::List(list("1")), &[0]), None);
        let wrong = told(Cpus::List(list("0-3")), &[0]).unwrap();
        assert_eq!(wrong, "some of 0-1, which this process may use, got 0-3");
        assert!(told(Cpus::Node(0), &[0]).unwrap().contains("has a single node of memory"));
        assert_eq!(told(Cpus::Node(1), &[0, 1]), None);
        assert_eq!(told(Cpus::Node(3), &[0, 1]).unwrap(), "one of the nodes 0, 1, got `node 3`");
    }
}
