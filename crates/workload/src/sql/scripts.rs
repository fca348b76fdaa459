//! Scripts as a workload of transactions.
//!
//! The one idea: a slot is a client of pgbench. It keeps its variables from transaction to transaction; one run of a
//! script is one transaction, and a run that is tried again has the draws and the variables that it had at its start.
//! Each statement is a batch of its own, except in a pipeline, and except that statements joined by `\;` travel together.
//!
//! What it does not do: it never stops a client. pgbench gives up a client whose expression has no value; here that
//! transaction has failed, and the next begins.

use super::command::{Amount, Bound, Keep, Unit};
use super::evaluate::Context;
use super::fault::Fault;
use super::names::is_name;
use super::program::{Instruction, Program, Send, What};
use super::random::{Draws, Laws};
use super::scalar::Scalar;
use super::substitute::Parameter;
use super::variables::{Held, Variables};
use crate::block::draw::{below, mix};
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Names, Step, Value};
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
struct Columns {
    names: Names,
    variables: Vec<Option<u16>>,
}

#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) variables: Variables,
    /// What the variables were when the run began that the script may change.
    before: Vec<Held>,
    script: usize,
    next: usize,
    n: u64,
    draws: Draws,
    /// The command whose answers are awaited.
    awaited: Option<usize>,
    pipeline: bool,
    /// Calls of a pipeline that was interrupted by a pause.
    waiting: Batch,
    rolled_back: bool,
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
        let mut left = below(mix(mix(self.seed ^ 0x0c1a_55e5).wrapping_add(mix(n))), self.weight);
        self.program
            .scripts
            .iter()
            .position(|script| {
                let weight = u64::from(script.weight);
                let here = left < weight;
                left = left.wrapping_sub(weight);
                here
            })
            .unwrap_or(0)
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
        let steps = program.scripts[client.script].steps.as_slice();
        if !client.waiting.is_empty() {
            std::mem::swap(batch, &mut client.waiting);
        }
        let mut run = Run { program, client, laws: &mut self.laws, columns: &mut self.columns, batch };
        match run.on(steps, answers) {
            Ok(step) => step,
            Err((at, fault)) => {
                batch.clear();
                client.complaint = Some((at, fault));
                Step::Fail
            }
        }
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let client = &mut self.clients[slot as usize];
        let (at, fault) = client.complaint.take()?;
        let script = &self.program.scripts[client.script];
        let line = script.steps.get(at).or(script.steps.last()).map_or(1, |step| step.line);
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
        let own = program.own;
        let values = [
            (own.scale, i64::from(program.scale)),
            (own.client_id, number as i64),
            (own.random_seed, seed as i64),
            (own.default_seed, mix(seed ^ 0xde_fa17) as i64),
        ];
        for (variable, value) in values {
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

/// A run of a script between two steps.
struct Run<'a> {
    program: &'a Program,
    client: &'a mut Client,
    laws: &'a mut Laws,
    columns: &'a mut [Option<Columns>],
    batch: &'a mut Batch,
}

