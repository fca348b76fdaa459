//! Operations as a list, and what they come to when each is looked at by itself.

use observation::{Account, Cell, CellKey, Histogram, Tally, Window};
use proptest::prelude::*;
use std::collections::BTreeMap;
use units::Nanos;

/// When waiting for operations ends.
pub const END: u64 = 60_000;

#[derive(Clone, Debug)]
pub struct Operation {
    pub class: u16,
    pub endpoint: u16,
    pub intended: u64,
    pub issued: Option<u64>,
    pub completed: Option<u64>,
    pub done: bool,
    pub bytes: u32,
}

/// Operations of which some are late by many intervals, some fail, some never end and some never leave; in the order in
/// which they ended.
pub fn operations(most: usize) -> impl Strategy<Value = Vec<Operation>> {
    let late = prop_oneof![4 => 0u64..50, 1 => 0u64..25_000];
    let one = (0u16..2, 0u16..3, 0u64..30_000, late.clone(), late, 0u32..1 << 20, 0u8..20);
    let operation = one.prop_map(|(class, endpoint, intended, lateness, service, bytes, fate)| {
        let (issued, completed) = (intended + lateness, intended + lateness + service);
        let ends = fate > 1 && completed < END;
        Operation {
            class,
            endpoint,
            intended,
            issued: (fate > 0 && issued < END).then_some(issued),
            completed: ends.then_some(completed),
            done: fate > 3,
            bytes,
        }
    });
    proptest::collection::vec(operation, 0..most).prop_map(|mut all| {
        all.sort_by_key(|o| o.completed.unwrap_or(u64::MAX));
        all
    })
}

/// The cells, one a key, each from the plain list of its values.
pub fn cells_of(operations: &[Operation], stream: u16, generator: u16, interval: u64) -> BTreeMap<CellKey, Cell> {
    let mut cells = BTreeMap::new();
    let key = |o: &Operation, at: u64| CellKey {
        interval: (at / interval) as u32,
        stream,
        class: o.class,
        endpoint: o.endpoint,
        generator,
    };
    let mut values = BTreeMap::<CellKey, [Vec<u64>; 4]>::new();
    for o in operations {
        match (o.issued, o.completed) {
            (Some(issued), Some(completed)) => {
                // A failure counts where the operation was due.
                let at = if o.done { completed } else { o.intended };
                let tally = &mut cells.entry(key(o, at)).or_insert_with(Cell::default).tally;
                tally.add(&Tally {
                    done: u64::from(o.done),
                    failed: u64::from(!o.done),
                    bytes: if o.done { u64::from(o.bytes) } else { 0 },
                    ..Tally::default()
                });
                if o.done {
                    let lists = values.entry(key(o, o.intended)).or_default();
                    lists[0].push(completed - o.intended);
                    lists[1].push(completed - issued);
                    lists[2].push(issued - o.intended);
                }
            }
            _ => values.entry(key(o, o.intended)).or_default()[3].push(END - o.intended),
        }
    }
    for (key, [response, service, lateness, censored]) in values {
        let cell = cells.entry(key).or_insert_with(Cell::default);
        cell.response = Histogram::from_values(response);
        cell.service = Histogram::from_values(service);
        cell.lateness = Histogram::from_values(lateness);
        cell.censored = Histogram::from_values(censored);
    }
    cells.iter_mut().for_each(|(key, cell)| cell.key = *key);
    cells
}

/// The books, operation by operation.
pub fn accounted(operations: &[Operation], window: Window) -> Account {
    let mut account = Account::default();
    for o in operations {
        let planned = u64::from(window.contains(Nanos(o.intended)));
        let ended = o.completed.is_some();
        account.planned += planned;
        account.done += planned * u64::from(ended && o.done);
        account.failed += planned * u64::from(ended && !o.done);
        account.censored += planned * u64::from(!ended);
        let (issued, completed) = (o.issued.unwrap_or(END), o.completed.unwrap_or(END));
        account.lateness_ns += u128::from(window.overlap(Nanos(o.intended), Nanos(issued)).0);
        account.service_ns += u128::from(window.overlap(Nanos(issued), Nanos(completed)).0);
    }
    account
}
