//! The market: orders wait here for their fills, and quotes are made up here.
//!
//! The one idea: a committed order comes back as a fill after a delay, ten fills come back as a round of quotes, and
//! quotes fire the limit orders that wait in the database. By count, nothing depends on time, so that one session does
//! the same on every engine.
//!
//! What it does not do: it holds no order book. Limit orders wait in the database; only the symbols of the latest few
//! hundred are remembered, so that quotes come by them.

use super::draws::{Draws, Purpose};
use super::numbers::Errand;
use super::{Market, Scale};
use crate::transaction::Caused;
use std::collections::VecDeque;
use units::Nanos;

/// Fills between two rounds of quotes.
const FILLS_A_FEED: usize = 10;
/// Quotes of a round.
const QUOTES: usize = 20;
/// Endings of a worker between an order and its fill, by count.
const ENDINGS_TO_ANSWER: u64 = 5;
/// Symbols of waiting limit orders that are remembered.
const REMEMBERED: usize = 512;
/// Rounds of quotes that may be under way.
const FEEDS: usize = 16;

/// One quote of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) symbol: String,
    /// Shares that were traded.
    pub(super) volume: i64,
}

/// A worker's share of the market.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    market: Market,
    seed: u64,
    scale: Scale,
    worker: u32,
    half: Option<u32>,
    /// Transactions of this worker that ended so far.
    pub(super) endings: u64,
    /// By count: what is due at which ending.
    queue: VecDeque<(u64, Errand)>,
    fills: Vec<Tick>,
    waiting: VecDeque<String>,
    feeds: VecDeque<(u64, Vec<Tick>)>,
    next_feed: u64,
    /// Fills and rounds of quotes that failed twice or came too late and were given up.
    pub(super) dropped: u64,
}

impl Exchange {
    pub(super) fn new(market: Market, seed: u64, scale: Scale, worker: u32) -> Exchange {
        Exchange { market, seed, scale, worker, fills: Vec::with_capacity(FILLS_A_FEED), ..Exchange::default() }
    }

    /// The same, whose quotes are of securities of one half, beside those of fills.
    pub(super) fn on(self, half: Option<u32>) -> Exchange {
        Exchange { half, ..self }
    }

    /// Remembers that a limit order waits.
    pub(super) fn wait_for(&mut self, symbol: &str) {
        if self.waiting.len() == REMEMBERED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(symbol.to_owned());
    }

    /// A limit order was fired: it waits no longer.
    pub(super) fn fired(&mut self, symbol: &str) {
        if let Some(place) = self.waiting.iter().position(|waiting| waiting == symbol) {
            self.waiting.remove(place);
        }
    }

    /// An order is in the market: its fill is due after a while.
    pub(super) fn submit(&mut self, trade: u64, at: Nanos, caused: &mut Vec<Caused>) {
        self.answer(Errand::Fill { trade, again: false }, at, caused);
    }

    /// A fill failed: it is given back once.
    pub(super) fn give_back(&mut self, errand: Errand, at: Nanos, caused: &mut Vec<Caused>) {
        match errand {
            Errand::Fill { trade, again: false } => self.answer(Errand::Fill { trade, again: true }, at, caused),
            _ => self.dropped += 1,
        }
    }

    /// A fill was committed; ten of them make a round of quotes.
    pub(super) fn filled(&mut self, symbol: String, volume: i64, at: Nanos, caused: &mut Vec<Caused>) {
        self.fills.push(Tick { symbol, volume });
        if self.fills.len() < FILLS_A_FEED {
            return;
        }
        let number = (u64::from(self.worker) << 40) | self.next_feed;
        self.next_feed += 1;
        let ticks = self.quotes(number);
        if self.feeds.len() == FEEDS {
            self.feeds.pop_front();
            self.dropped += 1;
        }
        self.feeds.push_back((number, ticks));
        self.answer(Errand::Feed(number), at, caused);
    }

    /// The quotes of a round, in the order of symbols, each symbol once. Empty when it was given up.
    pub(super) fn take_feed(&mut self, number: u64) -> Vec<Tick> {
        let place = self.feeds.iter().position(|feed| feed.0 == number);
        place.and_then(|place| self.feeds.remove(place)).map(|feed| feed.1).unwrap_or_default()
    }

    /// A transaction of this worker ended; what waited for that is due.
    pub(super) fn count_ending(&mut self, at: Nanos, caused: &mut Vec<Caused>) {
        self.endings += 1;
        while self.queue.front().is_some_and(|due| due.0 <= self.endings) {
            if let Some((_, errand)) = self.queue.pop_front() {
                caused.push(Caused { due: at, payload: errand.payload() });
            }
        }
    }

    /// Everything that is remembered, counted.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        let quotes: usize = self.feeds.iter().map(|feed| feed.1.len()).sum();
        self.queue.len() + self.fills.len() + self.waiting.len() + quotes
    }

    fn answer(&mut self, errand: Errand, at: Nanos, caused: &mut Vec<Caused>) {
        match self.market {
            Market::ByCount => self.queue.push_back((self.endings + ENDINGS_TO_ANSWER, errand)),
            Market::ByTime => {
                let wait = Draws::new(self.seed, Purpose::Delay, errand.payload()).between(2_000, 50_000);
                caused.push(Caused { due: at + Nanos::from_micros(wait as u64), payload: errand.payload() });
            }
        }
    }

    /// The symbols of the fills since the last round, and others: those of waiting orders when many wait, else drawn ones.
    fn quotes(&mut self, number: u64) -> Vec<Tick> {
        let mut ticks: Vec<Tick> = Vec::with_capacity(QUOTES);
        for fill in self.fills.drain(..) {
            match ticks.iter_mut().find(|tick| tick.symbol == fill.symbol) {
                Some(tick) => tick.volume += fill.volume,
                None => ticks.push(fill),
            }
        }
        let crowded = self.waiting.len() > (self.scale.securities() as usize / 8).clamp(8, REMEMBERED / 2);
        for _ in 0..if crowded { self.waiting.len() } else { 0 } {
            // Who waited longest is asked first, and then last.
            self.waiting.rotate_left(1);
            if let Some(symbol) = self.waiting.back() {
                quote(&mut ticks, symbol.clone());
            }
        }
        let mut draws = Draws::new(self.seed, Purpose::Quotes, number).on(self.half);
        (0..2 * QUOTES).for_each(|_| quote(&mut ticks, draws.symbol(&self.scale)));
        ticks.sort_by(|one, other| one.symbol.cmp(&other.symbol));
        ticks
    }
}

/// Adds a symbol without a trade, unless the round is full or has it.
fn quote(ticks: &mut Vec<Tick>, symbol: String) {
    if ticks.len() < QUOTES && ticks.iter().all(|tick| tick.symbol != symbol) {
        ticks.push(Tick { symbol, volume: 0 });
    }
}
