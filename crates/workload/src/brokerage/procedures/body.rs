//! The body of a procedure, written step by step.
//!
//! The one idea: a transaction's course is said once, in Rust, and each word becomes a line of PL/pgSQL or of SQL/PSM; the
//! SQL is that of the statements, with variables in the place of parameters. What a statement reads is handed back in the
//! order of reading, as lines of fields that begin with the statement's place.
//!
//! What it does not do: it computes nothing itself.

use super::super::statements::statements;
use super::columns;
use super::language::Kind;
use crate::brokerage::Preset;
use crate::dataset::Language;
use crate::transaction::Statement;
use crate::transaction::texts::Place;

/// Letters of a number in a list of records, with zeros before it.
pub(super) const NUMBER: usize = 19;

/// The variable that gathers what was read, until it is told.
const HEARD: &str = "v_heard";

/// A body under way.
pub(super) struct Body {
    pub(super) language: Language,
    pub(super) house: bool,
    statements: Vec<Statement>,
    /// What it is handed, by name.
    pub(super) parameters: Vec<(String, Kind)>,
    variables: Vec<(String, Kind)>,
    lines: Vec<String>,
    loops: usize,
    depth: usize,
}

impl Body {
    pub(super) fn new(language: Language, preset: Preset) -> Body {
        Body {
            language,
            house: preset == Preset::House,
            statements: statements(preset),
            parameters: Vec::new(),
            variables: vec![(HEARD.to_owned(), Kind::Long)],
            lines: Vec::new(),
            loops: 0,
            depth: 1,
        }
    }

    /// Parameters, with a blank between.
    pub(super) fn takes(&mut self, kind: Kind, names: &str) {
        self.parameters.extend(names.split(' ').map(|name| (name.to_owned(), kind)));
    }

