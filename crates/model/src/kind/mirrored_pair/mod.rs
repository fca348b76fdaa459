//! A transaction server whose changes are mirrored synchronously to a second one, or each to the other.
//!
//! The one idea: mirroring costs processor time at the source for every transaction, processor time at the target, and a
//! delay in between; nothing else changes. So throughput follows from how many jobs go round and how long a round takes,
//! and more jobs make up for the delay as long as processors are free. A node of an active pair is source for its own
//! transactions and target for those of the other. A link and the jobs at the target bound the rate where they are said.

use super::law::{Carries, Inside, Law, Unbuilt};
use super::{Happens, Quantity, Unanswered, Values, number};
use crate::form::{closed, group_commit, waiting};
use crate::pair::{Mode, Pair as Machines, PairPlan};
use crate::rows::Row;
use crate::server::Amount;
use crate::station::FIBRE_NS_PER_KM;
use std::borrow::Cow;

super::asks! {
    asked "jobs_per_set" "jobs" 1e-3 1e6 "jobs that a job set, or a user, stands for";
    asked "think" "ms" 1e-6 1e9 "what a job does outside of the response, for each transaction";
    asked "demand" "ms" 1e-6 1e6 "processor time of a transaction without mirroring";
    asked "demand_hdd" "ms" 1e-6 1e6 "the same where the data lies on disks";
    asked "background" "cores" 1e-6 1e4 "processor time that flows whether there are transactions or not";
    asked "inside" "ms" 1e-6 1e6 "what a transaction waits for storage";
    asked "inside_hdd" "ms" 1e-6 1e6 "the same where the data lies on disks";
    asked "disk_demand" "ms" 1e-6 1e6 "what a transaction takes of all disks together, where the data lies on disks";
    asked "source_mirror" "ms" 1e-6 1e6 "processor time that mirroring adds at the source";
    asked "target_mirror" "ms" 1e-6 1e6 "processor time of a transaction at the target";
    asked "mirror_delay" "ms" 1e-6 1e6 "round trips of a transaction's changes, and the target's log";
    asked "trips" "round trips" 1e-2 1e6 "round trips that a transaction waits for, one after the other";
    asked "pools" "1" 1e-3 1e3
        "factor on what a transaction waits for storage where a row states its memory or its pools";
    asked "conflicts" "1" 1e-6 10.0 "share by which a node's transactions take longer when the other changes data too";
    asked "counted_per_s" "1" 1e-6 1e6 "how many of the table's units of throughput one transaction a second is";
    asked "source_cores" "cores" 0.0 1e5 "cores of the first node, for questions that state none" or 0.0;
    asked "target_cores" "cores" 0.0 1e5 "cores of the second; 0 is as many as the first has" or 0.0;
    chosen "mirroring" 2.0 "0: none, 1: active-passive, 2: active-active, for questions that state no cores" or 1.0;
    chosen "suspended" 1.0 "1: the nodes are apart, and changes are only noted" or 0.0;
    chosen "on_disks" 1.0 "1: the data lies on disks" or 0.0;
    asked "tracking" "ms" 0.0 1e6 "processor time that noting the changes of a transaction takes" or 0.0;
    asked "distance" "km" 0.0 1e6 "between the nodes, for questions that state no cores" or 0.0;
    asked "target_log" "ms" 0.0 1e6
        "a write of the target's log, for which the last round trip waits; 0: it is a part of `mirror_delay`" or 0.0;
    asked "link_speed" "Gbit/s" 0.0 1e5 "what the link carries each way; 0: it is a part of `mirror_delay`" or 0.0;
    asked "link_share" "%" 0.1 100.0 "share of the link that is left to the pair beside other traffic" or 100.0;
    maybe "trip_bytes" "bytes" 1e9 "bytes that a round trip brings to the other node";
    maybe "target_workers" "jobs" 1e6
        "jobs of a node that carry out changes of the other, each held until these are in the log; 0 is as many as come";
}

const ANSWERS: &[Quantity] = &[
    Quantity::rate("throughput", "1/s"),
    Quantity::response("response", "ms"),
    Quantity::response("response-s", "s"),
    Quantity::share("source-cpu"),
    Quantity::share("target-cpu"),
    Quantity::response("second-response", "ms"),
];

