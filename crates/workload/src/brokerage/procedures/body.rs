//! The body of a procedure, written step by step.
//!
//! The one idea: a transaction's course is said once, in Rust, and each word becomes a line of PL/pgSQL or of SQL/PSM; the
//! SQL is that of the statements, with variables in the place of parameters. What a statement reads is handed back in the
//! order of reading, as lines of fields that begin with the statement's place.
//!
//! What it does not do: it computes nothing itself.

use super::super::statements::statements;
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
        (place, with(&self.statements[usize::from(place)].sql, arguments))
    }

    /// Reads one row, or nothing into all of the variables; the first column is never null.
    pub(super) fn read(&mut self, statement: impl Place, arguments: &[&str], into: &[&str]) {
        let (place, sql) = self.written_out(statement, arguments);
        let (list, rest) = split(&sql);
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
        let (list, rest) = split(&sql);
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
        let (list, rest) = split(&sql);
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

// The texts of statements inside of procedures: their columns, and variables in the place of their parameters.
//
// What it does not do: it reads no SQL but ours. Texts begin with `select` in small letters and hold no string with a
// bracket, a comma or a dollar sign.

/// The columns of a `select` and everything from its `from` on.
pub(super) fn split(sql: &str) -> (Vec<&str>, &str) {
    let list = sql.strip_prefix("select ").unwrap_or(sql);
    let (mut columns, mut depth, mut begun) = (Vec::new(), 0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                columns.push(list[begun..at].trim());
                begun = at + 1;
            }
            ' ' if depth == 0 && list[at..].starts_with(" from ") => {
                columns.push(list[begun..at].trim());
                return (columns, &list[at + 1..]);
            }
            _ => {}
        }
    }
    (columns, "")
}

/// The text with these in the place of its parameters.
pub(super) fn with(sql: &str, arguments: &[&str]) -> String {
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let number: usize = part[..digits].parse().unwrap_or(0);
        let argument = arguments.get(number.wrapping_sub(1)).copied().unwrap_or("null");
        // What follows LIMIT must be a bare name.
        let bare = argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if bare {
            text.push_str(argument)
        } else {
            text.extend(["(", argument, ")"])
        }
        text.push_str(&part[digits..]);
    }
    text
}

// Lists of records inside of a procedure, as texts of records of one length: both languages have texts.
//
// What it does not do: it is not for long lists; a record is found by copying a part of the text.

/// A list in a variable; its records have so many letters. Those of a sorted list begin with a number.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) variable: &'static str,
    pub(super) width: usize,
}

/// A whole number, not negative, as a field of a record.
pub(super) fn number(body: &Body, value: &str) -> String {
    format!("lpad({}, {NUMBER}, '0')", body.language.text(value))
}

/// A text as a field of a record.
pub(super) fn padded(value: &str, width: usize) -> String {
    format!("rpad({value}, {width}, ' ')")
}

impl List {
    /// How many records there are.
    pub(super) fn count(self, body: &Body) -> String {
        body.language.divided(&format!("char_length({})", self.variable), &self.width.to_string())
    }

    /// The text in a field of a record, which is counted from 0.
    pub(super) fn text(self, body: &Body, index: &str, from: usize, width: usize) -> String {
        let at = format!("({index}) * {} + {from}", self.width);
        format!("rtrim({})", body.language.part(self.variable, &at, &width.to_string()))
    }

    /// The number in a field of a record.
    pub(super) fn number(self, body: &Body, index: &str, from: usize) -> String {
        body.language.int(&self.text(body, index, from, NUMBER))
    }

    /// Adds a record.
    pub(super) fn append(self, body: &mut Body, record: &[String]) {
        body.set(self.variable, format!("concat({}, {})", self.variable, record.join(", ")));
    }

