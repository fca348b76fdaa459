//! What a study may say of the workload.

use super::Spec;
use crate::kind::ROWS;
use reading::key::{Count, Span};
use reading::{Settings, keys};
use units::Nanos;

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// Tables `part_0`, `part_1` and so on, of `rows` rows of some 500 B each.
    TABLES "tables": Count = Count { min: 2, max: 64 }, Is("6");
    ROWS;
    /// How long a table is hot, from the start of the warm-up on; then the next one is. Nine reads in ten go to the hot
    /// table, the others to any.
    STAY "stay": Span<Nanos> = Span { min: Nanos::from_millis(100), max: Nanos::from_secs(86_400) }, Is("20 s");
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec { tables: settings.get(&TABLES) as u32, rows: settings.get(&ROWS), stay: settings.get(&STAY) }
}
