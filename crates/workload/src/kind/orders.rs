//! What workers know of the numbered orders that they placed, to be held against the database.
//!
//! The one idea: half a byte an order, in pages by number. An acknowledged commit must be there, a rollback must not, and
//! where the connection was lost in between either is right and is told apart.
//!
//! What it does not do: it knows no table; whoever holds it says where orders are and when one is carried out.

use super::{Queries, Refused, Verdict};
use crate::transaction::Value;
use std::collections::BTreeMap;
use units::counted;

/// Entries of a page; two share a byte.
const PAGE: u64 = 4096;

/// Something that became known of a trade, as what it adds to an entry: the lower two bits tell of the order, the upper two of the fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its order was committed, acknowledged.
    Placed = 1,
    /// Its order was rolled back, on purpose or by a failure.
    RolledBack = 2,
    /// Whether its order was committed is not known.
    PlacedUnknown = 3,
    /// Its fill was committed, acknowledged.
    Filled = 4,
    /// Whether its fill was committed is not known.
    FillUnknown = 8,
}

/// All that is known of one trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub trade: u64,
    bits: u8,
}

impl Entry {
    /// Whether that is known of it.
    pub fn is(&self, known: Known) -> bool {
        match known {
            Known::Filled => self.bits & 4 != 0,
            // A later try that was acknowledged settles what an earlier one left open.
            Known::FillUnknown => self.bits & 12 == 8,
            order => self.bits & 3 == order as u8,
        }
    }
}

/// The ledger of one worker, or of several when merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Ledger {
    /// Notes what became known of a trade.
    pub fn record(&mut self, trade: u64, known: Known) {
        let page = self.pages.entry(trade / PAGE).or_insert_with(|| vec![0; PAGE as usize / 2]);
        let place = (trade % PAGE) as usize;
        page[place / 2] |= (known as u8) << (4 * (place % 2));
    }

    /// Adds what another worker knows.
    pub fn merge(&mut self, other: &Ledger) {
        for (number, theirs) in &other.pages {
            let page = self.pages.entry(*number).or_insert_with(|| vec![0; PAGE as usize / 2]);
            page.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
        }
    }

    /// The pages of a ledger that was kept. One of another length is no page of ours, and is passed over.
    pub fn of_pages(pages: &BTreeMap<u64, Vec<u8>>) -> Ledger {
        let whole = pages.iter().filter(|(number, page)| page.len() == PAGE as usize / 2 && **number < u64::MAX / PAGE);
        Ledger { pages: whole.map(|(number, page)| (*number, page.clone())).collect() }
    }

    /// Its pages, to be kept.
    pub fn into_pages(self) -> BTreeMap<u64, Vec<u8>> {
        self.pages
    }

    /// What is known of each trade, in ascending order of numbers.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.pages.iter().flat_map(|(number, page)| {
            let entry = move |place: u64| Entry {
                trade: number * PAGE + place,
                bits: (page[place as usize / 2] >> (4 * (place % 2))) & 15,
            };
            (0..PAGE).map(entry).filter(|entry| entry.bits != 0)
        })
    }

    /// How many trades have that known of them.
    pub fn count(&self, known: Known) -> u64 {
        self.entries().filter(|entry| entry.is(known)).count() as u64
    }

    /// Holds the ledger against the orders of the database: number and status, in ascending order of numbers; `filled` is the
    /// status of those that were carried out. Orders that the ledger knows nothing of are passed over.
    pub fn judge<S: AsRef<str>>(&self, rows: impl IntoIterator<Item = (u64, S)>, filled: &str) -> Judged {
        let mut judged = Judged::default();
        let mut rows = rows.into_iter().peekable();
        for entry in self.entries() {
            while rows.next_if(|row| row.0 < entry.trade).is_some() {}
            let row = rows.next_if(|row| row.0 == entry.trade);
            judged.add(&entry, row.as_ref().map(|row| row.1.as_ref()), filled);
        }
        judged
    }
}

/// Trades that share a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faulty {
    /// How many.
    pub count: u64,
    /// The first ten.
    pub first: Vec<u64>,
}

impl Faulty {
    fn add(&mut self, trade: u64) {
        self.count += 1;
        if self.first.len() < 10 {
            self.first.push(trade);
        }
    }
}

/// What holding the ledger against the database found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Acknowledged, but not there.
    pub missing: Faulty,
    /// Rolled back, but there.
    pub resurrected: Faulty,
    /// There, its fill acknowledged, but not completed.
    pub unfilled: Faulty,
    /// Not known whether committed, and there.
    pub unknown_kept: u64,
    /// Not known whether committed, and not there.
    pub unknown_lost: u64,
    /// As the ledger has it.
    pub ok: u64,
}

