//! The orders of the source, their active state, and the marker of each cube.
//!
//! What it does not do: deltas and their changes come with the loads; the fill has none.

use super::super::scale::{CHANNELS, CUBES, SITES, Scale};
use super::facts::{Prices, document};
use crate::dataset::Row;
use random::mix;

/// What is ordered: a product and how many.
pub(in crate::warehouse) fn ordered(scale: &Scale, id: u64) -> (u64, i64) {
    (1 + mix(id) % scale.products(), 1 + (mix(!id) % 20) as i64)
}

/// Writes an order of the source, counted from 0.
pub(super) fn order(scale: &Scale, prices: Prices, number: u64, row: &mut Row<'_>) {
    let id = number + 1;
    let (product, quantity) = ordered(scale, id);
    row.number(id).number(1 + mix(id << 1) % scale.customers()).number(product);
    row.number(1 + id % SITES).number(1 + id % CHANNELS).code(document(scale.cube_of(id)), id, 9);
    row.text("EUR").text("PC").int(quantity).int(prices.price_cents(product)).int(0);
}

/// Writes its state as it was passed on.
pub(super) fn active(scale: &Scale, prices: Prices, number: u64, row: &mut Row<'_>) {
    let id = number + 1;
    let (product, quantity) = ordered(scale, id);
    row.number(id).int(quantity).int(quantity * prices.price_cents(product)).int(0);
}

/// Writes the marker of a cube.
pub(super) fn marker(cube: u64, row: &mut Row<'_>) {
    row.number(cube + 1).text(CUBES[cube as usize % CUBES.len()]).int(0).int(0).int(0).int(0);
}
