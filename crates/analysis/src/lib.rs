//! From observations to findings: estimates with their intervals, and the caveats that belong beside them.
//!
//! The one idea: a number leaves this room only as an [`Estimate`] or beside a [`Caveat`]. Everything is a pure function
//! of observations and of what the study wants to know; measured and simulated trials take the same road.
//!
//! What it does not do: it formats nothing, stores nothing, and never edits an observation.

mod caveat;
mod compare;
mod curve;
mod finding;
mod generator;
mod memory;
mod point;
mod quantile;
mod run;
mod statistics;
mod transactions;
mod trial;

pub use caveat::{Caveat, CaveatKind, Weight};
pub use compare::{BetweenRuns, compare_runs};
pub use finding::{
    AddedPart, AddedTime, Beside, Bound, BoundBy, Burst, CANNOT_TELL, ClassSummary, Comparison, Compensation,
    CoreCompensation, CpuPerOperation, DamageFinding, DeadlineFinding, DiskSummary, Estimate, FallClaim, Felt,
    FeltUntil, Finding, Findings, FootprintAmount, FootprintFinding, HighestRate, InTime, Jobs, Knee, LatencySummary,
    LimitSummary, MachineSummary, MirrorFinding, OLDER, OutageFinding, PairCourse, PairFinding, PairPhase, PartOf,
    PointSummary, QuantileEstimate, ResponseEstimates, RoundsTrace, Same, Scaling, ScalingKind, ServiceFit,
    ServiceForm, SessionLimit, Spreading, Stall, Steady, SteadyAnswer, StreamSummary, Sustained, SustainedFinding,
    TOO_FEW, Tail, ThresholdOutcome, ThresholdState, TierFinding, TierStep, TimePoint, TrialSummary, Tuning, Typical,
    Verdict, Work, YieldSummary,
};
pub use generator::{ClockSummary, GeneratorSummary, LooksSummary, RingsSummary};
pub use memory::{Checkpoints, Fits, Held, WorkingSet};
pub use run::judge;
pub use transactions::{
    ClassMix, CpuBasis, InSessions, MirrorWaits, PerTransaction, ServerSummary, StatementProfile, StatementsProfile,
};
pub use trial::{MIX_TOLERANCE, bound, outcome, summarise_from, summarise_interrupted};
