//! A run of a script between two steps.
//!
//! The one idea: commands are carried out one after the other until something has to be sent or awaited; what is left
//! for later lies in the client.

use super::command::{Action, Amount, Bound, Command, Keep, Part, Unit};
use super::evaluate::Context;
use super::fault::Fault;
use super::names::is_name;
use super::program::{Compiled, Program};
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
    pub(super) fn on(&mut self, script: &Compiled, answers: &Answers) -> Result<Step, (usize, Fault)> {
        if let Some(at) = self.client.awaited.take() {
            self.keep(&script.commands[at], answers).map_err(|fault| (at, fault))?;
        }
        while self.client.next < script.commands.len() {
            let at = self.client.next;
            self.client.next += 1;
            // A condition goes on to its branches.
            if let Some(step) = self.carry_out(script, at).map_err(|fault| (self.client.next - 1, fault))? {
                return Ok(step);
            }
        }
        match self.client.pipeline {
            true => Err((script.commands.len(), Fault::OpenPipeline)),
            false => Ok(Step::Done { rolled_back: self.client.rolled_back }),
        }
    }

    #[inline]
    fn carry_out(&mut self, script: &Compiled, at: usize) -> Result<Option<Step>, Fault> {
        let action = &script.commands[at].action;
        match action {
            Action::Set { variable, expression } => {
                let value = self.context().value(expression)?;
                self.client.variables.set(*variable, value);
            }
            Action::If(_) => self.branch(script, at)?,
            Action::Elif(_) | Action::Else => {
                // The branch before this one was gone through.
                let ends = std::iter::successors(Some(at), |at| Some(script.branches[*at]));
                let mut ends = ends.skip_while(|at| !matches!(script.commands[*at].action, Action::Endif));
                self.client.next = ends.next().unwrap_or(at) + 1;
            }
            Action::Endif => {}
            Action::Sql { parts, keep, first } => {
                if keep.is_some() && self.client.pipeline {
                    return Err(Fault::GetInPipeline);
                }
                (*first..).zip(parts).for_each(|(statement, part)| self.call(statement, part));
                if !self.client.pipeline {
                    self.client.awaited = keep.as_ref().map(|_| at);
                    return Ok(Some(Step::Send));
                }
            }
            Action::Sleep { amount, unit } => return self.sleep(amount, *unit).map(Some),
            Action::StartPipeline if self.client.pipeline => return Err(Fault::InPipeline),
            Action::StartPipeline => self.client.pipeline = true,
            Action::SyncPipeline | Action::EndPipeline if !self.client.pipeline => return Err(Fault::NoPipeline),
            Action::SyncPipeline | Action::EndPipeline => {
                self.client.pipeline = matches!(action, Action::SyncPipeline);
                return Ok((!self.batch.is_empty()).then_some(Step::Send));
            }
        }
        Ok(None)
    }

    /// Goes into the first branch from this one on whose condition holds, or behind the last.
    fn branch(&mut self, script: &Compiled, mut at: usize) -> Result<(), Fault> {
        loop {
            self.client.next = at + 1;
            match &script.commands[at].action {
                Action::If(condition) | Action::Elif(condition) if !self.context().value(condition)?.holds() => {
                    at = script.branches[at];
                }
                _ => return Ok(()),
            }
        }
    }

    fn context(&mut self) -> Context<'_> {
        Context { variables: &self.client.variables, draws: &mut self.client.draws, laws: self.laws }
    }

    fn call(&mut self, statement: u16, part: &Part) {
        if let Some(bound) = part.bound {
            self.client.rolled_back = bound == Bound::Rollback;
        }
        match part.bound {
            Some(Bound::Begin) => self.batch.begin(true),
            Some(Bound::Commit) => self.batch.commit(),
            Some(Bound::Rollback) => self.batch.rollback(),
            None => {
                let (program, variables) = (self.program, &self.client.variables);
                let value = |parameter: &Parameter| parameter_value(program, variables, parameter);
                self.batch.call(statement, part.made.parameters.iter().map(value));
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
    fn keep(&mut self, command: &Command, answers: &Answers) -> Result<(), Fault> {
        let Action::Sql { keep: Some(keep), .. } = &command.action else { return Ok(()) };
        let last = answers.len().saturating_sub(1);
        let first = if keep.all { 0 } else { last };
        for index in first..=last {
            let answer = answers.get(index);
            let rows = answer.row_count();
            if !keep.all && rows != 1 {
                return Err(Fault::Rows(rows));
            }
            let Some(row) = answer.rows().last() else { continue };
            let names = answers.names(index).ok_or(Fault::Unnamed)?;
            let columns = &mut self.columns[usize::from(keep.number)];
            if columns.as_ref().is_none_or(|columns| columns.names != *names) {
                *columns = Some(resolve(self.program, names, keep)?);
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