impl Judged {
    /// Whether nothing contradicts the ledger.
    pub fn passed(&self) -> bool {
        self.missing.count + self.resurrected.count + self.unfilled.count == 0
    }

    fn add(&mut self, entry: &Entry, status: Option<&str>, carried_out: &str) {
        let filled = entry.is(Known::Filled);
        match status {
            Some(_) if entry.is(Known::RolledBack) => self.resurrected.add(entry.trade),
            Some(status) if filled && status != carried_out => self.unfilled.add(entry.trade),
            Some(_) if entry.is(Known::PlacedUnknown) => self.unknown_kept += 1,
            // A trade whose fill was acknowledged had been committed, whatever was known of its order.
            None if entry.is(Known::Placed) || filled => self.missing.add(entry.trade),
            None if entry.is(Known::PlacedUnknown) => self.unknown_lost += 1,
            _ => self.ok += 1,
        }
    }
}

/// Orders that are read at once.
const ROWS: usize = 50_000;

/// Where orders are: their table, and the status of those that were carried out.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The table, with its columns `id` and `status`.
    pub table: &'static str,
    /// The status.
    pub filled: &'static str,
}

impl Held {
    /// Holds what the workers know against the orders from number `from` on.
    ///
    /// # Errors
    /// When the database refuses a query.
    pub fn judge(self, queries: &mut dyn Queries, ledger: &Ledger, from: u64) -> Result<Judged, Refused> {
        let page = Vec::new().into_iter();
        let mut orders = Orders { queries, table: self.table, next: Some(from), page, refused: false };
        let judged = ledger.judge(&mut orders, self.filled);
        if orders.refused { Err(Refused) } else { Ok(judged) }
    }

    /// Holds a ledger that was kept against the orders; nothing when it knows of none.
    pub(crate) fn hold(self, queries: &mut dyn Queries, kept: &super::Ledger) -> Result<Vec<Verdict>, Refused> {
        let ledger = Ledger::of_pages(&kept.pages);
        let Some(first) = ledger.entries().next() else { return Ok(Vec::new()) };
        Ok(vec![verdict(self.table, &self.judge(queries, &ledger, first.trade)?)])
    }
}

/// What several workers know together; none when they know of no order.
pub(crate) fn together<'a>(workers: impl Iterator<Item = &'a Ledger>) -> Option<super::Ledger> {
    let mut ledger = Ledger::default();
    workers.for_each(|worker| ledger.merge(worker));
    let pages = ledger.into_pages();
    (!pages.is_empty()).then(|| super::Ledger { pages, ..super::Ledger::default() })
}

/// Number and status of orders in ascending order, page by page, so that nothing grows with the length of a run.
struct Orders<'a> {
    queries: &'a mut dyn Queries,
    table: &'static str,
    /// Where the next page begins; none after the last.
    next: Option<u64>,
    page: std::vec::IntoIter<Vec<Value>>,
    refused: bool,
}

impl Orders<'_> {
    fn turn(&mut self, from: u64) {
        let sql = format!("SELECT id, status FROM {} WHERE id >= {from} ORDER BY id LIMIT {ROWS}", self.table);
        match self.queries.query("check the ledger", &sql) {
            Ok(rows) => {
                let last = rows.last().and_then(|row| number(row.first()?));
                self.next = last.filter(|_| rows.len() == ROWS).map(|last| last + 1);
                self.page = rows.into_iter();
            }
            Err(Refused) => self.refused = true,
        }
    }
}

impl Iterator for Orders<'_> {
    type Item = (u64, String);

    fn next(&mut self) -> Option<(u64, String)> {
        if self.page.len() == 0 {
            let from = self.next.take()?;
            self.turn(from);
        }
        let row = self.page.next()?;
        Some((number(row.first()?)?, row.get(1)?.text()?.to_owned()))
    }
}

fn number(value: &Value) -> Option<u64> {
    u64::try_from(value.int()?).ok()
}

