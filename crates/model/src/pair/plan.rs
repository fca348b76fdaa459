//! What a mirrored pair is built from.

use crate::asked::Values;
use crate::server::Log;
use units::Nanos;

/// Who changes data, and whether it is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One node alone.
    Alone,
    /// The first node's transactions are mirrored to the second.
    Passive,
    /// Transactions of both nodes are mirrored to the other; slots alternate between them.
    Active,
}

/// How rows that changed meanwhile reach the mirror.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resync {
    /// Rows among which changes choose; 0 when no row changes twice.
    pub rows: u32,
    /// Rows that a transaction changes.
    pub changes: f64,
    /// Rows that are sent a second at most.
    pub sends_per_s: f64,
    /// Rows on their way at once.
    pub jobs: u32,
    /// Bytes of a row on the link.
    pub row_bytes: u64,
    /// Processor time of a row at the target, microseconds.
    pub target_us: f64,
    /// Processor time that noting the changes of a transaction takes at the source, microseconds.
    pub tracking_us: f64,
}

/// A pair with its transactions, all times means in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PairPlan {
    /// Who changes data.
    pub mode: Mode,
    /// Cores of the nodes.
    pub cores: [f64; 2],
    /// Cores that are busy whether there are transactions or not.
    pub background: f64,
    /// What a job does outside of the response.
    pub think_us: f64,
    /// Processor time of a transaction without mirroring.
    pub demand_us: f64,
    /// What it waits for storage when nobody else does.
    pub inside_us: f64,
    /// Disks over which these waits are spread; as a part of one too. With 0 nobody waits for another.
    pub disks: f64,
    /// Processor time that mirroring adds at the source.
    pub source_us: f64,
    /// Processor time of a transaction's changes at the target.
    pub target_us: f64,
    /// What its round trips take beside processors, link, log and distance.
    pub delay_us: f64,
    /// Round trips, one after the other.
    pub trips: f64,
    /// How often on the mean a piece of work meets a lock of the other node and is done again, when both change data.
    pub conflicts: f64,
    /// Kilometres of fibre between the nodes.
    pub km: f64,
    /// Bytes a second of the link, each way.
    pub link_bytes_per_s: f64,
    /// Bytes of a round trip, out and back.
    pub trip_bytes: [u64; 2],
    /// The log of each node as a target, for which the last round trip waits; none when it is part of the delay.
    pub log: Option<Log>,
    /// Jobs of each node that carry out changes of the other, each held until what it did is in the log; 0 is as many as come.
    pub workers: u32,
    /// Whether the nodes are apart from the beginning.
    pub apart: bool,
    /// How long a node waits for a mirror that confirms nothing.
    pub patience: Nanos,
    /// What becomes of changes while the nodes are apart.
    pub resync: Resync,
}

impl PairPlan {
    /// The pair of a `mirrored-pair` model with so many cores, together and next to each other. Where the model says no link
    /// and no log, its delay holds them; a changed row has two of its round trips and its part of the target's work.
    pub fn of(values: &Values, mode: Mode, cores: [f64; 2]) -> PairPlan {
        let us = |name: &str| 1e3 * values.of(name);
        let changes = 0.5 * values.of("trips");
        let trip_bytes = values.of("trip_bytes") as u64;
        let share = 1e-2 * values.of("link_share");
        let said = |name: &str| Some(values.of(name)).filter(|value| *value > 0.0);
        let resync = Resync {
            rows: 0,
            changes,
            sends_per_s: f64::INFINITY,
            jobs: 16,
            row_bytes: 2 * trip_bytes,
            target_us: us("target_mirror") / changes,
            tracking_us: 0.0,
        };
        PairPlan {
            mode,
            cores,
            background: values.of("background"),
            think_us: us("think"),
            demand_us: us("demand"),
            inside_us: us("inside"),
            disks: 0.0,
            source_us: us("source_mirror"),
            target_us: us("target_mirror"),
            delay_us: us("mirror_delay"),
            trips: values.of("trips"),
            conflicts: values.of("conflicts"),
            km: 0.0,
            link_bytes_per_s: said("link_speed").map_or(f64::INFINITY, |gigabits| share * gigabits * 1e9 / 8.0),
            trip_bytes: [trip_bytes, 0],
            log: said("target_log").map(|ms| Log { write_us: 1e3 * ms, bytes_per_s: f64::INFINITY }),
            workers: values.of("target_workers") as u32,
            apart: false,
            patience: Nanos::ZERO,
            resync,
        }
    }

    /// The pair that the file itself describes, with its cores, state and distance; none when it says no cores.
    pub fn described(values: &Values) -> Option<PairPlan> {
        let source = Some(values.of("source_cores")).filter(|cores| *cores > 0.0)?;
        let target = Some(values.of("target_cores")).filter(|cores| *cores > 0.0).unwrap_or(source);
        let mode = match values.of("mirroring") {
            0.0 => Mode::Alone,
            1.0 => Mode::Passive,
            _ => Mode::Active,
        };
        let plan = PairPlan::of(values, mode, [source, target]);
        let plan = if values.of("on_disks") > 0.5 { plan.on_disks(values) } else { plan };
        let resync = Resync { tracking_us: 1e3 * values.of("tracking"), ..plan.resync };
        Some(PairPlan { km: values.of("distance"), apart: values.of("suspended") > 0.5, resync, ..plan })
    }

    /// The same with its data on disks.
    #[must_use]
    pub fn on_disks(self, values: &Values) -> PairPlan {
        let us = |name: &str| 1e3 * values.of(name);
        let (demand_us, inside_us) = (us("demand_hdd"), us("inside_hdd"));
        PairPlan { demand_us, inside_us, disks: inside_us / us("disk_demand"), ..self }
    }
}
