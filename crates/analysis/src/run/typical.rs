//! What numbers like these are typical of: a disk, an SSD, a volume of a cloud.
//!
//! The one idea: somebody who has never measured does not know whether 80 k IOPS are many. Three numbers that data sheets and users
//! of such devices quote are set beside theirs; `docs/concepts/typical.md` has the sources.

use crate::{PointSummary, TrialSummary, Typical};
use observation::{Provenance, SystemFacts};
use study::StorageAsked;
use units::{milliseconds, per_second};

const SATA_OR_OLDER: &str = "a SATA SSD or an older NVMe SSD";
const SATA: &str = "a SATA SSD";
const NVME: &str = "an NVMe SSD";

/// What a SATA cable carries at most: 6 Gbit/s in 10 bits a byte.
const SATA_BYTES_PER_S: f64 = 600e6;

/// Up to which latency a random read at queue depth 1 is like that of what device, ms.
const READS: [(f64, &str); 5] = [
    (0.012, "memory, so look whether a cache answers"),
    (0.06, "a fast NVMe SSD"),
    (0.25, SATA_OR_OLDER),
    (3.0, "an SSD volume over a network, as clouds sell"),
    (f64::INFINITY, "a hard disk"),
];

/// Up to which rate the most random reads are like those of what device.
const RATES: [(f64, &str); 5] = [
    (800.0, "a hard disk"),
    (20e3, "a general-purpose cloud volume"),
    (110e3, SATA),
    (2e6, NVME),
    (f64::INFINITY, "several NVMe SSDs, or memory"),
];

/// Up to which latency a durable write is like that of what device, ms.
const DURABLE: [(f64, &str); 4] = [
    (0.1, "an SSD that keeps its cache through a power loss, if the write really was durable"),
    (0.4, "a data-centre SSD"),
    (6.0, "a desktop SSD or a cloud volume"),
    (f64::INFINITY, "a hard disk"),
];

fn like(of: f64, table: &[(f64, &'static str)]) -> &'static str {
    table.iter().find(|(most, _)| of <= *most).map_or("", |(_, device)| device)
}

impl Typical {
    /// `a random read at queue depth 1 takes 36.4 us, as on a fast NVMe SSD; ..`.
    pub fn says(&self) -> String {
        // One device is one kind: where any number is more than a SATA SSD can give, none is told as that of one.
        let no_sata = self.bytes_per_s.is_some_and(|most| most > SATA_BYTES_PER_S)
            || self.most_per_s.is_some_and(|most| like(most, &RATES) == NVME);
        let kind = |device: &'static str| match device {
            SATA_OR_OLDER if no_sata => "an older NVMe SSD, or one behind a hypervisor",
            SATA if no_sata => NVME,
            device => device,
        };
        let read = self.read_ms.map(|ms| {
            format!("a random read at queue depth 1 takes {}, as on {}", milliseconds(ms), kind(like(ms, &READS)))
        });
        let most = self.most_per_s.map(|rate| {
            format!("the highest rate, {} IOPS, is that of {}", per_second(rate), kind(like(rate, &RATES)))
        });
        let durable = self
            .durable_ms
            .map(|ms| format!("a durable write takes {}, as on {}", milliseconds(ms), like(ms, &DURABLE)));
        [read, most, durable].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// What the numbers of the one system are typical of whose storage was measured; none where several were, whose numbers stand beside
/// each other, where it is an emulated device, which is what its model says, and where none of the three was measured.
pub fn typical(
    points: &[PointSummary],
    trials: &[TrialSummary],
    asked: &[StorageAsked],
    known: &[SystemFacts],
) -> Option<Typical> {
    let measured = |point: &&PointSummary| point.provenance == Provenance::Measured && point.elapsed_s.is_none();
    let of = |is: fn(&StorageAsked) -> bool| {
        let named = |point: &&PointSummary| asked.iter().any(|one| is(one) && one.stream == point.at.stream);
        points.iter().filter(measured).filter(named).collect::<Vec<_>>()
    };
    let (reads, commits) = (of(StorageAsked::is_of_data_sheets), of(StorageAsked::is_of_commits));
    let mut systems = reads.iter().chain(&commits).map(|point| &point.at.system);
    let first = systems.next()?;
    let emulated = |system: &SystemFacts| system.name == *first && system.emulated().next().is_some();
    if systems.any(|system| system != first) || known.iter().any(emulated) {
        return None;
    }
    let alone = |point: &&&PointSummary| slots(point, trials) == Some(1);
    let median = |point: &&PointSummary| point.response_p50_ms.value;
    let most = reads.iter().map(|point| point.throughput_per_s.value).max_by(f64::total_cmp);
    let found = Typical {
        read_ms: reads.iter().filter(alone).map(median).min_by(f64::total_cmp),
        // One outstanding operation at a time is not the most of anything.
        most_per_s: most.filter(|_| reads.iter().any(|point| slots(point, trials).is_some_and(|slots| slots >= 8))),
        durable_ms: commits.iter().filter(alone).map(median).min_by(f64::total_cmp),
        bytes_per_s: None,
    };
    let bytes = points.iter().filter(measured).map(|point| point.bytes_per_s.value).max_by(f64::total_cmp);
    (found != Typical::default()).then_some(Typical { bytes_per_s: bytes, ..found })
}

fn slots(point: &PointSummary, trials: &[TrialSummary]) -> Option<u32> {
    let trial = trials.iter().find(|trial| point.trials.contains(&trial.label.index))?;
    trial.label.streams.iter().find(|stream| stream.name == point.at.stream)?.slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_set_beside_what_is_known_to_give_such() {
        let found =
            Typical { read_ms: Some(0.0364), most_per_s: Some(80_700.0), durable_ms: Some(2.38), ..Typical::default() };
        assert_eq!(
            found.says(),
            "a random read at queue depth 1 takes 36.4 us, as on a fast NVMe SSD; the highest rate, 80.7 k IOPS, is that of a SATA \
             SSD; a durable write takes 2.38 ms, as on a desktop SSD or a cloud volume"
        );
        let disk = Typical { read_ms: Some(8.0), most_per_s: Some(180.0), ..Typical::default() };
        assert!(
            disk.says().ends_with("as on a hard disk; the highest rate, 180 IOPS, is that of a hard disk"),
            "{}",
            disk.says()
        );
        let fast = Typical { read_ms: Some(0.0653), most_per_s: Some(61e3), bytes_per_s: Some(2.5e9), ..found };
        let told = fast.says();
        assert!(!told.contains("SATA") && told.contains("61 k IOPS, is that of an NVMe SSD"), "{told}");
    }
}