fn verdict(table: &str, judged: &Judged) -> Verdict {
    let name = "ledger";
    let unknown = match (judged.unknown_kept, judged.unknown_lost) {
        (0, 0) => String::new(),
        (kept, lost) => format!("; of unknown outcome {kept} were kept and {lost} were not"),
    };
    if judged.passed() {
        return Verdict { name, damaged: false, text: format!("{} orders are as acknowledged{unknown}", judged.ok) };
    }
    let fault = |what: &str, [one, many]: [&str; 2], faulty: &Faulty| {
        let first = faulty.first.first().copied().unwrap_or(0);
        let state = if faulty.count == 1 { one } else { many };
        (faulty.count > 0).then(|| format!("{} {state}, the first is {table} {first}", counted(faulty.count, what)))
    };
    let (missing, there) =
        (["is missing", "are missing"], ["that was rolled back is there", "that were rolled back are there"]);
    let faults = [
        fault("acknowledged orders", missing, &judged.missing),
        fault("orders", there, &judged.resurrected),
        fault("acknowledged fills", missing, &judged.unfilled),
    ];
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    Verdict { name, damaged: true, text: format!("{}{unknown}", faults.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        for trade in 1_000_000..1_010_000 {
            ledger.record(trade, if trade % 100 == 0 { Known::RolledBack } else { Known::Placed });
            if trade % 100 != 0 && trade % 2 == 0 {
                ledger.record(trade, Known::Filled);
            }
        }
        ledger
    }

    fn rows(ledger: &Ledger) -> Vec<(u64, &'static str)> {
        let status = |entry: &Entry| if entry.is(Known::Filled) { "done" } else { "sent" };
        let kept = ledger.entries().filter(|entry| !entry.is(Known::RolledBack));
        [(1, "done")].into_iter().chain(kept.map(|entry| (entry.trade, status(&entry)))).collect()
    }

    #[test]
    fn a_database_that_agrees_passes_and_trades_of_others_are_passed_over() {
        let ledger = ledger();
        let judged = ledger.judge(rows(&ledger), "done");
        assert!(judged.passed());
        assert_eq!((judged.ok, judged.unknown_kept, judged.unknown_lost), (10_000, 0, 0));
        assert_eq!((ledger.count(Known::RolledBack), ledger.count(Known::Filled)), (100, 4_900));
    }

    #[test]
    fn each_planted_fault_is_found_with_its_number() {
        let ledger = ledger();
        let mut rows = rows(&ledger);
        rows.retain(|row| row.0 != 1_000_001);
        let at = rows.partition_point(|row| row.0 < 1_000_200);
        rows.insert(at, (1_000_200, "wait"));
        rows.iter_mut().filter(|row| row.0 == 1_000_302).for_each(|row| row.1 = "sent");
        let judged = ledger.judge(rows, "done");
        assert!(!judged.passed());
        assert_eq!(judged.missing, Faulty { count: 1, first: vec![1_000_001] });
        assert_eq!(judged.resurrected, Faulty { count: 1, first: vec![1_000_200] });
        assert_eq!(judged.unfilled, Faulty { count: 1, first: vec![1_000_302] });
        assert_eq!(judged.ok, 9_997);
    }

    #[test]
    fn unknown_outcomes_are_right_either_way_unless_a_fill_proved_them() {
        let mut ledger = Ledger::default();
        (1..=4).for_each(|trade| ledger.record(trade, Known::PlacedUnknown));
        ledger.record(3, Known::Filled);
        ledger.record(4, Known::FillUnknown);
        let judged = ledger.judge([(1, "sent"), (4, "done")], "done");
        assert_eq!((judged.unknown_kept, judged.unknown_lost), (2, 1));
        assert_eq!(judged.missing.first, [3]);
    }

    #[test]
    fn merged_ledgers_know_what_each_knew_and_an_order_takes_half_a_byte() {
        let (mut placed, mut filled) = (Ledger::default(), Ledger::default());
        for trade in 0..1_000_000 {
            placed.record(trade, Known::Placed);
        }
        filled.record(7, Known::Filled);
        filled.record(1 << 52, Known::Placed);
        placed.merge(&filled);
        assert_eq!(placed.count(Known::Placed), 1_000_001);
        assert!(placed.entries().any(|entry| entry.trade == 7 && entry.is(Known::Filled) && entry.is(Known::Placed)));
        let bytes: usize = placed.pages.values().map(Vec::len).sum();
        assert!(bytes < 510_000, "{bytes}");
    }

    #[test]
    fn a_lost_commit_is_damage_and_an_unknown_one_is_not() {
        let kept = Judged { ok: 5, unknown_kept: 1, ..Judged::default() };
        assert!(!verdict("trade", &kept).damaged);
        let lost = Judged { missing: Faulty { count: 1, first: vec![42] }, ..Judged::default() };
        let Verdict { damaged, text, .. } = verdict("trade", &lost);
        assert!(damaged && text.contains("1 acknowledged order is missing, the first is trade 42"), "{text}");
        let lost = Judged { resurrected: Faulty { count: 2, first: vec![7] }, ..lost };
        let Verdict { text, .. } = verdict("trade", &lost);
        assert!(text.contains("; 2 orders that were rolled back are there, the first is trade 7"), "{text}");
    }
}
