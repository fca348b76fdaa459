//! What a study may say of blocks.

use super::domain::{OffsetsOf, Transfers};
use super::{DataShape, Pattern, Spec, SpecError, Transfer};
use reading::key::{Choice, CountOr, Span};
use reading::{AnyKey, Settings, keys};
use units::{Bytes, Share};

const ANY_SHARE: Span<Share> = Span { min: Share(0.0), max: Share(1.0) };

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// Order of the offsets: independent draws; every block once before any comes again; or one after the other.
    PATTERN "pattern": Choice<Pattern> = Choice(Pattern::WORDS), Is("random");
    /// Which offsets a random pattern prefers: all alike, Zipf's law, or a hot spot of some blocks.
    OFFSETS "offsets": OffsetsOf = OffsetsOf, Is("uniform");
    /// Bytes that one operation moves; a mixture is written `70% 4 KiB + 30% 64 KiB`.
    TRANSFER "transfer": Transfers = Transfers { min: Bytes(512), max: Bytes::mib(64) }, Is("4 KiB");
    /// The same of operations that write or trim, with the pattern `random`.
    WRITE_TRANSFER "write_transfer": Transfers = Transfers { min: Bytes(512), max: Bytes::mib(64) }, Follows("(as `transfer`)");
    /// Share of the operations that read; the rest write.
    READ "read": Span<Share> = ANY_SHARE, Is("100%");
    /// Share of the operations that trim, beside `read`: the range is given back and reads as zeroes until it is
    /// written again.
    TRIMS "trims": Span<Share> = ANY_SHARE, Is("0%");
    /// Distance by which every offset is shifted off its natural alignment.
    SHIFT "shift": Span<Bytes> = Span { min: Bytes(0), max: Bytes::mib(64) }, Is("0 B");
    /// Distance from the start of each module at which the active range begins.
    OFFSET "offset": Span<Bytes> = Span { min: Bytes(0), max: Bytes(1 << 50) }, Is("0 B");
    /// Share of each module that is used, from its start or from `offset`: the active range.
    RANGE "range": Span<Share> = Span { min: Share(0.0001), max: Share(1.0) }, Is("100%");
    /// Share of every written block that compresses away.
    COMPRESSIBLE "compressible": Span<Share> = ANY_SHARE, Is("0%");
    /// Share of the written blocks that are equal to another block, to the last byte.
    DUPLICATE "duplicate": Span<Share> = ANY_SHARE, Is("0%");
    /// Size of the blocks that `duplicate` counts, on whose borders an array looks for them.
    DUPLICATE_UNIT "duplicate_unit": Span<Bytes> = Span { min: Bytes(512), max: Bytes::mib(1) }, Is("4 KiB");
    /// A fixed amount of work: the stream ends after so many operations, and `measure` is the longest it may take.
    OPERATIONS "operations": CountOr = CountOr { min: 1, max: 1 << 40, word: "unlimited" }, Is("unlimited");
}

/// The workload that these settings ask for. Whether a transfer fits a module is not asked here: that is known of a system.
pub fn read(settings: &mut dyn Settings) -> Spec {
    let spec = Spec {
        pattern: settings.get(&PATTERN),
        offsets: settings.get(&OFFSETS),
        transfers: settings.get(&TRANSFER),
        write_transfers: settings.given(&WRITE_TRANSFER).unwrap_or_default(),
        read: settings.get(&READ),
        trims: settings.get(&TRIMS),
        shift: settings.get(&SHIFT),
        start: settings.get(&OFFSET),
        range: settings.get(&RANGE),
        data: DataShape {
            compressible: settings.get(&COMPRESSIBLE),
            duplicate: settings.get(&DUPLICATE),
            unit: settings.get(&DUPLICATE_UNIT),
        },
    };
    if !spec.data.unit.0.is_multiple_of(512) {
        settings.refuse(&DUPLICATE_UNIT, format!("a multiple of 512 B, got {} B", spec.data.unit.0));
    }
    for problem in spec.problems(Bytes(u64::MAX)) {
        match problem {
            SpecError::PreferenceWithoutChoice(_) => {
                let message = "`uniform` with this pattern; only `random` prefers offsets".to_owned();
                settings.refuse(&OFFSETS, message);
            }
            SpecError::DuplicateUnit { unit, size } => {
                let (unit, size) = (units::bytes(unit), units::bytes(size));
                let message =
                    format!("a size of which every transfer and the shift are whole multiples, got {unit} for {size}");
                settings.refuse(&DUPLICATE_UNIT, message);
            }
            SpecError::DirectionsInOrder(_) => {
                let message =
                    "none with this pattern: reads and writes apart need `random`, or a stream each".to_owned();
                settings.refuse(&WRITE_TRANSFER, message);
            }
            SpecError::Share { share, .. } => {
                let read = units::percent(spec.read.0);
                let message = format!(
                    "at most what `read` leaves, which is {read} of the operations now; set `read` too, got {} together",
                    units::percent(share)
                );
                settings.refuse(&TRIMS, message);
            }
            // The values that keys accept leave nothing else to refuse than a mixture of sizes.
            problem => settings.refuse(&PATTERN, problem.to_string()),
        }
    }
    spec
}

/// Past the page cache the kernel takes whole sectors only; 512 B is the smallest there is.
pub fn check_sectors(spec: &Spec, settings: &mut dyn Settings) {
    let odd = |size: Bytes| !size.0.is_multiple_of(512);
    let message = |size: Bytes| format!("a multiple of 512 B with `direct`, got {} B", size.0);
    let mut check = |key: &dyn AnyKey, size: Option<Bytes>| {
        if let Some(size) = size {
            settings.refuse(key, message(size));
        }
    };
    let sized = |transfers: &[Transfer]| transfers.iter().map(|transfer| transfer.size).find(|size| odd(*size));
    check(&TRANSFER, sized(&spec.transfers));
    check(&WRITE_TRANSFER, sized(&spec.write_transfers));
    check(&SHIFT, Some(spec.shift).filter(|size| odd(*size)));
    check(&OFFSET, Some(spec.start).filter(|size| odd(*size)));
}
