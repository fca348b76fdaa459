//! What a bank's day is, as a study says it.

use crate::bank::Scale;
use crate::bank::scale::{ACCOUNTS, scale};
use crate::kind::{DAYS, INDEXES};
use reading::key::{Count, Span};
use reading::{Settings, keys};
use units::Nanos;

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    ACCOUNTS;
    DAYS;
    INDEXES;
    /// How often payments (bulk postings and payment orders) come, beside the mix of one bulk posting and one payment
    /// order in 15 calls.
    PAYMENTS "payments": Count = Count { min: 1, max: 100 }, Is("1");
    /// How often master data is read, beside the mix of one such read in 15 calls.
    READS "reads": Count = Count { min: 1, max: 100 }, Is("1");
    /// Percent of card postings and payment orders that go to one of the hot accounts, those of employers, shops and
    /// utilities: half of them to an eighth of these.
    HOT "hot": Count = Count { min: 0, max: 100 }, Is("60");
    /// Time between two bulk payment runs. When the first comes is drawn from the seed; a run waits for the one before
    /// it.
    RUN_EVERY "run_every": Span<Nanos> = Span { min: Nanos::from_secs(1), max: Nanos::from_secs(86_400) }, Is("10 s");
    /// Payments of a bulk payment run: a job that posts 50 of them a transaction, one transaction after the other, on a
    /// session of its own.
    RUN_ORDERS "run_orders": Count = Count { min: 50, max: 10_000_000 }, Is("2000");
}

/// A bank's day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The bank.
    pub scale: Scale,
    /// Weight of payments.
    pub payments: u64,
    /// Weight of reads of master data.
    pub reads: u64,
    /// Percent of single postings that go to a hot account.
    pub hot: u64,
    /// Between two payment runs.
    pub run_every: Nanos,
    /// Payments of a run.
    pub run_orders: u64,
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec {
        scale: scale(settings),
        payments: settings.get(&PAYMENTS),
        reads: settings.get(&READS),
        hot: settings.get(&HOT),
        run_every: settings.get(&RUN_EVERY),
        run_orders: settings.get(&RUN_ORDERS),
    }
}
