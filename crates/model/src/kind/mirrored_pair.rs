//! A transaction server whose changes are mirrored synchronously to a second one, or each to the other.
//!
//! The one idea: mirroring costs processor time at the source for every transaction, processor time at the target, and a
//! delay in between; nothing else changes. So throughput follows from how many jobs go round and how long a round takes,
//! and more jobs make up for the delay as long as processors are free. A node of an active pair is source for its own
//! transactions and target for those of the other.

use super::{Asked, Quantity, Unanswered, Values, asked, number};
use crate::form::{closed, waiting};
use crate::judge::Shape;
use crate::rows::Row;

pub(super) const ASKS: &[Asked] = &[
    asked("jobs_per_set", "jobs", 1e-3, 1e6, "jobs that a job set, or a user, stands for"),
    asked("think", "ms", 1e-6, 1e9, "what a job does outside of the response, for each transaction"),
    asked("demand", "ms", 1e-6, 1e6, "processor time of a transaction without mirroring"),
    asked("demand_hdd", "ms", 1e-6, 1e6, "the same where the data lies on disks"),
    asked("background", "cores", 1e-6, 1e4, "processor time that flows whether there are transactions or not"),
    asked("inside", "ms", 1e-6, 1e6, "what a transaction waits for storage"),
    asked("inside_hdd", "ms", 1e-6, 1e6, "the same where the data lies on disks"),
    asked(
        "disk_demand",
        "ms",
        1e-6,
        1e6,
        "what a transaction takes of all disks together, where the data lies on disks",
    ),
    asked("source_mirror", "ms", 1e-6, 1e6, "processor time that mirroring adds at the source"),
    asked("target_mirror", "ms", 1e-6, 1e6, "processor time of a transaction at the target"),
    asked("mirror_delay", "ms", 1e-6, 1e6, "round trips of a transaction's changes, and the target's log"),
    asked(
        "conflicts",
        "1",
        1e-6,
        10.0,
        "share by which a node's transactions take longer when the other changes data too",
    ),
    asked("counted_per_s", "1", 1e-6, 1e6, "how many of the table's units of throughput one transaction a second is"),
];

pub(super) const ANSWERS: &[Quantity] = &[
    Quantity { name: "throughput", unit: "1/s", shape: Shape::Rate },
    Quantity { name: "response", unit: "ms", shape: Shape::TimeOfPopulation },
    Quantity { name: "response-s", unit: "s", shape: Shape::TimeOfPopulation },
    Quantity { name: "source-cpu", unit: "%", shape: Shape::Rate },
    Quantity { name: "target-cpu", unit: "%", shape: Shape::Rate },
    Quantity { name: "second-response", unit: "ms", shape: Shape::TimeOfPopulation },
];

/// A population beyond this is taken for so many that arrivals do not notice their own absence.
const MANY: f64 = 4_096.0;
/// Rounds in which the nodes settle with each other; each halves what is left at least.
const ROUNDS: u32 = 60;

/// What one node is asked to do.
#[derive(Clone, Copy, Debug)]
struct Node {
    jobs: f64,
    cores: f64,
    /// Processor time of an own transaction, seconds.
    demand_s: f64,
    /// What an own transaction waits beside processors, seconds, when nobody else does.
    inside_s: f64,
    /// What it takes of the disks, seconds: the fuller they are, the longer it waits.
    disk_s: f64,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    rate_per_s: f64,
    response_s: f64,
}

pub(super) fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let hdd = row.text("media") == Some("hdd");
    let (first, second) = (node(values, row, hdd, 1)?, node(values, row, hdd, 2)?);
    let mirrored = second.cores > 0.0;
    let nodes = settle(values, [first, second], mirrored);
    let busy = |own: usize| {
        let node = [first, second][own];
        let asks = nodes[own].rate_per_s * node.demand_s + nodes[1 - own].rate_per_s * target_s(values, mirrored);
        100.0 * ((asks + values.of("background")) / node.cores).min(1.0)
    };
    let missing = |column: &str| Unanswered::Missing { column: column.to_owned() };
    match quantity {
        "throughput" => Ok((nodes[0].rate_per_s + nodes[1].rate_per_s) * values.of("counted_per_s")),
        "response" => Ok(1e3 * nodes[0].response_s),
        "response-s" => Ok(nodes[0].response_s),
        "source-cpu" => Ok(busy(0)),
        "target-cpu" if mirrored => Ok(busy(1)),
        "second-response" if second.jobs > 0.0 => Ok(1e3 * nodes[1].response_s),
        _ => Err(missing("target_cores")),
    }
}

