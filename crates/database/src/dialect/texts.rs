//! A workload's statements in the text of one engine.

use super::literal;
use super::scan::{Piece, pieces, without_locks};
use super::upsert::on_duplicate_key;
use study::Engine;
use workload::transaction::{Sample, Statement, Value};

/// One statement in the engine's own text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// What profiles and reports call it.
    pub name: String,
    /// The text with the engine's own mark for parameters: `$n`, `?n`, or `?`.
    pub sql: String,
    /// Which parameter (from 0) stands at each mark, in order. On MariaDB marks are positional, so that a parameter that is
    /// used twice is sent twice; elsewhere marks carry their number and this says only where they are.
    pub order: Vec<u16>,
    /// How many parameters a call gives.
    pub parameters: usize,
    /// Whether it gives rows back.
    pub rows: bool,
    engine: Engine,
    /// What is around the marks; one more than there are marks.
    around: Vec<String>,
}

impl Text {
    fn of(engine: Engine, statement: &Statement) -> Text {
        let pieces = pieces(engine, &statement.sql);
        let pieces = match engine {
            Engine::Sqlite => without_locks(pieces),
            Engine::Mariadb => on_duplicate_key(pieces),
            Engine::Postgres | Engine::Null => pieces,
        };
        let (mut order, mut around) = (Vec::new(), vec![String::new()]);
        for piece in pieces {
            match piece {
                Piece::Parameter(number) => {
                    order.push(number - 1);
                    around.push(String::new());
                }
                Piece::Plain(text) | Piece::Word(text) => {
                    around.last_mut().into_iter().for_each(|last| last.push_str(text));
                }
            }
        }
        if let Some(last) = around.last_mut() {
            last.truncate(last.trim_end().len());
        }
        let parameters = order.iter().map(|number| *number as usize + 1).max().unwrap_or(0);
        let sql = joined(engine, &around, &order);
        Text { name: statement.name.clone(), sql, order, parameters, rows: statement.rows, engine, around }
    }

    /// The text with `$n` for each parameter, whatever the engine's own mark is.
    pub fn numbered(&self) -> String {
        joined(Engine::Postgres, &self.around, &self.order)
    }

    /// Appends the text with values in the place of its parameters. A parameter that is not given is null.
    pub fn inline(&self, parameters: &[Value], sql: &mut String) {
        for (at, text) in self.around.iter().enumerate() {
            sql.push_str(text);
            if let Some(number) = self.order.get(at) {
                literal(self.engine, parameters.get(*number as usize).unwrap_or(&Value::Null), sql);
            }
        }
    }
}

fn joined(engine: Engine, around: &[String], order: &[u16]) -> String {
    let mut sql = String::new();
    for (at, text) in around.iter().enumerate() {
        sql.push_str(text);
        if let Some(number) = order.get(at) {
            match engine {
                Engine::Postgres | Engine::Null => sql.push_str(&format!("${}", number + 1)),
                Engine::Sqlite => sql.push_str(&format!("?{}", number + 1)),
                Engine::Mariadb => sql.push('?'),
            }
        }
    }
    sql
}

/// All statements of a workload, by their place in its list.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    engine: Engine,
    list: Vec<Text>,
    naming: Vec<bool>,
    /// The rows that a database without any gives, by the place of a statement.
    pub samples: Vec<Option<Sample>>,
    /// Whether they are a user's own scripts, into whose text the simple protocol puts values as they are, without quotes, as
    /// [`workload::sql::splice`] does: a value may end a string and begin a statement.
    pub spliced: bool,
    /// Whether they call procedures that give back one set of rows after the other: all of them are kept, as one.
    pub gathering: bool,
    /// Whether somebody else wrote them: on a private server their sessions have a role of their own, see
    /// [`crate::Database::admit_scripts`].
    pub foreign: bool,
}

impl Texts {
    /// A workload's statements for an engine.
    pub fn of(engine: Engine, statements: &[Statement]) -> Texts {
        let list = statements.iter().map(|statement| Text::of(engine, statement)).collect();
        let (naming, samples) = (Vec::new(), Vec::new());
        Texts { engine, list, naming, samples, spliced: false, gathering: false, foreign: false }
    }