pub(super) const LAW: Law = Law {
    inside: Some(Inside { counted: Some("counted_per_s"), ..Inside::SESSIONS }),
    carries: Carries::Transactions(|name, values, setting| {
        let plan = PairPlan::described(values).ok_or(Unbuilt::Cores(name))?;
        let plan = PairPlan { patience: setting.patience, km: plan.km + setting.km, ..plan };
        Ok(Box::new(Machines::of_classes(plan, setting.classes.clone(), setting.slots, setting.seed)))
    }),
    amounts: &[
        (Amount::Cpu, "demand"),
        (Amount::SourceMirror, "source_mirror"),
        (Amount::TargetMirror, "target_mirror"),
    ],
    keys: &["distance", "fault", "at", "resume", "patience"],
    fits,
    happens,
    ..Law::closed(ASKS, ANSWERS, answer)
};

/// What is said of a link moves something.
fn fits(values: &Values) -> Result<(), (&'static str, String)> {
    let (speed, share, bytes) = (values.of("link_speed"), values.of("link_share"), values.of("trip_bytes"));
    if share < 100.0 && speed <= 0.0 {
        return Err(("link_share", format!("100 as long as `link_speed` is 0, since that has no end, got {share}")));
    }
    if speed > 0.0 && bytes < 1.0 {
        return Err((
            "trip_bytes",
            format!("at least 1 beside a `link_speed`, since only bytes take time, got {bytes}"),
        ));
    }
    Ok(())
}

/// A mirror goes away and comes back.
fn happens(values: &Values, _: u32) -> Happens {
    let words = Machines::MISHAPS.iter().map(|mishap| (mishap.word().to_owned(), 1));
    if values.of("mirroring") > 0.5 { words.collect() } else { Happens::new() }
}

/// A population beyond this is taken for so many that arrivals do not notice their own absence.
const MANY: f64 = 4_096.0;
/// Rounds in which the nodes settle with each other; each halves what is left at least.
const ROUNDS: u32 = 60;

/// Share of its cores up to which a target carries changes out.
const FULL: f64 = 0.98;

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
    /// What its changes take of the link, seconds.
    link_s: f64,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    rate_per_s: f64,
    response_s: f64,
    /// A round of a job outside of the link, and outside of the target, with what it thinks.
    beside_s: [f64; 2],
    /// What an own transaction waits for a free link.
    link_wait_s: f64,
}

/// What serves so many at once, and holds each for so many seconds a transaction.
#[derive(Clone, Copy, Debug)]
struct Limit {
    servers: f64,
    held_s: f64,
    /// How long each is held when all are taken.
    full_s: f64,
    /// Whether each is held as long as the other.
    alike: bool,
}

impl Limit {
    /// What a transaction of so many jobs waits for it, seconds, when a round beside it takes that long. Where all are held alike
    /// the wait is half of what chance makes it as long as few come (Pollaczek, Khinchine), and all of it where nobody is idle.
    fn wait_s(self, jobs: f64, beside_s: f64) -> f64 {
        if jobs <= self.servers || self.held_s <= 0.0 {
            return 0.0;
        }
        let rate = |n: u32| f64::from(n).min(self.servers) / self.held_s;
        let found = closed::between(jobs, |n| closed::one_station(n, beside_s.max(1e-9), rate));
        let full = libm::pow(found.rate_per_s / self.most_per_s(), 8.0);
        let part = if self.alike { 0.5 + 0.5 * full } else { 1.0 };
        part * (found.response_s() - self.held_s).max(0.0)
    }

    fn most_per_s(self) -> f64 {
        self.servers / self.full_s
    }
}

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let row = &completed(values, row);
    let jobs = jobs(values, row)?;
    let pair = Pair::of(&asked(values, row)?, jobs);
    let missing = |column: &str| Err(Unanswered::Missing(column.to_owned()));
    match quantity {
        "target-cpu" if pair.nodes[1].cores <= 0.0 => return missing("target_cores"),
        "second-response" if pair.nodes[1].jobs <= 0.0 => return missing("node2_job_sets"),
        _ => {}
    }
    let settled = pair.settle();
    Ok(match quantity {
        "throughput" => (settled[0].rate_per_s + settled[1].rate_per_s) * values.of("counted_per_s"),
        "response" => 1e3 * settled[0].response_s,
        "response-s" => settled[0].response_s,
        "source-cpu" => pair.busy_pct(&settled, 0),
        "target-cpu" => pair.busy_pct(&settled, 1),
        _ => 1e3 * settled[1].response_s,
    })
}

