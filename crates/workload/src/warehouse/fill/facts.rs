//! Facts: what each row of a cube holds.
//!
//! What it does not do: it makes no row of a delta; those are made in the database from the orders of the source.

use super::super::scale::{CHANNELS, DAYS, SITES, Scale};
use super::each;
use crate::dataset::Rows;
use random::{Lane, below, mix};
use std::ops::Range;

/// What products cost and weigh.
#[derive(Clone, Copy, Debug)]
pub(in crate::warehouse) struct Prices(Lane);

/// Purposes of lanes; facts of cube c have 16 + c.
const PRODUCTS: u64 = 1;
const FACTS: u64 = 16;

impl Prices {
    pub(in crate::warehouse) fn new(seed: u64) -> Prices {
        Prices(Lane::new(seed, 0, PRODUCTS))
    }

    /// The list price of a product (from 1).
    pub(in crate::warehouse) fn price_cents(self, product: u64) -> i64 {
        199 + below(self.0.at(product), 50_000) as i64
    }

    /// What it costs: 50 to 80 percent of its price.
    pub(in crate::warehouse) fn cost_cents(self, product: u64) -> i64 {
        self.price_cents(product) * (50 + below(mix(self.0.at(product)), 31) as i64) / 100
    }

    pub(in crate::warehouse) fn weight_g(self, product: u64) -> i64 {
        50 + below(mix(!self.0.at(product)), 20_000) as i64
    }

    pub(in crate::warehouse) fn volume_ml(self, product: u64) -> i64 {
        self.weight_g(product) * 3 / 2
    }
}

/// What a fact is about, and what aggregates add up of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::warehouse) struct Fact {
    pub(in crate::warehouse) day: u64,
    pub(in crate::warehouse) customer: u64,
    pub(in crate::warehouse) product: u64,
    pub(in crate::warehouse) quantity: i64,
    pub(in crate::warehouse) gross_cents: i64,
    pub(in crate::warehouse) net_cents: i64,
    pub(in crate::warehouse) cost_cents: i64,
    /// What is left of its draws.
    rest: u64,
}

impl Fact {
    /// When it is to be delivered.
    pub(in crate::warehouse) fn due_day(&self) -> u64 {
        (self.day + 3 + (self.rest >> 20) % 12).min(DAYS)
    }

    pub(in crate::warehouse) fn site(&self) -> u64 {
        1 + (self.rest >> 8) % SITES
    }

    pub(in crate::warehouse) fn channel(&self) -> u64 {
        1 + (self.rest >> 14) % CHANNELS
    }
}

/// The facts of one cube.
#[derive(Clone, Copy, Debug)]
pub(in crate::warehouse) struct Facts {
    scale: Scale,
    cube: u64,
    count: u64,
    lane: Lane,
    prices: Prices,
}

impl Facts {
    pub(in crate::warehouse) fn new(scale: Scale, seed: u64, cube: u64) -> Facts {
        let (count, prices) = (scale.facts(cube), Prices::new(seed));
        Facts { scale, cube, count, lane: Lane::new(seed, 0, FACTS + cube), prices }
    }

    /// The numbers, from 0, of the facts of these days.
    pub(in crate::warehouse) fn of_days(&self, days: Range<u64>) -> Range<u64> {
        Scale::first_fact(self.count, days.start)..Scale::first_fact(self.count, days.end)
    }

    /// The fact of a number from 0.
    #[inline]
    pub(in crate::warehouse) fn fact(&self, number: u64) -> Fact {
        let bits = self.lane.at(number);
        let rest = mix(bits);
        let product = 1 + favoured(bits >> 32, self.scale.products());
        let customer = 1 + favoured(bits & 0xffff_ffff, self.scale.customers());
        let quantity = 1 + (rest % 20) as i64;
        let gross_cents = quantity * self.prices.price_cents(product);
        // Every fourth sale has a discount of 1 to 15 percent.
        let percent = if rest >> 62 == 0 { 1 + (rest >> 40) as i64 % 15 } else { 0 };
        let net_cents = gross_cents - gross_cents * percent / 100;
        let cost_cents = quantity * self.prices.cost_cents(product);
        let day = Scale::day_of(self.count, number);
        Fact { day, customer, product, quantity, gross_cents, net_cents, cost_cents, rest }
    }
}

/// A number below `count` of 32 even bits: the first tenth of all comes in a third of the draws.
#[inline]
fn favoured(bits: u64, count: u64) -> u64 {
    (((bits * bits) >> 32) * count) >> 32
}

/// The rows of these numbers.
pub(super) fn rows(scale: Scale, seed: u64, cube: u64, numbers: Range<u64>) -> Box<dyn Rows> {
    let facts = Facts::new(scale, seed, cube);
    each(numbers, move |number, row| {
        let fact = facts.fact(number);
        row.number(number + 1).number(fact.day).number(fact.due_day()).number(fact.customer).number(fact.product);
        row.number(fact.site()).number(fact.channel()).int(0);
        row.number(1 + number % 7 * 10).code(document(facts.cube), number / 7, 9).text("EUR").text("PC");
        let weight_g = fact.quantity * facts.prices.weight_g(fact.product);
        row.int(fact.quantity).int(fact.gross_cents).int(fact.gross_cents - fact.net_cents).int(fact.net_cents);
        row.int(fact.net_cents * 19 / 100).int(weight_g / 10).int(fact.cost_cents).int(weight_g);
        row.int(fact.quantity * facts.prices.volume_ml(fact.product)).int(0);
    })
}

/// The letters of a cube's documents.
pub(super) fn document(cube: u64) -> &'static str {
    const LETTERS: [&str; 10] = ["SO", "DL", "IN", "ST", "PO", "GR", "PY", "CO", "CL", "BU"];
    LETTERS[cube as usize % LETTERS.len()]
}