    /// Variables, with a blank between; lists begin empty.
    pub(super) fn holds(&mut self, kind: Kind, names: &str) {
        self.variables.extend(names.split(' ').map(|name| (name.to_owned(), kind)));
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "  ".repeat(self.depth), text.as_ref()));
    }

    fn inside(&mut self, what: impl FnOnce(&mut Body)) {
        self.depth += 1;
        what(self);
        self.depth -= 1;
    }

    pub(super) fn set(&mut self, variable: &str, value: impl AsRef<str>) {
        let value = value.as_ref();
        self.line(self.language.of(format!("{variable} := {value};"), format!("set {variable} = {value};")));
    }

    pub(super) fn when(&mut self, condition: impl AsRef<str>, then: impl FnOnce(&mut Body)) {
        self.line(format!("if {} then", condition.as_ref()));
        self.inside(then);
        self.line("end if;");
    }

    pub(super) fn choose(
        &mut self,
        condition: impl AsRef<str>,
        then: impl FnOnce(&mut Body),
        otherwise: impl FnOnce(&mut Body),
    ) {
        self.line(format!("if {} then", condition.as_ref()));
        self.inside(then);
        self.line("else");
        self.inside(otherwise);
        self.line("end if;");
    }

    pub(super) fn repeat(&mut self, condition: impl AsRef<str>, what: impl FnOnce(&mut Body)) {
        let (begins, ends) = self.language.of(("loop", "end loop;"), ("do", "end while;"));
        self.line(format!("while {} {begins}", condition.as_ref()));
        self.inside(what);
        self.line(ends);
    }

    /// A function of PostgreSQL is inside of its caller's transaction; here a procedure begins its own.
    pub(super) fn begin(&mut self) {
        if self.language == Language::Mariadb {
            self.line("start transaction;");
        }
    }

    pub(super) fn commit(&mut self) {
        if self.language == Language::Mariadb {
            self.line("commit;");
        }
    }

    pub(super) fn commit_if(&mut self, condition: &str) {
        if self.language == Language::Mariadb {
            self.when(condition, Body::commit);
        }
    }

    /// Carries out a statement that gives back nothing.
    pub(super) fn say(&mut self, statement: impl Place, arguments: &[&str]) {
        let (_, sql) = self.written_out(statement, arguments);
        self.line(format!("{sql};"));
    }

    /// The place of a statement, and its text with these in the place of its parameters.
    fn written_out(&self, statement: impl Place, arguments: &[&str]) -> (u16, String) {
        let place = statement.place();
        (place, columns::with(&self.statements[usize::from(place)].sql, arguments))
    }

    /// Reads one row, or nothing into all of the variables; the first column is never null.
    pub(super) fn read(&mut self, statement: impl Place, arguments: &[&str], into: &[&str]) {
        let (place, sql) = self.written_out(statement, arguments);
        let (list, rest) = columns::split(&sql);
        debug_assert_eq!(list.len(), into.len(), "{sql}");
        if self.language == Language::Mariadb {
            // A row that is not there leaves variables as they are.
            let empty: Vec<String> = into.iter().map(|variable| format!("{variable} = null")).collect();
            self.line(format!("set {};", empty.join(", ")));
        }
        self.line(format!("select {} into {} {rest};", list.join(", "), into.join(", ")));
        self.when(format!("{} is not null", into[0]), |body| body.note(&place.to_string(), into));
    }

    /// Reads rows one after the other.
    pub(super) fn each(
        &mut self,
        statement: impl Place,
        arguments: &[&str],
        into: &[&str],
        what: impl FnOnce(&mut Body),
    ) {
        let (place, sql) = self.written_out(statement, arguments);
        let (list, rest) = columns::split(&sql);
        debug_assert_eq!(list.len(), into.len(), "{sql}");
        self.loops += 1;
        let row = format!("v_row{}", self.loops);
        match self.language {
            Language::Postgres => self.line(format!("for {} in {sql} loop", into.join(", "))),
            Language::Mariadb => {
                let named: Vec<String> = list.iter().zip(1..).map(|(item, n)| format!("{item} as c{n}")).collect();
                self.line(format!("for {row} in (select {} {rest}) do", named.join(", ")));
            }
        }
        self.inside(|body| {
            if body.language == Language::Mariadb {
                let taken: Vec<String> = into.iter().zip(1..).map(|(name, n)| format!("{name} = {row}.c{n}")).collect();
                body.line(format!("set {};", taken.join(", ")));
            }
            body.note(&place.to_string(), into);
            what(body);
        });
        self.line(self.language.of("end loop;", "end for;"));
    }

    /// Hands all rows of a statement back.
    pub(super) fn give(&mut self, statement: impl Place, arguments: &[&str]) {
        let (place, sql) = self.written_out(statement, arguments);
        let (list, rest) = columns::split(&sql);
        let fields: Vec<String> = list.iter().map(|item| self.language.shown(item)).collect();
        let (between, fields) = (self.language.between_fields(), fields.join(", "));
        let begins = self.language.of("return query select", "select");
        self.line(format!("{begins} concat_ws({between}, '{place}', {fields}) as heard {rest};"));
    }

    /// What the exchange and the ledger need to know.
    pub(super) fn outcome(&mut self, values: &[&str]) {
        self.note("-", values);
    }

    fn note(&mut self, mark: &str, values: &[&str]) {
        let language = self.language;
        let fields: Vec<String> = values.iter().map(|value| language.shown(value)).collect();
        let (between, behind) = (language.between_fields(), language.behind_row());
        let row = format!("concat_ws({between}, '{mark}', {})", fields.join(", "));
        self.set(HEARD, format!("concat({HEARD}, {row}, {behind})"));
    }

    /// Hands back what was read one by one so far.
    pub(super) fn tell(&mut self) {
        self.when(format!("{HEARD} <> ''"), |body| {
            body.line(body.language.of(format!("return next {HEARD};"), format!("select {HEARD} as heard;")));
            body.set(HEARD, "''");
        });
    }

    /// The whole body with its declarations.
    pub(super) fn written(self) -> String {
        let (declare, empty) = self.language.of(("", " := ''"), ("declare ", " default ''"));
        let declared = |(name, kind): &(String, Kind)| {
            format!("  {declare}{name} {}{};", self.language.kind(*kind), if *kind == Kind::Long { empty } else { "" })
        };
        let declared = self.variables.iter().map(declared).collect::<Vec<_>>().join("\n");
        let lines = self.lines.join("\n");
        let (before, between) = self.language.of(("declare", "\nbegin"), ("begin", ""));
        format!("{before}\n{declared}{between}\n{lines}\nend")
    }
}
