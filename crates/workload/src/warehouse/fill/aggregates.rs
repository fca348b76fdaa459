//! Aggregates: what the facts of a period add up to, by the members of two dimensions.
//!
//! What it does not do: it keeps one period at a time, whatever the data set's size.

use super::super::scale::{BELOW, Level, Scale, first_day, parent};
use super::facts::{Fact, Facts};
use crate::dataset::{Made, Row, Rows};
use crate::transaction::Value;
use std::ops::Range;

/// What is added up: facts, quantity, gross, net and cost.
type Sums = [i64; 5];

/// The members of the product's and of the customer's side that a fact belongs to, from 1.
fn members(level: Level, scale: &Scale, fact: &Fact) -> (u64, u64) {
    let group = parent(fact.product, scale.products_a_group());
    let country = parent(fact.customer, scale.customers_a_country());
    match level {
        Level::GroupRegion => (group, parent(country, BELOW)),
        Level::CategoryCountry => (parent(group, BELOW), country),
        Level::CategoryRegion => (parent(group, BELOW), parent(country, BELOW)),
    }
}

/// The days of a period, from 1.
fn days(level: Level, period: u64) -> Range<u64> {
    let months = if level == Level::CategoryRegion { 3 } else { 1 };
    first_day((period - 1) * months + 1)..first_day(period * months + 1)
}

/// The rows of these periods, counted from 0.
pub(super) fn rows(scale: Scale, seed: u64, level: Level, cube: u64, mut periods: Range<u64>) -> Box<dyn Rows> {
    let facts = Facts::new(scale, seed, cube);
    let customers = level.sides().1;
    let (mut period, mut sums, mut at) = (0, Vec::new(), 0);
    Box::new(Made(move |fields: &mut Vec<Value>| {
        loop {
            if let Some(found) = sums[at..].iter().position(|sums: &Sums| sums[0] > 0) {
                at += found + 1;
                let member = at as u64 - 1;
                let mut row = Row::over(fields);
                row.number(period).number(member / customers + 1).number(member % customers + 1);
                sums[at - 1].iter().for_each(|sum| {
                    row.int(*sum);
                });
                return row.end();
            }
            let Some(next) = periods.next() else { return false };
            (period, at) = (next + 1, 0);
            add_up(level, &scale, &facts, period, &mut sums);
        }
    }))
}

/// The sums of a period, by the product's side and then by the customer's.
fn add_up(level: Level, scale: &Scale, facts: &Facts, period: u64, sums: &mut Vec<Sums>) {
    let (products, customers) = level.sides();
    sums.clear();
    sums.resize((products * customers) as usize, [0; 5]);
    for fact in facts.of_days(days(level, period)).map(|number| facts.fact(number)) {
        let (product, customer) = members(level, scale, &fact);
        let sums = &mut sums[((product - 1) * customers + customer - 1) as usize];
        let parts = [1, fact.quantity, fact.gross_cents, fact.net_cents, fact.cost_cents];
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
}
