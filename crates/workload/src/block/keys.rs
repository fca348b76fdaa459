//! What a study may say of blocks.

use super::domain::{OffsetsOf, Transfers};
use super::{DataShape, Pattern, Spec, SpecError};
use reading::key::{Choice, CountOr, Span};
use reading::{Settings, keys};
use units::{Bytes, Share};

const ANY_SHARE: Span<Share> = Span { min: Share(0.0), max: Share(1.0) };

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    PATTERN "pattern": Choice<Pattern> = Choice(&[
        ("random", Pattern::Random),
        ("random-once", Pattern::RandomOnce),
        ("sequential", Pattern::Sequential),
    ]), Is("random"),
        "Order of the offsets: independent draws; every block once before any comes again; or one after the other.";
    OFFSETS "offsets": OffsetsOf = OffsetsOf, Is("uniform"),
        "Which offsets a random pattern prefers: all alike, Zipf's law, or a hot spot of some blocks.";
    TRANSFER "transfer": Transfers = Transfers { min: Bytes(512), max: Bytes::mib(64) }, Is("4 KiB"),
        "Bytes that one operation moves; a mixture is written `70% 4 KiB + 30% 64 KiB`.";
    READ "read": Span<Share> = ANY_SHARE, Is("100%"), "Share of the operations that read; the rest write.";
    SHIFT "shift": Span<Bytes> = Span { min: Bytes(0), max: Bytes::mib(64) }, Is("0 B"),
        "Distance by which every offset is shifted off its natural alignment.";
    RANGE "range": Span<Share> = Span { min: Share(0.0001), max: Share(1.0) }, Is("100%"),
        "Share of each module that is used, from its start: the active range.";
    COMPRESSIBLE "compressible": Span<Share> = ANY_SHARE, Is("0%"), "Share of every written block that compresses away.";
    DUPLICATE "duplicate": Span<Share> = ANY_SHARE, Is("0%"),
        "Share of the written blocks that are equal to another block, to the last byte.";
    DUPLICATE_UNIT "duplicate_unit": Span<Bytes> = Span { min: Bytes(512), max: Bytes::mib(1) }, Is("4 KiB"),
        "Size of the blocks that `duplicate` counts, on whose borders an array looks for them.";
    OPERATIONS "operations": CountOr = CountOr { min: 1, max: 1 << 40, word: "unlimited" }, Is("unlimited"),
        "A fixed amount of work: the stream ends after so many operations, and `measure` is the longest it may take.";
}

/// The workload that these settings ask for. Whether a transfer fits a module is not asked here: that is known of a system.
pub fn read(settings: &mut dyn Settings) -> Spec {
    let spec = Spec {
        pattern: settings.get(&PATTERN),
        offsets: settings.get(&OFFSETS),
        transfers: settings.get(&TRANSFER),
        read: settings.get(&READ),
        shift: settings.get(&SHIFT),
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
    if let Some(transfer) = spec.transfers.iter().find(|transfer| odd(transfer.size)) {
        settings.refuse(&TRANSFER, message(transfer.size));
    }
    if odd(spec.shift) {
        settings.refuse(&SHIFT, message(spec.shift));
    }
}