/// A node as the row describes it; the second has no cores when there is none, and no jobs when it only mirrors.
fn node(values: &Values, row: &Row, hdd: bool, which: usize) -> Result<Node, Unanswered> {
    let (demand, inside) = if hdd { ("demand_hdd", "inside_hdd") } else { ("demand", "inside") };
    let sets = match which {
        1 => ["users", "job_sets", "node1_job_sets"].iter().find_map(|column| row.number(column)),
        _ => row.number("node2_job_sets").or(Some(0.0)),
    };
    let cores = match which {
        1 => row.number("source_cores").map_or_else(|| number(row, "node1_cores"), Ok)?,
        _ => row.number("target_cores").or_else(|| row.number("node2_cores")).unwrap_or(0.0),
    };
    let sets = sets.ok_or_else(|| Unanswered::Missing { column: "job_sets".to_owned() })?;
    let both = row.number("node2_job_sets").is_some_and(|jobs| jobs > 0.0);
    let mirrored = row.number("target_cores").or_else(|| row.number("node2_cores")).is_some();
    let mirror = if mirrored { 1.0 } else { 0.0 };
    let longer = if both { 1.0 + values.of("conflicts") } else { 1.0 };
    Ok(Node {
        jobs: sets * values.of("jobs_per_set"),
        cores,
        demand_s: longer * (values.of(demand) + mirror * values.of("source_mirror")) / 1e3,
        inside_s: longer * (values.of(inside) + mirror * values.of("mirror_delay")) / 1e3,
        disk_s: if hdd { values.of("disk_demand") / 1e3 } else { 0.0 },
    })
}

fn target_s(values: &Values, mirrored: bool) -> f64 {
    if mirrored { values.of("target_mirror") / 1e3 } else { 0.0 }
}

/// Rates and responses of both nodes, each of which also carries out what the other mirrors.
fn settle(values: &Values, nodes: [Node; 2], mirrored: bool) -> [Settled; 2] {
    let (think_s, target_s) = (values.of("think") / 1e3, target_s(values, mirrored));
    let mut settled = [Settled::default(); 2];
    for round in 0..ROUNDS {
        let before = settled;
        for own in 0..2 {
            let (node, other) = (nodes[own], nodes[1 - own]);
            // Cores that the other's changes and the background leave free.
            let taken = before[1 - own].rate_per_s * target_s + values.of("background");
            let free = (node.cores - taken).max(node.cores * 0.02);
            let foreign = before[own].rate_per_s * target_s + before[1 - own].rate_per_s * other.demand_s;
            let there_s = if mirrored { waiting::shared(foreign, other.cores) * target_s } else { 0.0 };
            let waits = 1.0 / (1.0 - (before[own].rate_per_s * node.disk_s).min(0.98));
            let found = alone(Node { cores: free, inside_s: node.inside_s * waits + there_s, ..node }, think_s);
            let blend = |old: f64, new: f64| if round == 0 { new } else { 0.5 * (old + new) };
            settled[own] = Settled {
                rate_per_s: blend(before[own].rate_per_s, found.rate_per_s),
                response_s: blend(before[own].response_s, found.response_s),
            };
        }
    }
    settled
}

/// One node by itself.
fn alone(node: Node, think_s: f64) -> Settled {
    if node.jobs <= 0.0 {
        return Settled::default();
    }
    let outside_s = think_s + node.inside_s;
    if node.jobs <= MANY {
        let rate = |n: u32| f64::from(n).min(node.cores) / node.demand_s;
        // A part of a job is that part of the difference between two populations.
        let (whole, part) = (libm::floor(node.jobs), node.jobs - libm::floor(node.jobs));
        let few = closed::one_station((whole as u32).max(1), outside_s, rate).rate_per_s;
        let more = closed::one_station(whole as u32 + 1, outside_s, rate).rate_per_s;
        let rate_per_s = if whole < 1.0 { part * more } else { few + part * (more - few) };
        return Settled { rate_per_s, response_s: node.jobs / rate_per_s - think_s };
    }
    let rate_per_s = waiting::balance(node.jobs, outside_s, node.demand_s, node.cores);
    Settled { rate_per_s, response_s: node.jobs / rate_per_s - think_s }
}
