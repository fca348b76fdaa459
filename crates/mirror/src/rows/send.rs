//! What the list of the primary holds goes to the other node.
//!
//! The one idea: a key is sent with the row that it has now, however often it changed, and is taken off the list only where the count of its
//! changes is what it was when it was read; so writers go on, and what they change meanwhile is sent again. Both happen in one transaction of
//! both nodes.

use super::{Asks, quoted};
use database::Failure;

/// Keys that are sent at once.
pub(crate) const BATCH: usize = 1000;

/// What was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) entries: u64,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Sent {
    pub(crate) fn add(&mut self, other: Sent) {
        self.entries += other.entries;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// A text of a mirrored table with its one parameter.
fn with(sql: &str, value: &str) -> String {
    sql.replacen("unnest($1", &format!("unnest({}", quoted(value)), 1)
}

fn field(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}

fn number(row: &[String], at: usize) -> u64 {
    field(row, at).parse().unwrap_or(0)
}

/// Keys of one part of so many, with their rows.
pub(crate) fn keys(near: &mut dyn Asks, far: &mut dyn Asks, part: usize, parts: usize) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    for row in near.ask(&format!("SELECT * FROM prony_pair.batch({part}, {parts}, {BATCH})"))? {
        let (relation, items) = (quoted(field(&row, 0)), quoted(field(&row, 3)));
        let rows = near.ask(&format!("SELECT prony_pair.fetched({relation}, {items})"))?.concat().concat();
        far.ask(&with(field(&row, 1), field(&row, 3)))?;
        if !rows.is_empty() {
            far.ask(&with(field(&row, 2), &rows))?;
        }
        near.ask(&format!("SELECT prony_pair.sent({relation}, {items}, {})", quoted(field(&row, 4))))?;
        let count = number(&row, 5);
        sent.add(Sent { entries: count, rows: count, bytes: (rows.len() + field(&row, 3).len()) as u64 });
    }
    Ok(sent)
}

/// Rows of tables without a key.
pub(crate) fn added(near: &mut dyn Asks, far: &mut dyn Asks) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    for row in near.ask(&format!("SELECT * FROM prony_pair.added({BATCH})"))? {
        far.ask(&with(field(&row, 0), field(&row, 2)))?;
        near.ask(&format!("SELECT prony_pair.gone({})", quoted(field(&row, 1))))?;
        sent.add(Sent { entries: number(&row, 3), rows: number(&row, 3), bytes: field(&row, 2).len() as u64 });
    }
    Ok(sent)
}

/// Tables that are copied whole. What the near one sees must be of one moment.
pub(crate) fn whole(near: &mut dyn Asks, far: &mut dyn Asks) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    for row in near.ask("SELECT * FROM prony_pair.marked()")? {
        let relation = field(&row, 0);
        near.ask(&format!("SELECT prony_pair.unmarked({})", quoted(relation)))?;
        // Not all of it is truncated at once, so that what refers to it stays.
        far.ask(&format!("DELETE FROM {relation}"))?;
        near.ask(&format!(
            "DECLARE prony_pieces NO SCROLL CURSOR FOR SELECT * FROM prony_pair.pieces({})",
            quoted(relation)
        ))?;
        loop {
            let piece = near.ask("FETCH prony_pieces")?.concat().concat();
            if piece.is_empty() {
                break;
            }
            far.ask(&with(field(&row, 1), &piece))?;
            sent.bytes += piece.len() as u64;
        }
        near.ask("CLOSE prony_pieces")?;
        sent.entries += 1;
    }
    Ok(sent)
}

/// All that one transaction noted itself, before it commits.
pub(crate) fn settle(near: &mut dyn Asks, far: &mut dyn Asks) -> Result<(), Failure> {
    while whole(near, far)?.entries > 0 {}
    while added(near, far)?.entries > 0 {}
    while keys(near, far, 0, 1)?.entries > 0 {}
    Ok(())
}
