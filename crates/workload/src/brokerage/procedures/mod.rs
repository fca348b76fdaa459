//! The transactions as stored procedures, for engines that have them.
//!
//! The one idea: each class of transactions is one procedure. Its SQL is that of the statements and its course is written
//! once, for both languages; the generator draws its inputs as ever, sends one call, and hears what was read and what came of it.
//!
//! What it does not do: it makes no procedure in a database, and the clean-up before a run stays a matter of statements.

mod body;
mod feed;
mod fill;
mod heard;
mod maintenance;
mod old;
mod order;
mod reads;

pub(super) use feed::{DIGITS, SYMBOL};
pub(super) use heard::outcomes;
pub(super) use maintenance::names;

use super::Preset;
use super::mix::{Class, parts};
use crate::dataset::{Definition, Language, Procedures};
use crate::transaction::Statement;
use body::Body;

/// The procedures of a preset, in the order of its classes.
pub fn definitions(preset: Preset, language: Language) -> Vec<Definition> {
    classes(preset).map(|class| definition(class, preset, language)).collect()
}

/// The calls of the procedures: what [`Brokerage`](super::Brokerage) calls in the mode of procedures.
pub fn calls(preset: Preset, language: Language) -> Vec<Statement> {
    let call = |class: Class| {
        let count = procedure(class, preset, language).parameters.len();
        let marks: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
        let (name, marks) = (name(class), marks.join(", "));
        let sql = language.of(format!("select heard from {name}({marks}) as heard"), format!("call {name}({marks})"));
        Statement { name: format!("{}: call", class.word()), sql, rows: true }
    };
    classes(preset).map(call).collect()
}

/// All of a preset, with a word that changes when one of them does.
pub fn procedures(preset: Preset, language: Language) -> Procedures {
    let definitions = definitions(preset, language);
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let bytes = definitions.iter().flat_map(|one| one.create.bytes());
    let version = format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, mix));
    Procedures { version, definitions }
}

fn classes(preset: Preset) -> impl Iterator<Item = Class> {
    parts(preset).iter().map(|part| part.0)
}

fn name(class: Class) -> String {
    class.word().replace('-', "_")
}

fn procedure(class: Class, preset: Preset, language: Language) -> Body {
    let mut body = Body::new(language, preset);
    let course = match class {
        Class::Order => order::order,
        Class::Result => fill::fill,
        Class::Feed => feed::feed,
        Class::Lookup => old::lookup,
        Class::Update => old::update,
        Class::Status => reads::status,
        Class::Position => reads::position,
        Class::Watch => reads::watch,
        Class::Detail => reads::detail,
        Class::Volume => reads::volume,
        Class::Maintenance => maintenance::maintenance,
    };
    course(&mut body);
    body
}

fn definition(class: Class, preset: Preset, language: Language) -> Definition {
    let name = name(class);
    let body = procedure(class, preset, language);
    let list: Vec<String> =
        body.parameters.iter().map(|(name, kind)| format!("{name} {}", language.kind(*kind))).collect();
    let (list, body) = (list.join(", "), body.written());
    let drop = format!("drop {} if exists {name}", language.of("function", "procedure"));
    let create = language.of(
        format!("create function {name}({list}) returns setof text language plpgsql as $body$\n{body}\n$body$"),
        format!("create procedure {name}({list}) modifies sql data sql security invoker\n{body}"),
    );
    Definition { name, drop, create }
}