/// A question that states no cores is one about the pair as its file describes it; a session is a job.
fn completed<'a>(values: &Values, row: &'a Row) -> Cow<'a, Row> {
    let stated = ["source_cores", "node1_cores"].iter().any(|column| row.number(column).is_some());
    let source = values.of("source_cores");
    if stated || source <= 0.0 {
        return Cow::Borrowed(row);
    }
    let mut row = row.clone();
    let mut set = |column: &str, text: String| {
        row.cells.entry(column.to_owned()).or_insert(text);
    };
    let (active, alone) = (values.of("mirroring") > 1.5, values.of("mirroring") < 0.5 || values.of("suspended") > 0.5);
    set("node1_cores", source.to_string());
    if !alone {
        let target = values.of("target_cores");
        set("node2_cores", if target > 0.0 { target } else { source }.to_string());
    }
    let mode = if active { "active-active" } else { "active-passive" };
    set("mirroring", if alone { "none" } else { mode }.to_owned());
    set("media", if values.of("on_disks") > 0.5 { "hdd" } else { "flash" }.to_owned());
    // What a study puts between them comes on top of what the file does.
    let km = values.of("distance") + row.number("distance_km").unwrap_or(0.0);
    row.cells.insert("distance_km".to_owned(), km.to_string());
    let sessions = row.number("threads").filter(|threads| *threads > 0.0);
    if let Some(sessions) = sessions {
        let nodes = if active { 2.0 } else { 1.0 };
        let sets = sessions / nodes / values.of("jobs_per_set");
        row.cells.entry("node1_job_sets".to_owned()).or_insert(sets.to_string());
    }
    Cow::Owned(row)
}

/// Whether the pair mirrors.
fn mirrored(row: &Row) -> Result<bool, Unanswered> {
    let Some(text) = row.text("mirroring") else {
        return Ok(row.number("target_cores").or_else(|| row.number("node2_cores")).is_some());
    };
    match text {
        "none" => Ok(false),
        "active-passive" | "active-active" => Ok(true),
        _ => Err(Unanswered::unknown("mirroring", text, "`none`, `active-passive` or `active-active`")),
    }
}

/// The pair as the row describes it, from which a simulation could be built as well. The second node has no cores when there is
/// none.
fn asked(values: &Values, row: &Row) -> Result<PairPlan, Unanswered> {
    let mirrored = mirrored(row)?;
    let mode = match mirrored {
        false => Mode::Alone,
        true if sets(row, mirrored, 2)? > 0.0 => Mode::Active,
        true => Mode::Passive,
    };
    let plan = PairPlan::of(values, mode, [cores(row, mirrored, 1)?, cores(row, mirrored, 2)?]);
    let hdd = row.text("media").is_some_and(|media| media.to_lowercase().contains("hdd"));
    let mut plan = if hdd { plan.on_disks(values) } else { plan };
    if row.text("memory_gb_per_node").is_some() || row.text("memory_pools").is_some() {
        // Published rows do not tell whether disks are asked for less: what they are asked for stays.
        plan.inside_us *= values.of("pools");
        plan.disks *= values.of("pools");
    }
    if !mirrored && values.of("suspended") > 0.5 && values.of("mirroring") > 0.5 {
        plan.resync.tracking_us = 1e3 * values.of("tracking");
    }
    Ok(PairPlan { km: row.number("distance_km").unwrap_or(0.0).max(0.0), ..plan })
}

/// Jobs of both nodes; the second has none when it only mirrors.
fn jobs(values: &Values, row: &Row) -> Result<[f64; 2], Unanswered> {
    let mirrored = mirrored(row)?;
    let each = values.of("jobs_per_set");
    Ok([each * sets(row, mirrored, 1)?, each * sets(row, mirrored, 2)?])
}

