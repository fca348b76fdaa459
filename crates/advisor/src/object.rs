//! What lies on a tier, and what a server counted of it over the slices of a window.
//!
//! The one idea: counters only grow, so that a slice is the difference of two looks. What appeared meanwhile counts from zero,
//! what vanished is left out and named, and a counter that was reset counts what it has since.

use std::collections::BTreeMap;

observation::words! {
    /// What an object is.
    pub enum Kind {
        /// The rows of a table.
        Table = "table",
        /// An index.
        Index = "index",
        /// Long values of a table, which go wherever the table goes.
        Toast = "toast",
        /// The server's log, which no statement moves.
        Log = "log",
        /// Files of sorts and joins that did not fit memory.
        Temporary = "temporary",
        /// A file that holds a table and its indexes (InnoDB).
        File = "file",
    }
}

/// What a server has counted of one object since it began to count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Blocks asked of the operating system, or reads of the file.
    pub reads: f64,
    /// Blocks found in the server's buffer.
    pub hits: f64,
    /// Blocks written that nobody waits for.
    pub writes: f64,
    /// Writes that a session waits for: flushes of the log.
    pub flushes: f64,
    /// Rows read by scans, in the order in which they lie.
    pub rows_in_order: f64,
    /// Rows fetched one by one: of an index, those that it led to in its table.
    pub rows_by_key: f64,
    /// Seconds that the reads took, where the server counts them by object.
    pub read_s: Option<f64>,
    /// Seconds that the flushes took, where the server counts them.
    pub flush_s: Option<f64>,
}

impl Counts {
    /// What was counted since an earlier look.
    fn since(&self, earlier: &Counts) -> Counts {
        // A counter that went back was reset, and holds what came since.
        let reset = self.reads < earlier.reads || self.hits < earlier.hits || self.flushes < earlier.flushes;
        let earlier = if reset { &Counts::default() } else { earlier };
        let less = |now: f64, then: f64| (now - then).max(0.0);
        // What counts from zero is timed from there. Where timing began only in between, nothing tells what came before.
        let from_zero = *earlier == Counts::default();
        let time = |now: Option<f64>, then: Option<f64>| {
            let then = if from_zero { Some(0.0) } else { then };
            now.zip(then).map(|(now, then)| less(now, then))
        };
        Counts {
            reads: less(self.reads, earlier.reads),
            hits: less(self.hits, earlier.hits),
            writes: less(self.writes, earlier.writes),
            flushes: less(self.flushes, earlier.flushes),
            rows_in_order: less(self.rows_in_order, earlier.rows_in_order),
            rows_by_key: less(self.rows_by_key, earlier.rows_by_key),
            read_s: time(self.read_s, earlier.read_s),
            flush_s: time(self.flush_s, earlier.flush_s),
        }
    }
}

/// One look at everything that a server counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// When, seconds since the first look.
    pub at_s: f64,
    /// By the object's id.
    pub counts: BTreeMap<String, Counts>,
    /// Bytes that the devices below the data have read, where the server is on this machine.
    pub device_bytes: Option<f64>,
    /// Seconds that those reads took, added up.
    pub device_s: Option<f64>,
    /// Seconds that all reads of this database took, where the server counts them.
    pub read_s: Option<f64>,
}

/// What is known of an object beside its counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The server's own name or number for it, by which it is counted.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Its name with its schema.
    pub name: String,
    /// Its size.
    pub bytes: f64,
    /// The id of its table: where TOAST goes with it, and whose rows an index is built from.
    pub table: Option<String>,
    /// Rows in one block; 1 where nothing is known of it.
    pub rows_per_block: f64,
    /// Whether it lies on the fast tier.
    pub fast: bool,
    /// Where it lies.
    pub place: String,
    /// Whether changes of it go into the log.
    pub logged: bool,
    /// Whether an index cannot be built anew elsewhere beside the work of others, and so is copied under a lock.
    pub held: bool,
    /// What keeps it where it is; empty when nothing is known to.
    pub stays: String,
}

/// An object with what was counted of it, one entry a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What it is.
    pub known: Described,
    /// By slice, in order.
    pub slices: Vec<Counts>,
}

impl Object {
    /// The sum of something over the slices.
    pub fn sum(&self, of: impl Fn(&Counts) -> f64) -> f64 {
        self.slices.iter().map(of).sum()
    }

    /// The share of its blocks that were read in the order in which they lie.
    pub fn in_order(&self) -> f64 {
        let blocks = self.sum(|counts| counts.rows_in_order) / self.known.rows_per_block.max(1.0);
        let by_key = self.sum(|counts| counts.rows_by_key);
        if blocks + by_key > 0.0 { blocks / (blocks + by_key) } else { 0.0 }
    }
}

