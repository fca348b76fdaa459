//! The body of a procedure, written step by step.
//!
//! The one idea: a transaction's course is said once, in Rust, and each word becomes a line of PL/pgSQL or of SQL/PSM; the
//! SQL is that of the statements, with variables in the place of parameters. What a statement reads is handed back in the
//! order of reading, as lines of fields that begin with the statement's place.
//!
//! What it does not do: it computes nothing itself.

use super::super::statements::{Place, statements};
use super::columns;
use super::language::Kind;
use crate::brokerage::Preset;
use crate::dataset::Language;
use crate::transaction::Statement;

/// Letters of a number in a list of records, with zeros before it.
pub(super) const NUMBER: usize = 19;

/// The variable that gathers what was read, until it is told.
const HEARD: &str = "v_heard";

/// A body under way.
pub(super) struct Body {
    pub(super) language: Language,
    pub(super) house: bool,
    statements: Vec<Statement>,
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
            variables: vec![(HEARD.to_owned(), Kind::Long)],
            lines: Vec::new(),
            loops: 0,
            depth: 1,
        }
    }

    /// Variables that hold whole numbers.
    pub(super) fn ints(&mut self, names: &[&str]) {
        self.declare(names, Kind::Int);
    }

    /// Variables that hold short texts.
    pub(super) fn texts(&mut self, names: &[&str]) {
        self.declare(names, Kind::Text);
    }

    /// Variables that hold lists; they begin empty.
    pub(super) fn lists(&mut self, names: &[&str]) {
        self.declare(names, Kind::Long);
    }

    fn declare(&mut self, names: &[&str], kind: Kind) {
        self.variables.extend(names.iter().map(|name| ((*name).to_owned(), kind)));
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
        match self.language {
            Language::Postgres => self.line(format!("{variable} := {value};")),
            Language::Mariadb => self.line(format!("set {variable} = {value};")),
        }
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
        let (begins, ends) = match self.language {
            Language::Postgres => ("loop", "end loop;"),
            Language::Mariadb => ("do", "end while;"),
        };
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
        let sql = columns::with(&self.statements[usize::from(statement.place())].sql, arguments);
        self.line(format!("{sql};"));
    }

    /// Reads one row, or nothing into all of the variables; the first column is never null.
    pub(super) fn read(&mut self, statement: impl Place, arguments: &[&str], into: &[&str]) {
        let place = statement.place();
        let sql = columns::with(&self.statements[usize::from(place)].sql, arguments);
        let (list, rest) = columns::split(&sql);
        debug_assert_eq!(list.len(), into.len(), "{sql}");
        if self.language == Language::Mariadb {
            // A row that is not there leaves variables as they are.
            let empty: Vec<String> = into.iter().map(|variable| format!("{variable} = null")).collect();
            self.line(format!("set {};", empty.join(", ")));
        }
        self.line(format!("select {} into {} {rest};", list.join(", "), into.join(", ")));
        self.when(format!("{} is not null", into[0]), |body| body.hear(place, into));
    }

    /// Reads rows one after the other.
    pub(super) fn each(
        &mut self,
        statement: impl Place,
        arguments: &[&str],
        into: &[&str],
        what: impl FnOnce(&mut Body),
    ) {
        let place = statement.place();
        let sql = columns::with(&self.statements[usize::from(place)].sql, arguments);
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
            body.hear(place, into);
            what(body);
        });
        self.line(if self.language == Language::Postgres { "end loop;" } else { "end for;" });
    }

    /// Hands all rows of a statement back.
    pub(super) fn give(&mut self, statement: impl Place, arguments: &[&str]) {
        let place = statement.place();
        let sql = columns::with(&self.statements[usize::from(place)].sql, arguments);
        let (list, rest) = columns::split(&sql);
        let fields: Vec<String> = list.iter().map(|item| self.language.shown(item)).collect();
        let (between, fields) = (self.language.between_fields(), fields.join(", "));
        let begins = if self.language == Language::Postgres { "return query select" } else { "select" };
        self.line(format!("{begins} concat_ws({between}, '{place}', {fields}) as heard {rest};"));
    }

    fn hear(&mut self, place: u16, variables: &[&str]) {
        self.note(&place.to_string(), variables);
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
            body.line(match body.language {
                Language::Postgres => format!("return next {HEARD};"),
                Language::Mariadb => format!("select {HEARD} as heard;"),
            });
            body.set(HEARD, "''");
        });
    }

    /// The whole body with its declarations.
    pub(super) fn written(self) -> String {
        let declared = |(name, kind): &(String, Kind)| {
            let kind_name = self.language.kind(*kind);
            match (self.language, kind) {
                (Language::Postgres, Kind::Long) => format!("  {name} {kind_name} := '';"),
                (Language::Postgres, _) => format!("  {name} {kind_name};"),
                (Language::Mariadb, Kind::Long) => format!("  declare {name} {kind_name} default '';"),
                (Language::Mariadb, _) => format!("  declare {name} {kind_name};"),
            }
        };
        let declared = self.variables.iter().map(declared).collect::<Vec<_>>().join("\n");
        let lines = self.lines.join("\n");
        match self.language {
            Language::Postgres => format!("declare\n{declared}\nbegin\n{lines}\nend"),
            Language::Mariadb => format!("begin\n{declared}\n{lines}\nend"),
        }
    }
}