/// Job sets, or users, of a node. The second of an active pair has as many as the first when the row does not say.
fn sets(row: &Row, mirrored: bool, which: usize) -> Result<f64, Unanswered> {
    let first = || ["users", "job_sets", "node1_job_sets"].iter().find_map(|column| row.number(column));
    let alike = mirrored && row.text("mirroring") == Some("active-active");
    let found = match which {
        1 => first(),
        _ if alike => row.number("node2_job_sets").or_else(first),
        _ => row.number("node2_job_sets").or(Some(0.0)),
    };
    let column = if row.number("node1_cores").is_some() { "node1_job_sets" } else { "job_sets" };
    let enough = found.filter(|sets| which == 2 || *sets > 0.0);
    enough.ok_or_else(|| Unanswered::Missing(column.to_owned()))
}

/// Cores of a node. A target of which the row says nothing is taken for a machine like the source; one without cores cannot
/// mirror.
fn cores(row: &Row, mirrored: bool, which: usize) -> Result<f64, Unanswered> {
    let first =
        || if row.number("source_cores").is_some() { number(row, "source_cores") } else { number(row, "node1_cores") };
    if which == 1 {
        return first();
    }
    match row.number("target_cores").or_else(|| row.number("node2_cores")) {
        None if mirrored => first(),
        None => Ok(0.0),
        Some(cores) if mirrored && cores <= 0.0 => Err(Unanswered::Missing("target_cores".to_owned())),
        Some(cores) => Ok(cores),
    }
}

/// Two nodes, each of which also carries out what the other mirrors.
struct Pair {
    nodes: [Node; 2],
    think_s: f64,
    /// Processor time at the target for a transaction; nothing when the pair does not mirror.
    target_s: f64,
    background: f64,
    /// A write of the target's log, seconds; nothing where it is a part of the delay.
    log_s: f64,
    /// Jobs at the target.
    workers: f64,
}

impl Pair {
    fn of(plan: &PairPlan, jobs: [f64; 2]) -> Pair {
        let mirrored = |us: f64| if plan.mode == Mode::Alone { 0.0 } else { us / 1e6 };
        let longer = if plan.mode == Mode::Active { 1.0 + plan.conflicts } else { 1.0 };
        let way_us = 2.0 * plan.km * FIBRE_NS_PER_KM / 1e3;
        let demand_s = (plan.demand_us + plan.resync.tracking_us) / 1e6 + mirrored(plan.source_us);
        let inside_s = plan.inside_us / 1e6 + mirrored(plan.delay_us + way_us * plan.trips);
        let node = |which: usize| Node {
            jobs: jobs[which],
            cores: plan.cores[which],
            demand_s: longer * demand_s,
            inside_s: longer * inside_s,
            disk_s: if plan.disks > 0.0 { plan.inside_us / plan.disks / 1e6 } else { 0.0 },
            link_s: longer * mirrored(1e6 * plan.trips * plan.trip_bytes[0] as f64 / plan.link_bytes_per_s),
        };
        Pair {
            nodes: [node(0), node(1)],
            think_s: plan.think_us / 1e6,
            target_s: mirrored(plan.target_us),
            background: plan.background,
            log_s: mirrored(plan.log.map_or(0.0, |log| log.write_us)),
            workers: if plan.workers > 0 { f64::from(plan.workers) } else { f64::INFINITY },
        }
    }

    /// Rates and responses of both nodes.
    fn settle(&self) -> [Settled; 2] {
        let mut settled = [Settled::default(); 2];
        for round in 0..ROUNDS {
            let before = settled;
            for own in 0..2 {
                let found = self.one(&before, own);
                let blend = |old: f64, new: f64| if round == 0 { new } else { 0.5 * (old + new) };
                let (old, [link, target]) = (before[own], found.beside_s);
                settled[own] = Settled {
                    rate_per_s: blend(old.rate_per_s, found.rate_per_s),
                    response_s: blend(old.response_s, found.response_s),
                    beside_s: [blend(old.beside_s[0], link), blend(old.beside_s[1], target)],
                    link_wait_s: blend(old.link_wait_s, found.link_wait_s),
                };
            }
            let still = |own: usize| (settled[own].rate_per_s / before[own].rate_per_s.max(1e-300) - 1.0).abs() < 1e-13;
            if (0..2).all(|own| self.nodes[own].jobs <= 0.0 || still(own)) {
                break;
            }
        }
        settled
    }

