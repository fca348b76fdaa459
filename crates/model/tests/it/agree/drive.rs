//! The load of a question on the machine of a model, in virtual time.

use super::draw::{Load, Question};
use model::Setting;
use model::file::Description;
use model::machine::{Machine, TRANSACTION};
use random::Draws;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::{Bytes, Nanos};
use workload::Operation;
use workload::block::Generator;

/// What is asked for next.
enum Next {
    /// Transactions are all alike.
    Transaction,
    /// Operations; the number of those so far.
    Operation(Box<Generator>, u32, u32, u32),
}

impl Next {
    fn of(question: &Question) -> Next {
        let Question { modules, module_bytes, slots, seed, .. } = *question;
        let Some(spec) = &question.spec else { return Next::Transaction };
        let made = Generator::new(spec, modules, Bytes(module_bytes), seed, 0, 1);
        Next::Operation(Box::new(made.unwrap_or_else(|error| panic!("{error}"))), modules, slots, 0)
    }

    /// As the engine deals them out: a slot has a module where there are enough of them, else operations go round.
    fn draw(&mut self, slot: u32) -> Operation {
        let Next::Operation(generator, modules, slots, count) = self else { return TRANSACTION };
        *count = count.wrapping_add(1);
        generator.next(if slots >= modules { slot } else { *count - 1 } % *modules)
    }
}

/// Those who wait to come, and those who wait for a slot.
struct Crowd {
    load: Load,
    draws: Draws,
    coming: BinaryHeap<Reverse<u64>>,
    waiting: VecDeque<u64>,
    free: Vec<u32>,
    /// When who is in a slot came.
    came: Vec<u64>,
}

impl Crowd {
    fn of(question: &Question) -> Crowd {
        let mut crowd = Crowd {
            load: question.load,
            draws: Draws::numbered(question.seed, 77),
            coming: BinaryHeap::new(),
            waiting: VecDeque::new(),
            free: (0..question.slots).rev().collect(),
            came: vec![0; question.slots as usize],
        };
        let first = if let Load::Closed { population, .. } = question.load { population } else { 1 };
        (0..first).for_each(|_| crowd.think(0));
        crowd
    }

    /// Somebody will come again, after he thought or as the next who arrives.
    fn think(&mut self, now: u64) {
        let mean_s = match self.load {
            Load::Closed { think_s, .. } if think_s <= 0.0 => 0.0,
            Load::Closed { think_s, .. } => think_s,
            Load::Open { per_s } => 1.0 / per_s,
        };
        let after = if mean_s > 0.0 { mean_s * self.draws.exponential() } else { 0.0 };
        self.coming.push(Reverse(now + (1e9 * after) as u64));
    }

    fn submit(&mut self, now: u64, machine: &mut dyn Machine, next: &mut Next) {
        while let Some(came) = self.coming.peek().map(|first| first.0).filter(|came| *came <= now) {
            self.coming.pop();
            self.waiting.push_back(came);
            if let Load::Open { .. } = self.load {
                self.think(came);
            }
        }
        while let (Some(came), Some(slot)) = (self.waiting.front().copied(), self.free.last().copied()) {
            self.waiting.pop_front();
            self.free.pop();
            self.came[slot as usize] = came;
            machine.submit(Nanos(now), slot, &next.draw(slot));
        }
    }
}

/// What ended a second in the window, and its mean response in milliseconds.
pub(crate) fn drive(model: &Description, question: &Question) -> [f64; 2] {
    let Question { modules, module_bytes, slots, seed, .. } = *question;
    let customers = question.row.number("customers").map(|customers| customers as u64);
    let setting = Setting { modules, slots, seed, module_bytes, customers, ..Setting::default() };
    let mut machine = model::machine(model, &setting).unwrap_or_else(|error| panic!("{}: {error}", model.name));
    let (mut crowd, mut next) = (Crowd::of(question), Next::of(question));
    let start = (1e9 * question.warm_up_s) as u64;
    let end = start + (1e9 * question.window_s) as u64;
    let (mut now, mut done, mut sum_ns, mut ended) = (0, 0u64, 0u64, Vec::new());
    while now < end {
        crowd.submit(now, &mut *machine, &mut next);
        let until = crowd.coming.peek().map_or(end, |first| first.0.min(end));
        now = machine.advance(Nanos(until), &mut ended).0;
        for one in ended.drain(..) {
            if one.at.0 > start {
                done += 1;
                sum_ns += one.at.0 - crowd.came[one.slot as usize] - machine.outside(one.slot).0;
            }
            crowd.free.push(one.slot);
            if let Load::Closed { .. } = crowd.load {
                crowd.think(one.at.0);
            }
        }
    }
    [done as f64 / question.window_s, sum_ns as f64 / 1e6 / done.max(1) as f64]
}
