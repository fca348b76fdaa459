//! What the workload is, as a study says it.

use crate::kind::ROWS;
use reading::key::{Choice, Count, Span};
use reading::{Settings, keys};
use units::Bytes;

units::words! {
    /// A mix of operations, by the letter that the cloud benchmark gives it (Cooper et al.: Benchmarking cloud serving systems with
    /// YCSB, SoCC 2010, table 2).
    pub enum Mix {
        A = "A" "Half reads, half updates.",
        B = "B" "95 percent reads, 5 percent updates.",
        C = "C" "Reads only.",
        D = "D" "95 percent reads of what is new, 5 percent inserts.",
        E = "E" "95 percent short scans, 5 percent inserts.",
        F = "F" "Half reads, half updates of what was read in the same transaction.",
        /// Half reads, a quarter updates, and a quarter that reads the number of changes under a lock and writes the next one.
        Counters = "counters",
        Lists = "lists" "Half reads of two lists, half that read one and append a number to another. What each saw is noted.",
    }
}

units::words! {
    /// What a transaction does.
    pub(super) enum Class {
        Read = "read",
        Update = "update",
        Insert = "insert",
        Scan = "scan",
        Modify = "read-modify-write",
        Count = "read-and-count",
        Look = "read-lists",
        Append = "append",
    }
}

impl Mix {
    /// The classes with their shares in percent; a class is a place in this list.
    pub(super) fn parts(self) -> &'static [(Class, u64)] {
        match self {
            Mix::A => &[(Class::Read, 50), (Class::Update, 50)],
            Mix::B => &[(Class::Read, 95), (Class::Update, 5)],
            Mix::C => &[(Class::Read, 100)],
            Mix::D => &[(Class::Read, 95), (Class::Insert, 5)],
            Mix::E => &[(Class::Scan, 95), (Class::Insert, 5)],
            Mix::F => &[(Class::Read, 50), (Class::Modify, 50)],
            Mix::Counters => &[(Class::Read, 50), (Class::Update, 25), (Class::Count, 25)],
            Mix::Lists => &[(Class::Look, 50), (Class::Append, 50)],
        }
    }

    /// The keys that the cloud benchmark draws for it.
    pub(super) fn distribution(self) -> Distribution {
        if self == Mix::D { Distribution::Latest } else { Distribution::Zipfian }
    }
}

units::words! {
    /// Which keys are asked for.
    pub enum Distribution {
        Uniform = "uniform" "All alike.",
        Zipfian = "zipfian" "Zipf's law with exponent 0.99, scattered over the table.",
        Latest = "latest" "Zipf's law by age: what was inserted last is asked for most.",
    }
}

/// The workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// What is done.
    pub mix: Mix,
    /// Which keys are asked for.
    pub keys: Distribution,
    /// Records that the fill makes.
    pub rows: u64,
    /// Fields of a record.
    pub fields: u32,
    /// Characters of a field.
    pub field_bytes: u32,
    /// Records of a scan at most.
    pub scan: u64,
}

// What a study may say of the workload.

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// Mix of operations: A 50% reads, 50% updates; B 95% reads, 5% updates; C reads only; D 95% reads, 5% inserts; E
    /// 95% scans, 5% inserts; F 50% reads, 50% read-modify-writes; counters 50% reads, 25% updates that add 1 to the
    /// record's number of changes, 25% that read it under a lock and write the next; lists 50% reads of two records,
    /// 50% that read one and append a number to the list in another: what each saw is kept as a history (`prony show
    /// RUN --history`).
    MIX "mix": Choice<Mix> = Choice(Mix::WORDS), Is("A");
    ROWS;
    /// Which records are asked for: all alike, few of them most of the time (exponent 0.99), or what was inserted last.
    DISTRIBUTION "keys": Choice<Distribution> = Choice(Distribution::WORDS), Follows("(latest for mix D, zipfian for the others)");
    /// Fields of a record.
    FIELDS "fields": Count = Count { min: 1, max: 100 }, Is("10");
    /// Bytes of a field.
    FIELD "field": Span<Bytes> = Span { min: Bytes(1), max: Bytes(8_000) }, Is("100 B");
    /// Records of a scan at most; lengths from 1 to that are alike.
    SCAN "scan": Count = Count { min: 1, max: 10_000 }, Is("100");
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
