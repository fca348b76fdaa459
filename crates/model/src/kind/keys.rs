//! Which keys of a study a kind of machine answers.
//!
//! The one idea: a key that moves nothing is no factor, and one that a machine's law has never heard of must stay at its
//! default: else two levels would be one answer twice, and nobody would be told.

use super::ModelKind;
use super::law::Carries;

/// What becomes of a key of a study on a kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It moves the answers, and can be varied.
    Answered,
    /// It may be set and moves nothing: it says how one goes about a measurement, or what a described machine has its own
    /// numbers for. Varied it would give one answer several times.
    Held,
    /// The machine is described with the key at its default, and refuses any other value.
    Default,
}

/// How work comes, and the window.
const LOAD: &[&str] = &["think", "think_times", "rate", "arrivals", "ramp", "warm_up", "measure"];
/// The same of transactions.
const OF_TRANSACTIONS: &[&str] = &["sessions", "users"];
/// The same of operations.
const OF_OPERATIONS: &[&str] = &["outstanding", "per", "slots", "operations", "transfer", "read", "modules"];
/// How one goes about a measurement, and what a machine at rest has no need of: the plan remarks on these states.
const METHOD: &[&str] = &[
    "interval",
    "round",
    "drain",
    "replicates",
    "replicates_max",
    "pacing",
    "threads",
    "workers",
    "pin",
    "cpus",
    "sqpoll",
    "driver",
    "poll",
    "check",
    "profile",
    "precondition",
    "trim",
    "refill",
    "cache",
    "state",
    "checkpoints",
    "settle",
    "fill",
];
/// Of a brokerage, and of how statements travel: a described server has one transaction, whose amounts the model file says.
const SCALE: &[&str] = &["preset", "customers", "days", "market", "maintenance", "protocol"];

impl ModelKind {
    /// What becomes of a key on machines of this kind.
    pub(crate) fn reach(self, key: &str) -> Reach {
        let law = self.law();
        let (answered, held): (&[&str], &[&str]) = match law.carries {
            Carries::Nothing => (&[], &[]),
            Carries::Transactions(_) => (OF_TRANSACTIONS, SCALE),
            Carries::Operations { .. } => (OF_OPERATIONS, &[]),
        };
        let among = |lists: &[&[&str]]| lists.iter().any(|list| list.contains(&key));
        // What can happen to a machine is looked at one by one.
        if key == "events" {
            return Reach::Answered;
        }
        if !law.keys.contains(&key) && among(&[METHOD, held, law.held]) {
            Reach::Held
        } else if among(&[law.unknown]) || !among(&[LOAD, answered, law.keys]) {
            Reach::Default
        } else {
            Reach::Answered
        }
    }
}