impl Run<'_> {
    /// Goes on until something has to be sent or awaited.
    fn on(&mut self, steps: &[Instruction], answers: &Answers) -> Result<Step, (usize, Fault)> {
        if let Some(at) = self.client.awaited.take() {
            self.keep(&steps[at], answers).map_err(|fault| (at, fault))?;
        }
        while let Some(step) = steps.get(self.client.next) {
            let at = self.client.next;
            self.client.next += 1;
            if let Some(step) = self.carry_out(&step.what, at).map_err(|fault| (at, fault))? {
                return Ok(step);
            }
        }
        match self.client.pipeline {
            true => Err((steps.len(), Fault::OpenPipeline)),
            false => Ok(Step::Done { rolled_back: self.client.rolled_back }),
        }
    }

    #[inline]
    fn carry_out(&mut self, what: &What, at: usize) -> Result<Option<Step>, Fault> {
        match what {
            What::Set(variable, expression) => {
                let value = self.context().value(expression)?;
                self.client.variables.set(*variable, value);
            }
            What::Unless(condition, to) => {
                if !self.context().value(condition)?.holds() {
                    self.client.next = *to as usize;
                }
            }
            What::Jump(to) => self.client.next = *to as usize,
            What::Send { calls, keep } => {
                if keep.is_some() && self.client.pipeline {
                    return Err(Fault::GetInPipeline);
                }
                calls.iter().for_each(|send| self.call(send));
                if !self.client.pipeline {
                    self.client.awaited = keep.as_ref().map(|_| at);
                    return Ok(Some(Step::Send));
                }
            }
            What::Sleep(amount, unit) => return self.sleep(amount, *unit).map(Some),
            What::StartPipeline if self.client.pipeline => return Err(Fault::InPipeline),
            What::StartPipeline => self.client.pipeline = true,
            What::SyncPipeline | What::EndPipeline if !self.client.pipeline => return Err(Fault::NoPipeline),
            What::SyncPipeline | What::EndPipeline => {
                self.client.pipeline = matches!(what, What::SyncPipeline);
                return Ok((!self.batch.is_empty()).then_some(Step::Send));
            }
        }
        Ok(None)
    }

    fn context(&mut self) -> Context<'_> {
        Context { variables: &self.client.variables, draws: &mut self.client.draws, laws: self.laws }
    }

    fn call(&mut self, send: &Send) {
        match send.bound {
            Some(Bound::Rollback) => self.client.rolled_back = true,
            Some(Bound::Begin | Bound::Commit) => self.client.rolled_back = false,
            None => {}
        }
        match send.bound.filter(|_| send.as_call) {
            Some(Bound::Begin) => self.batch.begin(true),
            Some(Bound::Commit) => self.batch.commit(),
            Some(Bound::Rollback) => self.batch.rollback(),
            None => {
                let (program, variables) = (self.program, &self.client.variables);
                let value = |parameter: &Parameter| parameter_value(program, variables, parameter);
                self.batch.call(send.statement, send.parameters.iter().map(value));
            }
        }
    }

    /// The pause. What a pipeline holds already stays here meanwhile, because a pause has no batch.
    fn sleep(&mut self, amount: &Amount, unit: Unit) -> Result<Step, Fault> {
        let amount = match amount {
            Amount::Fixed(amount) => *amount,
            Amount::Variable(variable) => {
                let text = self.client.variables.text(*variable).ok_or(Fault::Undefined(*variable))?;
                leading_number(&text).ok_or_else(|| Fault::Sleep(text.into()))?
            }
        };
        std::mem::swap(self.batch, &mut self.client.waiting);
        let amount = u64::try_from(amount).unwrap_or(0);
        Ok(Step::Sleep(Nanos(amount.saturating_mul(unit.nanoseconds()))))
    }

    /// Makes variables of the answers.
    fn keep(&mut self, step: &Instruction, answers: &Answers) -> Result<(), Fault> {
        let What::Send { keep: Some(kept), .. } = &step.what else { return Ok(()) };
        let last = answers.len().saturating_sub(1);
        let first = if kept.keep.all { 0 } else { last };
        for index in first..=last {
            let answer = answers.get(index);
            let rows = answer.row_count();
            if !kept.keep.all && rows != 1 {
                return Err(Fault::Rows(rows));
            }
            let Some(row) = answer.rows().last() else { continue };
            let names = answers.names(index).ok_or(Fault::Unnamed)?;
            let columns = &mut self.columns[usize::from(kept.number)];
            if columns.as_ref().is_none_or(|columns| columns.names != *names) {
                *columns = Some(resolve(self.program, names, &kept.keep)?);
            }
            let variables = columns.iter().flat_map(|columns| &columns.variables);
            for (variable, value) in variables.zip(row) {
                if let Some(variable) = variable {
                    self.client.variables.0[usize::from(*variable)] = held(value);
                }
            }
        }
        Ok(())
    }
}

/// Which variables the columns set. A name that no script reads has none.
fn resolve(program: &Program, names: &Names, keep: &Keep) -> Result<Columns, Fault> {
    let variable = |column: &String| {
        let name = format!("{}{column}", keep.prefix);
        if is_name(&name) { Ok(program.names.find(&name)) } else { Err(Fault::Name(name.into())) }
    };
    Ok(Columns { variables: names.iter().map(variable).collect::<Result<_, _>>()?, names: names.clone() })
}

/// A field as a variable. A missing one is an empty text, as in pgbench.
fn held(value: &Value) -> Held {
    match value {
        Value::Null => Held::Text(String::new()),
        Value::Int(number) => Held::Scalar(Scalar::Int(*number)),
        Value::Float(number) => Held::Text(number.to_string()),
        Value::Text(text) => Held::Text(text.clone()),
    }
}

#[inline]
fn parameter_value(program: &Program, variables: &Variables, parameter: &Parameter) -> Value {
    match parameter {
        Parameter::Literal(text) => Value::Text(text.clone()),
        Parameter::Variable(variable) => match variables.value(*variable) {
            Value::Null if program.textual => Value::Text(format!(":{}", program.names.name(*variable))),
            value => value,
        },
    }
}

/// The number that a text begins with, as C's `atoi` reads it; none when it begins with something else.
fn leading_number(text: &str) -> Option<i64> {
    let digits = text.trim_start().strip_prefix(['+', '-']).unwrap_or(text.trim_start());
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    let number: i64 = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(i64::MAX) };
    if number == 0 && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some(if text.trim_start().starts_with('-') { -number } else { number })
}
