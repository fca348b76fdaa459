//! How a database carries a statement out, asked without carrying it out.
//!
//! The one idea: a plan is told without estimates of costs and rows, one step a line and deeper steps further to the right, so that it is
//! the same text for as long as it is the same plan.
//!
//! What it does not do: MariaDB and SQLite plan no statement without its values; they are asked with 1 at each mark, and may take another
//! plan for others.

use crate::{Database, DatabaseError, Session, Text, Texts};
use study::{Engine, Sessions};
use workload::transaction::Value;

/// The plan of a statement. None of what has no plan.
///
/// # Errors
/// When no session can be opened.
pub fn plan(database: &dyn Database, texts: &Texts, text: &Text) -> Result<Option<String>, DatabaseError> {
    let mut none = Texts::none(texts.engine());
    none.foreign = texts.foreign;
    let mut session = database.session(&none, &Sessions::default())?;
    let lines = match database.engine() {
        Engine::Postgres => postgres(&mut *session, text),
        Engine::Mariadb => mariadb(&mut *session, text),
        Engine::Sqlite => sqlite(&mut *session, text),
        Engine::Null => Vec::new(),
    };
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// The rows of a question; nothing where the engine knows no plan of such a statement.
fn asked(session: &mut dyn Session, sql: &str) -> Vec<Vec<Value>> {
    session.query(sql).unwrap_or_default()
}

/// The generic plan, which holds whatever the values are.
fn postgres(session: &mut dyn Session, text: &Text) -> Vec<String> {
    let prepared = session.script("SET plan_cache_mode = force_generic_plan");
    if prepared.and_then(|()| session.script(&format!("PREPARE prony_plan AS {}", text.sql))).is_err() {
        return Vec::new();
    }
    // A partition that no value leads to is not shown, and there are types that have no 1.
    let given = |value: &str| match text.parameters {
        0 => String::new(),
        count => format!("({})", vec![value; count].join(", ")),
    };
    let mut explain = |value| asked(session, &format!("EXPLAIN (COSTS OFF) EXECUTE prony_plan{}", given(value)));
    let ones = explain("'1'");
    let rows = if ones.is_empty() { explain("NULL") } else { ones };
    rows.iter().filter_map(|row| Some(row.first()?.text()?.to_owned())).collect()
}

/// The text with 1 at each mark.
fn with_ones(text: &Text) -> String {
    let mut sql = String::new();
    text.inline(&vec![Value::Int(1); text.parameters], &mut sql);
    sql
}

/// One line a table, in the order in which they are read: `PRIMARY a: range by a_key, Using where`.
fn mariadb(session: &mut dyn Session, text: &Text) -> Vec<String> {
    let step = |row: &Vec<Value>| {
        let field = |at: usize| row.get(at).and_then(Value::text).filter(|text| !text.is_empty());
        let table = field(2).map(|table| format!(" {table}")).unwrap_or_default();
        let by = field(5).map(|key| format!(" by {key}")).unwrap_or_default();
        let how = field(3).map(|how| format!(": {how}{by}")).unwrap_or_default();
        let more = field(9).map(|more| format!(", {more}")).unwrap_or_default();
        format!("{}{table}{how}{more}", field(1).unwrap_or_default())
    };
    // Rows that are only added have no way that could be another.
    let added = |row: &&Vec<Value>| row.get(1).and_then(Value::text) == Some("INSERT");
    asked(session, &format!("EXPLAIN {}", with_ones(text))).iter().filter(|row| !added(row)).map(step).collect()
}

/// One line a step: `SEARCH a USING INDEX a_key (b=?)`.
fn sqlite(session: &mut dyn Session, text: &Text) -> Vec<String> {
    let mut deep: Vec<(i64, usize)> = Vec::new();
    let mut lines = Vec::new();
    for row in asked(session, &format!("EXPLAIN QUERY PLAN {}", with_ones(text))) {
        let [id, parent, _, detail] = row.as_slice() else { continue };
        let (Some(id), Some(detail)) = (id.int(), detail.text()) else { continue };
        let above = deep.iter().find(|(known, _)| Some(*known) == parent.int());
        let depth = above.map_or(0, |(_, depth)| depth + 1);
        deep.push((id, depth));
        lines.push(format!("{}{detail}", "  ".repeat(depth)));
    }
    lines
}
