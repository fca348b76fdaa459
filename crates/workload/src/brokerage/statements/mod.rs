//! The statements of the brokerage house, each with a name for profiles.
//!
//! The one idea: one portable text serves SQLite, PostgreSQL and MariaDB, and a transaction names a statement by an enum,
//! never by its text. Row locks are asked for by `for update` at the end, which a dialect may leave out. A statement that
//! gives rows says beside its text how many on average and what one looks like, for a database that holds none.
//!
//! What it does not do: it knows no engine's own SQL.

mod both;
mod desk;
mod house;

pub(super) use both::Shared;
pub(super) use desk::Desk;
pub(super) use house::House;

use super::{Preset, Scale, codes};
use crate::transaction::{Batch, Sample, Statement, Value};

/// Rows a call on average, and rows to choose from in turn; fields stand between bars.
type Rows = (f64, &'static [&'static str]);

/// Name, text, and the rows that come back, if any do.
type Text = (&'static str, &'static str, Option<Rows>);

macro_rules! list {
    ($kind:ident from $first:expr, $list:ident: $($id:ident $(rows($often:literal, $rows:tt))? $name:literal = $sql:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::brokerage) enum $kind { $($id),* }

        impl super::Place for $kind {
            fn place(self) -> u16 {
                $first as u16 + self as u16
            }
        }

        pub(super) const $list: &[super::Text] = &[$(($name, $sql, super::list!(@ $($often, $rows)?))),*];
    };
    (@ $often:literal, $rows:tt) => { Some(($often, &$rows)) };
    (@) => { None };
}
use list;

/// A statement's place in the list of its preset. What both presets say comes first, so that it has one place in both.
pub(super) trait Place {
    /// The place.
    fn place(self) -> u16;
}

/// Adds a statement to a batch.
pub(super) fn say<const N: usize>(batch: &mut Batch, statement: impl Place, parameters: [Value; N]) {
    batch.call(statement.place(), parameters);
}

/// The statements that [`Brokerage`](super::Brokerage) calls, in the order of their places.
pub fn statements(preset: Preset) -> Vec<Statement> {
    let made =
        |&(name, sql, rows): &Text| Statement { name: name.to_owned(), sql: sql.to_owned(), rows: rows.is_some() };
    texts(preset).map(made).collect()
}

/// What the same statements would give on a data set of about this shape, for a database that holds none: one entry a
/// statement, nothing for those without rows.
pub fn samples(preset: Preset) -> Vec<Option<Sample>> {
    let made = |(often, rows): Rows| Sample::new(often, rows.iter().map(|row| fields(row)).collect());
    texts(preset).map(|text| text.2.map(made)).collect()
}

fn texts(preset: Preset) -> impl Iterator<Item = &'static Text> {
    let own = match preset {
        Preset::Desk => desk::DESK,
        Preset::House => house::HOUSE,
    };
    both::SHARED.iter().chain(own)
}

/// The fields of a row: what reads as a whole number is one.
fn fields(row: &str) -> Vec<Value> {
    row.split('|').map(|field| field.parse().map_or_else(|_| Value::from(field), Value::Int)).collect()
}

/// The clean-up before a run, one transaction: orders that an earlier run left in the market are cancelled. It reaches
/// only trades of runs; those of the history are all completed.
pub fn cleanup_statements(scale: &Scale) -> Vec<String> {
    let (first, at) = (scale.first_new_trade(), super::scale::NOW_US);
    let (pending, submitted, cancelled) = (codes::PENDING, codes::SUBMITTED, codes::CANCELLED);
    let open = format!("id >= {first} and status in ('{pending}', '{submitted}')");
    // A cancelled trade's last event must not lie before its first one, which is later than the end of the history.
    let moment = format!("(select max(e.at) from trade_event e where e.trade_id = trade.id and e.at >= {at})");
    vec![
        "delete from pending_order".to_owned(),
        format!(
            "insert into trade_event (trade_id, status, at) select id, '{cancelled}', {moment} from trade where {open}"
        ),
        format!("update trade set status = '{cancelled}' where {open}"),
    ]
}