    /// One node, as things stood the round before.
    fn one(&self, before: &[Settled; 2], own: usize) -> Settled {
        let (node, was, other) = (self.nodes[own], before[own], before[1 - own]);
        // Cores that the other's changes and the background leave free.
        let taken = other.rate_per_s * self.target_s + self.background;
        let free = (node.cores - taken).max(node.cores * 0.02);
        let limits = self.limits(before, own);
        let waits_s = [0, 1].map(|at| limits[at].wait_s(node.jobs, was.beside_s[at].max(self.think_s)));
        let there_s = [0, 1].map(|at| limits[at].held_s + waits_s[at]);
        let disks = 1.0 / (1.0 - (was.rate_per_s * node.disk_s).min(0.98));
        // Answers wait where the other's changes leave.
        let inside_s = node.inside_s * disks + there_s[0] + there_s[1] + other.link_wait_s;
        let found = alone(Node { cores: free, inside_s, ..node }, self.think_s);
        let round_s = found.response_s + self.think_s;
        let found = Settled { beside_s: there_s.map(|s| round_s - s), link_wait_s: waits_s[0], ..found };
        let most = self.carried(1 - own).min(limits[0].most_per_s()).min(limits[1].most_per_s());
        if found.rate_per_s <= most {
            return found;
        }
        Settled { rate_per_s: most, response_s: node.jobs / most - self.think_s, ..found }
    }

    /// The link from a node, and the jobs at the other.
    fn limits(&self, before: &[Settled; 2], own: usize) -> [Limit; 2] {
        let (target, rate_per_s) = (self.nodes[1 - own], before[own].rate_per_s);
        let busy = rate_per_s * self.target_s + before[1 - own].rate_per_s * target.demand_s;
        let work_s = if self.target_s > 0.0 { self.slower(busy, target) * self.target_s } else { 0.0 };
        let log_s = if self.log_s > 0.0 { group_commit::wait_s(rate_per_s, self.log_s) } else { 0.0 };
        // With all jobs taken a change gets one when a write ends: it waits for the write that begins then, and for the next.
        let full_s = work_s.max(0.5 * self.log_s) + 1.5 * self.log_s;
        let link_s = self.nodes[own].link_s;
        [
            Limit { servers: 1.0, held_s: link_s, full_s: link_s, alike: true },
            Limit { servers: self.workers, held_s: work_s + log_s, full_s, alike: false },
        ]
    }

    /// What a target's cores carry out a second. Its own transactions make way, so that all of them are the limit.
    fn carried(&self, target: usize) -> f64 {
        let cores = self.nodes[target].cores;
        if self.target_s <= 0.0 {
            return f64::INFINITY;
        }
        FULL * (cores - self.background).max(0.02 * cores) / self.target_s
    }

    /// By how much work takes longer at a target: by no more than the jobs there share, where it does nothing else.
    fn slower(&self, busy: f64, target: Node) -> f64 {
        let most = if target.jobs > 0.0 { f64::INFINITY } else { (self.workers / target.cores).max(1.0) };
        waiting::shared(busy, target.cores).min(most)
    }

    fn busy_pct(&self, settled: &[Settled; 2], own: usize) -> f64 {
        let node = self.nodes[own];
        let asks = settled[own].rate_per_s * node.demand_s + settled[1 - own].rate_per_s * self.target_s;
        100.0 * ((asks + self.background) / node.cores).min(1.0)
    }
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
        return Settled { rate_per_s, response_s: node.jobs / rate_per_s - think_s, ..Settled::default() };
    }
    let rate_per_s = waiting::balance(node.jobs, outside_s, node.demand_s, node.cores);
    Settled { rate_per_s, response_s: node.jobs / rate_per_s - think_s, ..Settled::default() }
}

#[cfg(test)]
mod tests;
