//! What a study may say of the workload.

use super::{Distribution, Mix, Spec};
use crate::kind::ROWS;
use reading::key::{Choice, Count, Span};
use reading::{Settings, keys};
use units::Bytes;

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    MIX "mix": Choice<Mix> = Choice(Mix::WORDS), Is("A"),
        "Mix of operations: A 50% reads, 50% updates; B 95% reads, 5% updates; C reads only; D 95% reads, 5% inserts; E 95% \
         scans, 5% inserts; F 50% reads, 50% read-modify-writes; counters 50% reads, 25% updates that add 1 to the record's number of changes, 25% that \
         read it under a lock and write the next; lists 50% reads of two records, 50% that read one and append a number to the list in another: what each saw is kept as \
         a history (`prony show RUN --history`).";
    ROWS;
    DISTRIBUTION "keys": Choice<Distribution> = Choice(Distribution::WORDS), Follows("(latest for mix D, zipfian for the others)"),
        "Which records are asked for: all alike, few of them most of the time (exponent 0.99), or what was inserted last.";
    FIELDS "fields": Count = Count { min: 1, max: 100 }, Is("10"), "Fields of a record.";
    FIELD "field": Span<Bytes> = Span { min: Bytes(1), max: Bytes(8_000) }, Is("100 B"), "Bytes of a field.";
    SCAN "scan": Count = Count { min: 1, max: 10_000 }, Is("100"), "Records of a scan at most; lengths from 1 to that are alike.";
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    let mix = settings.get(&MIX);
    Spec {
        mix,
        keys: settings.given(&DISTRIBUTION).unwrap_or(mix.distribution()),
        rows: settings.get(&ROWS),
        fields: settings.get(&FIELDS) as u32,
        field_bytes: settings.get(&FIELD).0 as u32,
        scan: settings.get(&SCAN),
    }
}
