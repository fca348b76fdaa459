//! Questions drawn at random, as a row for the closed form and as a load for the simulation.

use model::file::Description;
use model::kind::Reach;
use model::rows::Row;
use random::Draws;
use std::collections::BTreeMap;
use units::{Bytes, Share};
use workload::block::{DataShape, Offsets, Pattern, Spec, Transfer};

/// How work comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    /// So many who think exponential times between two of their own.
    Closed { population: u32, think_s: f64 },
    /// So many a second, at random.
    Open { per_s: f64 },
}

/// A question in both forms.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) row: Row,
    pub(crate) load: Load,
    pub(crate) slots: u32,
    pub(crate) modules: u32,
    pub(crate) module_bytes: u64,
    /// None of transactions.
    pub(crate) spec: Option<Spec>,
    pub(crate) warm_up_s: f64,
    pub(crate) window_s: f64,
    pub(crate) seed: u64,
}

fn one<T: Copy>(draws: &mut Draws, of: &[T]) -> T {
    of[draws.below(of.len() as u64) as usize]
}

impl Question {
    /// A question of which about so many operations are simulated, if the closed form is right about the rate.
    pub(crate) fn draw(model: &Description, draws: &mut Draws, operations: f64) -> Question {
        let (mut row, transactions) = (Row::default(), model::transactions(model));
        let mut question =
            if transactions { sessions(model, draws, &mut row) } else { outstanding(model, draws, &mut row) };
        let quantity = if transactions { "throughput" } else { "rate" };
        row.cells.insert("window".to_owned(), "60 seconds".to_owned());
        let counted = model.counted(quantity);
        let most = model.answer(&row, quantity).unwrap_or(1e3) / counted;
        question.come(draws, &mut row, most);
        let per_s = match question.load {
            Load::Open { per_s } => per_s,
            Load::Closed { population, think_s } => most.min(f64::from(population) / think_s),
        };
        // Whole milliseconds, as a study says them.
        question.window_s = ((1e3 * operations / per_s).ceil() / 1e3).max(0.01);
        question.warm_up_s = (1e3 * question.window_s * one(draws, &[0.1, 0.2, 1.0])).ceil() / 1e3;
        row.cells.insert("window".to_owned(), format!("{} seconds", question.window_s));
        row.cells.insert("warm_up_s".to_owned(), question.warm_up_s.to_string());
        Question { row, seed: draws.below(1 << 32), ..question }
    }

    /// Half of all loads are so many at once and no more.
    fn come(&mut self, draws: &mut Draws, row: &mut Row, most: f64) {
        let mut set = |column: &str, text: String| row.cells.insert(column.to_owned(), text);
        match draws.below(4) {
            0 => {
                let (population, think_s) = (self.slots * (1 + draws.below(4) as u32), f64::from(self.slots) / most);
                let think_s = (1e5 * think_s * (0.2 + 4.0 * draws.uniform())).ceil() / 1e5;
                set("population", population.to_string());
                set("think_ms", (1e3 * think_s).to_string());
                self.load = Load::Closed { population, think_s };
            }
            1 => {
                let per_s = (most * (0.1 + 0.75 * draws.uniform())).ceil();
                set("arrivals_per_s", per_s.to_string());
                set("arrivals", "poisson".to_owned());
                self.load = Load::Open { per_s };
            }
            _ => {}
        }
    }

    fn at_once(slots: u32) -> Question {
        Question {
            row: Row::default(),
            load: Load::Closed { population: slots, think_s: 0.0 },
            slots,
            modules: 1,
            module_bytes: 1 << 30,
            spec: None,
            warm_up_s: 0.0,
            window_s: 0.0,
            seed: 0,
        }
    }
}

fn sessions(model: &Description, draws: &mut Draws, row: &mut Row) -> Question {
    let sessions = 1 << draws.below(8);
    row.cells.insert("threads".to_owned(), sessions.to_string());
    if model.reach("customers") == Reach::Answered && draws.chance(0.5) {
        row.cells.insert("customers".to_owned(), one(draws, &[1_000, 6_000, 20_000]).to_string());
    }
    Question::at_once(sessions)
}

fn outstanding(model: &Description, draws: &mut Draws, row: &mut Row) -> Question {
    let most = model::modules(model).unwrap_or(1).min(8);
    let modules = 1 + draws.below(u64::from(most)) as u32;
    // Half of all are so many for each module, and half any number.
    let each = 1 << draws.below(7);
    let slots = if draws.chance(0.5) { modules * each } else { each };
    let kb = one(draws, &[4, 8, 64, 256, 1_024, 4_096]);
    let read = one(draws, &[1.0, 1.0, 0.7, 0.0]);
    let pattern = one(draws, &[Pattern::Random, Pattern::Random, Pattern::Random, Pattern::Sequential]);
    let shift_kb = if model.kind.word() == "flash-array" && draws.chance(0.3) { 2 } else { 0 };
    let holds = model::module_bytes(model);
    let module_bytes = if draws.chance(0.2) { 4 << 30 } else { holds.unwrap_or(1 << 30) };
    let mix = match (100.0 * read) as u32 {
        100 => "read".to_owned(),
        0 => "write".to_owned(),
        mixed => format!("rw{mixed}"),
    };
    let order = if pattern == Pattern::Sequential { "seq" } else { "random" };
    let mut cells = BTreeMap::from([
        ("test".to_owned(), format!("{order}_{mix}")),
        ("op".to_owned(), mix),
        ("transfer_kb".to_owned(), kb.to_string()),
        ("modules".to_owned(), modules.to_string()),
        ("outstanding".to_owned(), slots.to_string()),
        ("module_bytes".to_owned(), module_bytes.to_string()),
    ]);
    if shift_kb > 0 {
        cells.insert("shift_kb".to_owned(), shift_kb.to_string());
    }
    row.cells.append(&mut cells);
    let spec = Spec {
        pattern,
        offsets: Offsets::Uniform,
        transfers: vec![Transfer { size: Bytes(1_024 * kb), weight: 1.0 }],
        read: Share(read),
        shift: Bytes(1_024 * shift_kb),
        write_transfers: Vec::new(),
        trims: Share(0.0),
        start: Bytes(0),
        range: Share(1.0),
        data: DataShape::default(),
    };
    Question { modules, module_bytes, spec: Some(spec), ..Question::at_once(slots) }
}
