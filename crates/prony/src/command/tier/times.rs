//! The times of both tiers: from models, or as they were measured.
//!
//! The one idea: a read among so many others takes at least its share of the device's rate (Little's law), so that a single time
//! and a rate give the time at the depth that was observed. A scan comes in pieces that are read ahead; where others read meanwhile, the
//! next piece waits for its turn, and finds the arm elsewhere.

use super::time;
use crate::args::TierTimes;
use crate::failure::Failure;
use crate::model_file;
use advisor::{Tiers, Times};
use model::file::Description;
use model::rows::Row;

/// Blocks of the reads that a scan is made of where the kernel reads ahead: 128 KiB.
pub(super) const SCAN: f64 = 16.0;

/// Both tiers, and in words where their times come from.
pub(super) struct Known {
    pub(super) tiers: Tiers,
    pub(super) from: [String; 2],
    /// Reads at once on the slow tier.
    pub(super) depth: f64,
}

/// The times of both tiers with so many reads at once.
pub(super) fn known(asked: &TierTimes, depth: f64) -> Result<Known, Failure> {
    known_in_pieces(asked, depth, SCAN)
}

/// The same where a scan is made of reads of so many blocks.
pub(super) fn known_in_pieces(asked: &TierTimes, depth: f64, piece: f64) -> Result<Known, Failure> {
    let depth = depth.max(1.0);
    let one = |word: &str, read: (&str, &Option<String>), flush: (&str, &Option<String>)| {
        let given = |(option, text): (&str, &Option<String>)| text.as_ref().map(|text| time(option, text)).transpose();
        let (given_read, given_flush) = (given(read)?, given(flush)?);
        let found = model_file::find(word)?;
        let times = of_model(&found.model, depth, piece).ok_or_else(|| {
            Failure::new(format!("asking the model `{word}` for the time of a read: a model of storage is needed"))
                .hint(format!(
                    "models that say it: {}",
                    model_file::shipped_that(|model| of_model(model, 1.0, SCAN).is_some())
                ))
        })?;
        let (read_s, flush_s) = (given_read.map(|time| time.as_secs_f64()), given_flush.map(|time| time.as_secs_f64()));
        let from = match (read_s, flush_s) {
            (None, None) => format!("model {word}"),
            (Some(_), Some(_)) => format!("given, scans by model {word}"),
            _ => format!("given in part, else model {word}"),
        };
        let read_s = read_s.unwrap_or(times.read_s);
        // No scan is slower than reads at random.
        let in_order_s = times.in_order_s.min(read_s);
        let copied_s = given_read.map_or(times.copied_s, |read| times.copied_s.min(read.as_secs_f64()));
        Ok((Times { read_s, in_order_s, flush_s: flush_s.unwrap_or(times.flush_s), copied_s }, from))
    };
    let slow = one(&asked.slow_device, ("--slow-read", &asked.slow_read), ("--slow-flush", &asked.slow_flush))?;
    let fast = one(&asked.fast_device, ("--fast-read", &asked.fast_read), ("--fast-flush", &asked.fast_flush))?;
    Ok(Known { tiers: Tiers { slow: slow.0, fast: fast.0 }, from: [slow.1, fast.1], depth })
}

fn of_model(model: &Description, depth: f64, piece: f64) -> Option<Times> {
    let (read_s, in_order_s) = reads_s(model, depth, piece)?;
    let (_, copied_s) = reads_s(model, depth + 1.0, piece)?;
    Some(Times { read_s, in_order_s, flush_s: single_s(model, "random-write", 8.0, depth)?, copied_s })
}

/// A read at random, and one in order, with so many at once.
fn reads_s(model: &Description, depth: f64, piece: f64) -> Option<(f64, f64)> {
    let read_s = single_s(model, "random-read", 8.0, depth)?;
    let most = model.answer(&row("random-read", 8.0), "rate").ok();
    let read_s = most.map_or(read_s, |rate| read_s.max(depth / rate));
    // Of so many at once, all but one belong to others.
    let waits_s = (1.0 - 1.0 / depth) * read_s / piece;
    let scan_s = single_s(model, "sequential-read", 8.0 * SCAN, depth)? / SCAN;
    Some((read_s, (scan_s + waits_s).min(read_s)))
}

/// One operation; a device that is known by its queue answers how long one among so many takes.
fn single_s(model: &Description, op: &str, kb: f64, depth: f64) -> Option<f64> {
    let alone = model.answer(&row(op, kb), "service-time");
    let queued = |mut row: Row| {
        row.cells.insert("outstanding".to_owned(), depth.round().to_string());
        model.answer(&row, "response")
    };
    Some(alone.or_else(|_| queued(row(op, kb))).ok()? / 1e3)
}

fn row(op: &str, kb: f64) -> Row {
    let cells = [("op", op.to_owned()), ("test", op.to_owned()), ("transfer_kb", kb.to_string())];
    Row { cells: cells.map(|(key, value)| (key.to_owned(), value)).into(), ..Row::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, depth: f64) -> Times {
        of_model(&model_file::find(name).expect("it ships").model, depth, SCAN).expect("it is storage")
    }

    #[test]
    fn a_disk_takes_milliseconds_at_random_and_a_flash_device_a_fraction_of_one() {
        let (disk, flash) = (of("disk-15k", 1.0), of("nand-device", 1.0));
        assert!((3e-3..1e-2).contains(&disk.read_s) && disk.in_order_s < disk.read_s / 20.0, "{disk:?}");
        assert!(flash.read_s < disk.read_s / 10.0 && flash.flush_s < disk.flush_s, "{flash:?}");
    }

    #[test]
    fn a_scan_beside_others_waits_once_for_each_piece_and_without_reading_ahead_for_each_block() {
        let model = model_file::find("disk-15k").expect("it ships").model;
        let times = |depth, piece| of_model(&model, depth, piece).expect("it is storage");
        assert_eq!(times(4.0, SCAN).copied_s, times(5.0, SCAN).in_order_s, "a copy is one more reader");
        assert!(times(4.0, SCAN).in_order_s > 5.0 * times(1.0, SCAN).in_order_s);
        assert_eq!(times(1.0, 1.0).in_order_s, times(1.0, SCAN).in_order_s);
        let each = times(4.0, 1.0);
        assert!(each.in_order_s > 0.7 * each.read_s && each.in_order_s <= each.read_s, "{each:?}");
    }

    #[test]
    fn this_machine_is_storage_and_a_server_is_none() {
        assert!((1e-6..1e-2).contains(&of("this-machine", 1.0).read_s));
        assert!(of_model(&model_file::find("small-server").expect("it ships").model, 1.0, SCAN).is_none());
    }

    #[test]
    fn many_at_once_wait_for_the_one_arm_of_a_disk_and_hardly_for_flash() {
        assert!((of("disk-15k", 8.0).read_s / of("disk-15k", 1.0).read_s - 8.0).abs() < 0.1);
        assert!(of("nand-device", 8.0).read_s < 2.0 * of("nand-device", 1.0).read_s);
    }
}