/// The objects that were there at the end, with what each slice counted of them. Rows that an index led to are fetched from its
/// table.
pub fn observed(described: &[Described], looks: &[Look]) -> Vec<Object> {
    let none = Counts::default();
    let slice = |id: &String, pair: &[Look]| {
        let now = pair[1].counts.get(id)?;
        Some(now.since(pair[0].counts.get(id).unwrap_or(&none)))
    };
    let object = |known: &Described| {
        let slices = looks.windows(2).map(|pair| slice(&known.id, pair).unwrap_or_default()).collect();
        Object { known: known.clone(), slices }
    };
    let mut objects: Vec<Object> = described.iter().map(object).collect();
    let place: BTreeMap<&str, usize> =
        described.iter().enumerate().map(|(at, known)| (known.id.as_str(), at)).collect();
    for (at, index) in described.iter().enumerate().filter(|(_, known)| known.kind == Kind::Index) {
        let Some(table) = index.table.as_deref().and_then(|table| place.get(table)) else { continue };
        for slice in 0..objects[at].slices.len() {
            objects[*table].slices[slice].rows_by_key += objects[at].slices[slice].rows_by_key;
        }
    }
    objects
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table of so many bytes with so many random reads in each slice.
    pub(crate) fn table(name: &str, bytes: f64, reads: &[f64]) -> Object {
        let slices = reads.iter().map(|reads| Counts { reads: *reads, rows_by_key: *reads, ..Counts::default() });
        Object { known: described(name, bytes), slices: slices.collect() }
    }

    pub(crate) fn described(name: &str, bytes: f64) -> Described {
        Described {
            id: name.to_owned(),
            kind: Kind::Table,
            name: name.to_owned(),
            bytes,
            table: None,
            rows_per_block: 10.0,
            fast: false,
            place: "slow".to_owned(),
            logged: true,
            held: false,
            stays: String::new(),
        }
    }

    fn look(counts: &[(&str, f64)]) -> Look {
        let counts = counts.iter().map(|(id, reads)| {
            ((*id).to_owned(), Counts { reads: *reads, read_s: Some(*reads / 100.0), ..Counts::default() })
        });
        Look { counts: counts.collect(), ..Look::default() }
    }

    #[test]
    fn what_appears_counts_from_zero_what_vanishes_is_left_out_and_a_reset_counts_what_came_since() {
        let looks = [
            look(&[("stays", 100.0), ("vanishes", 5.0), ("reset", 900.0)]),
            look(&[("stays", 130.0), ("vanishes", 9.0), ("reset", 7.0), ("appears", 40.0)]),
            look(&[("stays", 150.0), ("reset", 10.0), ("appears", 45.0)]),
        ];
        let described = ["stays", "reset", "appears", "idle"].map(|name| described(name, 8192.0));
        let objects = observed(&described, &looks);
        let reads = |at: usize| objects[at].slices.iter().map(|slice| slice.reads).collect::<Vec<_>>();
        assert_eq!(
            (reads(0), reads(1), reads(2), reads(3)),
            (vec![30.0, 20.0], vec![7.0, 3.0], vec![40.0, 5.0], vec![0.0, 0.0])
        );
        assert!((objects[0].sum(|counts| counts.read_s.unwrap_or(0.0)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn times_count_from_zero_with_what_appears_and_are_unknown_where_timing_began_in_between() {
        let counts = |flushes, flush_s| Counts { flushes, flush_s, ..Counts::default() };
        let now = counts(50.0, Some(3.0));
        assert_eq!(now.since(&Counts::default()).flush_s, Some(3.0));
        assert_eq!(now.since(&counts(90.0, Some(7.0))).flush_s, Some(3.0), "it was reset");
        assert_eq!(now.since(&counts(20.0, Some(1.0))).flush_s, Some(2.0));
        assert_eq!(now.since(&counts(20.0, None)).flush_s, None);
    }

    #[test]
    fn rows_that_an_index_led_to_are_fetched_one_by_one_from_its_table() {
        let mut index = described("index", 8192.0);
        (index.kind, index.table) = (Kind::Index, Some("t".to_owned()));
        let after = |id: &str, rows_in_order, rows_by_key| {
            (id.to_owned(), Counts { rows_in_order, rows_by_key, ..Counts::default() })
        };
        let last = Look { counts: [after("t", 100.0, 20.0), after("index", 0.0, 70.0)].into(), ..Look::default() };
        let objects = observed(&[described("t", 8192.0), index], &[Look::default(), last]);
        assert_eq!(objects[0].in_order(), 0.1);
    }

    #[test]
    fn blocks_that_a_scan_reads_are_told_from_those_fetched_one_by_one() {
        let counts = Counts { rows_in_order: 900.0, rows_by_key: 10.0, ..Counts::default() };
        let object = Object { known: described("t", 8192.0), slices: vec![counts] };
        assert_eq!(object.in_order(), 0.9);
        assert_eq!(table("idle", 1.0, &[0.0]).in_order(), 0.0);
    }
}
