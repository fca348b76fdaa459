//! Scripts as a workload of transactions.
//!
//! The one idea: a slot is a client of pgbench. It keeps its variables from transaction to transaction; one run of a
//! script is one transaction, and a run that is tried again has the draws and the variables that it had at its start.
//! Each statement is a batch of its own, except in a pipeline, and except that statements joined by `\;` travel together.
//!
//! What it does not do: it never stops a client. pgbench gives up a client whose expression has no value; here that
//! transaction has failed, and the next begins.

use super::fault::Fault;
use super::program::Program;
use super::random::{Draws, Laws};
use super::run::{Columns, Run};
use super::scalar::{Held, Scalar, Variables};
use crate::kind::numbers::share_at;
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step};
use random::{below, mix};
use std::sync::Arc;
use units::Nanos;

/// One worker's share of the clients.
#[derive(Clone, Debug)]
pub struct Scripts {
    pub(super) program: Arc<Program>,
    seed: u64,
    weight: u64,
    pub(super) clients: Vec<Client>,
    laws: Laws,
    /// For each command that keeps answers: the columns of the last one, and the variables that they set.
    columns: Vec<Option<Columns>>,
}

#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) variables: Variables,
    /// What the variables were when the run began that the script may change.
    before: Vec<Held>,
    script: usize,
    pub(super) next: usize,
    n: u64,
    pub(super) draws: Draws,
    /// The command whose answers are awaited.
    pub(super) awaited: Option<usize>,
    pub(super) pipeline: bool,
    /// Calls of a pipeline that was interrupted by a pause.
    pub(super) waiting: Batch,
    pub(super) rolled_back: bool,
    complaint: Option<(usize, Fault)>,
}

impl Scripts {
    /// One client a slot; `clients` are their numbers among all clients (`:client_id`).
    pub fn new(program: Arc<Program>, seed: u64, clients: impl IntoIterator<Item = u64>) -> Scripts {
        let weight = program.scripts.iter().map(|script| u64::from(script.weight)).sum();
        let clients = clients.into_iter().map(|number| Client::new(&program, seed, number)).collect();
        let columns = vec![None; usize::from(program.keeps)];
        Scripts { program, seed, weight, clients, laws: Laws::default(), columns }
    }

    /// Which script an arrival runs.
    fn drawn(&self, n: u64) -> usize {
        if self.program.scripts.len() == 1 {
            return 0;
        }
        let drawn = below(mix(mix(self.seed ^ 0x0c1a_55e5).wrapping_add(mix(n))), self.weight);
        share_at(drawn, self.program.scripts.iter().map(|script| u64::from(script.weight))).unwrap_or(0)
    }
}

impl Business for Scripts {
    fn class(&mut self, n: u64, _payload: u64) -> u16 {
        self.drawn(n) as u16
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let script = self.drawn(begun.n);
        let client = &mut self.clients[slot as usize];
        client.script = script;
        client.n = begun.n;
        let writes = &self.program.scripts[script].writes;
        client.before.resize(writes.len(), Held::Nothing);
        for (before, variable) in client.before.iter_mut().zip(writes) {
            before.clone_from(&client.variables.0[usize::from(*variable)]);
        }
        client.rewind(self.seed);
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        let client = &mut self.clients[slot as usize];
        let program = &*self.program;
        let script = &program.scripts[client.script];
        if !client.waiting.is_empty() {
            std::mem::swap(batch, &mut client.waiting);
        }
        let mut run = Run { program, client, laws: &mut self.laws, columns: &mut self.columns, batch };
        run.on(script, answers).unwrap_or_else(|complaint| {
            batch.clear();
            client.complaint = Some(complaint);
            Step::Fail
        })
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let client = &mut self.clients[slot as usize];
        let (at, fault) = client.complaint.take()?;
        let script = &self.program.scripts[client.script];
        let line = script.commands.get(at).or(script.commands.last()).map_or(1, |command| command.place.line);
        let text = match fault {
            Fault::Undefined(variable) => format!(
                "undefined variable \"{name}\"; set it with \\set before, or define {name}",
                name = self.program.names.name(variable)
            ),
            fault => fault.to_string(),
        };
        Some(format!("{}:{line}: {text}", script.name))
    }

    fn restart(&mut self, slot: u32) {
        let client = &mut self.clients[slot as usize];
        for (before, variable) in client.before.iter().zip(&self.program.scripts[client.script].writes) {
            client.variables.0[usize::from(*variable)].clone_from(before);
        }
        client.rewind(self.seed);
    }

    fn ended(&mut self, _slot: u32, _ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {}
}

impl Client {
    fn new(program: &Program, seed: u64, number: u64) -> Client {
        let mut variables = Variables(program.defined.clone());
        // In the order of the names that are given.
        let given = [i64::from(program.scale), number as i64, seed as i64, mix(seed ^ 0xde_fa17) as i64];
        for (variable, value) in (0..).zip(given) {
            if variables.0[usize::from(variable)] == Held::Nothing {
                variables.set(variable, Scalar::Int(value));
            }
        }
        Client {
            variables,
            before: Vec::new(),
            script: 0,
            next: 0,
            n: 0,
            draws: Draws::of(seed, 0),
            awaited: None,
            pipeline: false,
            waiting: Batch::default(),
            rolled_back: false,
            complaint: None,
        }
    }

    fn rewind(&mut self, seed: u64) {
        self.next = 0;
        self.draws = Draws::of(seed, self.n);
        self.awaited = None;
        self.pipeline = false;
        self.waiting.clear();
        self.rolled_back = false;
        self.complaint = None;
    }
}