    /// No statements: for sessions that only run scripts, queries and loads.
    pub fn none(engine: Engine) -> Texts {
        Texts::of(engine, &[])
    }

    /// The same, with which statements' answers shall name their columns.
    #[must_use]
    pub fn naming(mut self, wants: impl Fn(u16) -> bool) -> Texts {
        self.naming = (0..self.list.len()).map(|statement| wants(statement as u16)).collect();
        self
    }

    /// Whether answers to this statement shall name their columns.
    pub fn names_columns(&self, statement: u16) -> bool {
        self.naming.get(statement as usize).copied().unwrap_or(false)
    }

    /// Whose texts they are.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// One statement, by its place in the workload's list.
    pub fn get(&self, statement: u16) -> Option<&Text> {
        self.list.get(statement as usize)
    }

    /// All, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Text> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(engine: Engine, sql: &str) -> Text {
        let statement = Statement { name: "test".into(), sql: sql.into(), rows: true };
        Texts::of(engine, &[statement]).get(0).cloned().unwrap()
    }

    #[test]
    fn parameters_take_the_mark_of_the_engine_and_keep_their_order() {
        let sql = "SELECT a FROM t WHERE b = $2 AND (c = $1 OR d = $2)";
        assert_eq!(text(Engine::Sqlite, sql).sql, "SELECT a FROM t WHERE b = ?2 AND (c = ?1 OR d = ?2)");
        assert_eq!(text(Engine::Postgres, sql).sql, sql);
        let mariadb = text(Engine::Mariadb, sql);
        assert_eq!(mariadb.sql, "SELECT a FROM t WHERE b = ? AND (c = ? OR d = ?)");
        assert_eq!((mariadb.order, mariadb.parameters), (vec![1, 0, 1], 2));
    }

    #[test]
    fn what_is_quoted_or_commented_is_no_parameter() {
        let sql = "SELECT '$1', \"$2\", 'it''s $3' -- $4\n /* $5 */ , $6";
        let mixed = text(Engine::Mariadb, sql);
        assert_eq!((mixed.order, mixed.parameters), (vec![5], 6));
        assert!(mixed.sql.contains("'it''s $3' -- $4\n /* $5 */ , ?"));
        assert_eq!(text(Engine::Mariadb, r"SELECT 'a\'$1', $2").order, [1]);
        assert_eq!(text(Engine::Postgres, r"SELECT 'a\', $1, $x$ $2 $x$, $$ $3 $$, $4").order, [0, 3]);
    }

    #[test]
    fn row_locks_go_where_the_engine_has_none() {
        let sql = "SELECT a FROM t WHERE b = $1 FOR UPDATE";
        assert_eq!(text(Engine::Sqlite, sql).sql, "SELECT a FROM t WHERE b = ?1");
        assert_eq!(text(Engine::Mariadb, sql).sql, "SELECT a FROM t WHERE b = ? FOR UPDATE");
        let inner = "SELECT x FROM (SELECT a FROM t for no key update of t skip locked) y WHERE z = 'FOR UPDATE'";
        assert_eq!(text(Engine::Sqlite, inner).sql, "SELECT x FROM (SELECT a FROM t ) y WHERE z = 'FOR UPDATE'");
    }

    #[test]
    fn values_stand_in_the_text_when_the_protocol_sends_none_apart() {
        let mut sql = String::new();
        text(Engine::Postgres, "UPDATE t SET a = a -$1, b = $2").inline(&[Value::Int(-3), "x'y".into()], &mut sql);
        assert_eq!(sql, "UPDATE t SET a = a - -3, b = 'x''y'");
    }

    proptest::proptest! {
        #[test]
        fn text_without_parameters_stays_what_it_is(sql in "[^0-9]{0,60}") {
            proptest::prop_assert_eq!(text(Engine::Postgres, &sql).sql, sql.trim_end());
        }

        #[test]
        fn no_text_panics(sql in ".{0,60}") {
            text(Engine::Sqlite, &sql);
            text(Engine::Mariadb, &sql);
        }
    }
}
