//! A run of a script between two steps.
//!
//! The one idea: instructions are carried out one after the other until something has to be sent or awaited; what is left
//! for later lies in the client.

use super::command::{Amount, Bound, Keep, Unit};
use super::evaluate::Context;
use super::fault::Fault;
use super::names::is_name;
use super::program::{Instruction, Program, Send, What};
use super::random::Laws;
use super::scalar::{Held, Scalar, Variables};
use super::scripts::Client;
use super::substitute::Parameter;
use crate::transaction::{Answers, Batch, Names, Step, Value};
use units::Nanos;

/// What the columns of an answer are called, and the variables that they set.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    names: Names,
    variables: Vec<Option<u16>>,
}

/// A client with what its run needs.
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) client: &'a mut Client,
    pub(super) laws: &'a mut Laws,
    pub(super) columns: &'a mut [Option<Columns>],
    pub(super) batch: &'a mut Batch,
}

impl Run<'_> {
    /// Goes on until something has to be sent or awaited.
    pub(super) fn on(&mut self, steps: &[Instruction], answers: &Answers) -> Result<Step, (usize, Fault)> {
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
        if let Some(bound) = send.bound {
            self.client.rolled_back = bound == Bound::Rollback;
        }
        match send.bound {
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
        Ok(Step::Sleep(Nanos(amount.saturating_mul(unit.1))))
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