    /// Adds a record before the first with a greater number, and only once when `once`. The body has the variables
    /// `v_slot` (a number) and `v_record` (a list).
    pub(super) fn insert(self, body: &mut Body, record: &[String], once: bool) {
        let List { variable, width } = self;
        let language = body.language;
        body.set("v_record", format!("concat({})", record.join(", ")));
        body.set("v_slot", self.count(body));
        let key = language.part("v_record", "0", &NUMBER.to_string());
        let before = language.part(variable, &format!("(v_slot - 1) * {width}"), &NUMBER.to_string());
        body.repeat(format!("v_slot > 0 and {before} > {key}"), |body| body.set("v_slot", "v_slot - 1"));
        let head = language.part(variable, "0", &format!("v_slot * {width}"));
        let tail = language.part(variable, &format!("v_slot * {width}"), &format!("char_length({variable})"));
        let put = |body: &mut Body| body.set(variable, format!("concat({head}, v_record, {tail})"));
        if once { body.when(format!("v_slot = 0 or {before} <> {key}"), put) } else { put(body) }
    }
}

// The two languages that procedures are written in, and where they differ.
//
// The one idea: everything that is not SQL of a statement (assignments, loops, arithmetic on texts) has one spelling for
// each language here, so that the course of a transaction is written once.

/// What a variable or a parameter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole number of 64 bits.
    Int,
    /// A text of up to 255 letters.
    Text,
    /// A text without a bound.
    Long,
}

impl Language {
    /// Of two spellings the one of this language.
    pub(super) fn of<T>(self, postgres: T, mariadb: T) -> T {
        match self {
            Language::Postgres => postgres,
            Language::Mariadb => mariadb,
        }
    }

    /// The name of a type.
    pub(super) fn kind(self, kind: Kind) -> &'static str {
        match kind {
            Kind::Int => "bigint",
            // As the columns are, so that texts compare by their bytes.
            Kind::Text => self.of("text", "varchar(255) character set utf8mb4 collate utf8mb4_bin"),
            Kind::Long => self.of("text", "longtext character set utf8mb4 collate utf8mb4_bin"),
        }
    }

    /// A constant text between the fields of a row.
    pub(super) fn between_fields(self) -> &'static str {
        self.of("E'\\x1f'", "char(31 using utf8mb4)")
    }

    /// A constant text behind each row.
    pub(super) fn behind_row(self) -> &'static str {
        self.of("E'\\x1e'", "char(30 using utf8mb4)")
    }

    /// A value as a text, also when there is none.
    pub(super) fn shown(self, value: &str) -> String {
        let (value, none) = self.of((format!("({value})::text"), "E'\\x1a'"), (value.into(), "char(26 using utf8mb4)"));
        format!("coalesce({value}, {none})")
    }

    /// A whole number as a text.
    pub(super) fn text(self, value: &str) -> String {
        self.of(format!("({value})::text"), format!("cast({value} as char)"))
    }

    /// A text as a whole number.
    pub(super) fn int(self, value: &str) -> String {
        self.of(format!("({value})::bigint"), format!("cast({value} as signed)"))
    }

    /// So many letters of a text, from a place that is counted from 0.
    pub(super) fn part(self, text: &str, from: &str, count: &str) -> String {
        let postgres = format!("substr({text}, ({from} + 1)::int, ({count})::int)");
        self.of(postgres, format!("substr({text}, {from} + 1, {count})"))
    }

    /// A quotient without its fraction, as Rust divides.
    pub(super) fn divided(self, dividend: &str, divisor: &str) -> String {
        format!("(({dividend}) {} ({divisor}))", self.of("/", "div"))
    }

    /// A share of an amount, as [`basis_points`](super::super::codes::basis_points) rounds it.
    pub(super) fn basis_points(self, amount: &str, points: &str) -> String {
        self.divided(&format!("({amount}) * {points} + 5000"), "10000")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_cut_outside_of_brackets_only() {
        let sql = "select a.id, coalesce(sum(p.q * r), 0), t.x from (select id, x from trade) t where a = $1";
        let (columns, rest) = split(sql);
        assert_eq!(columns, ["a.id", "coalesce(sum(p.q * r), 0)", "t.x"]);
        assert_eq!(rest, "from (select id, x from trade) t where a = $1");
    }

    #[test]
    fn variables_take_the_place_of_parameters_and_sums_keep_together() {
        let sql = "select a from t where a = $2 and b in ($1, $12) limit $3";
        let names = ["p_1", "x + 1", "p_3", "", "", "", "", "", "", "", "", "p_12"];
        assert_eq!(with(sql, &names), "select a from t where a = (x + 1) and b in (p_1, p_12) limit p_3");
    }
}
