//! The statements of the brokerage house, each with a name for profiles.
//!
//! The one idea: what both presets say comes first, so that it has one place in both.
//!
//! What it does not do: it knows no engine's own SQL.

mod both;
mod desk;
mod house;

pub(super) use both::Shared;
pub(super) use desk::Desk;
pub(super) use house::House;

use super::{Preset, Scale, codes};
use crate::transaction::texts::{self, Text};
use crate::transaction::{Sample, Statement};

/// The statements that [`Brokerage`](super::Brokerage) calls, in the order of their places.
pub fn statements(preset: Preset) -> Vec<Statement> {
    texts::statements(texts(preset))
}

/// What the same statements would give on a data set of about this shape, for a database that holds none: one entry a
/// statement, nothing for those without rows.
pub fn samples(preset: Preset) -> Vec<Option<Sample>> {
    texts::samples(texts(preset))
}

fn texts(preset: Preset) -> impl Iterator<Item = &'static Text> {
    let own = match preset {
        Preset::Desk => desk::DESK,
        Preset::House => house::HOUSE,
    };
    both::SHARED.iter().chain(own)
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
