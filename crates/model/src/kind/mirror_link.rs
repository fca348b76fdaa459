//! A link that carries mirrored changes beside other traffic, with a share that is set for the changes.
//!
//! The one idea: a share bites only when the link is full. As long as everything fits, changes flow as fast as the jobs ask;
//! once other traffic fills the link, changes get their share of it, less what the sharing itself loses. The share acts on
//! bytes, so messages go down with rows only because rows do.

use super::law::Law;
use super::{Quantity, Unanswered, Values, number, word};
use crate::rows::Row;

super::asks! {
    asked "link" "Gbit/s" 1e-3 1e5 "what the link carries when it is full";
    asked "row_bytes" "bytes" 1.0 1e7 "bytes of a changed row on the link";
    asked "overhead_bytes" "bytes" 1e-3 1e6 "bytes around a row: headers and acknowledgements";
    asked "messages_per_row" "messages" 1e-3 1e5 "messages of a changed row";
    asked "rows_per_job" "1/s" 1e-3 1e8 "rows that a job changes when nothing holds it up";
    asked "share_efficiency" "1" 1e-3 1.0 "what is left of a share that is enforced";
    asked "enforced_from" "1" 1.0 10.0 "how much more than the link carries must be offered before shares are enforced";
    asked "thread_traffic" "Gbit/s" 1e-6 1e4 "what a thread of the other traffic sends when nothing holds it up";
    asked "packet_bytes" "bytes" 1.0 1e8 "bytes of a packet of the other traffic";
    asked "per_km" "us" 1.0 100.0 "delay of light in fibre, one way";
    asked "trips_per_change" "round trips" 0.5 100.0 "round trips that a changed row waits for";
}

const ANSWERS: &[Quantity] = &[
    Quantity::rate("rows", "1/s"),
    Quantity::rate("rows-mib", "MiB/s"),
    Quantity::rate("flow-out", "Gbit/s"),
    Quantity::rate("messages", "1/s"),
    Quantity::other("delay", "us"),
];

pub(super) const LAW: Law = Law::closed(ASKS, ANSWERS, answer);

/// What flows, bits a second.
struct Flows {
    changes: f64,
    others: f64,
}

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    if quantity == "delay" {
        return delay_us(values, row);
    }
    let flows = flows(values, row)?;
    let rows = flows.changes / bits_per_row(values);
    match quantity {
        "rows" => return Ok(rows),
        "rows-mib" => return Ok(rows * values.of("row_bytes") / (1024.0 * 1024.0)),
        _ => {}
    }
    let messages = |flow: &str| match flow {
        "db2m" => rows * values.of("messages_per_row"),
        _ => flows.others / (8.0 * values.of("packet_bytes")),
    };
    let gbit = |bits: f64| bits / 1e9;
    let (changes, others) = ("db2m", "interfering");
    match (word(row, "flow")?, quantity) {
        ("db2m", "flow-out") => Ok(gbit(flows.changes)),
        ("interfering", "flow-out") => Ok(gbit(flows.others)),
        ("all", "flow-out") => Ok(gbit(flows.changes + flows.others)),
        ("all", _) => Ok(messages(changes) + messages(others)),
        (flow @ ("db2m" | "interfering"), _) => Ok(messages(flow)),
        (flow, _) => Err(Unanswered::unknown("flow", flow, "`db2m`, `interfering` or `all`")),
    }
}

fn bits_per_row(values: &Values) -> f64 {
    8.0 * (values.of("row_bytes") + values.of("overhead_bytes"))
}

fn flows(values: &Values, row: &Row) -> Result<Flows, Unanswered> {
    let share = number(row, "db2m_capacity_pct")? / 100.0;
    let threads = row.number("interfering_threads").unwrap_or(0.0);
    let jobs = row.number("jobs").unwrap_or(80.0);
    let link = values.of("link") * 1e9;
    let changes = jobs * values.of("rows_per_job") * bits_per_row(values);
    let others = threads * values.of("thread_traffic") * 1e9;
    if changes + others <= link {
        return Ok(Flows { changes, others });
    }
    // A little more than the link carries only holds the other traffic back; shares are not looked at yet.
    if changes + others <= values.of("enforced_from") * link {
        return Ok(Flows { changes, others: link - changes });
    }
    // The link is full: each side may have its share, and whatever the other leaves.
    let enforced = share * values.of("share_efficiency") * link;
    let changes = changes.min(enforced.max(link - others));
    Ok(Flows { changes, others: others.min(link - changes) })
}

fn delay_us(values: &Values, row: &Row) -> Result<f64, Unanswered> {
    let one_way = number(row, "distance_km")? * values.of("per_km");
    let question = word(row, "quantity")?;
    match question {
        text if text.starts_with("one-way") => Ok(one_way),
        text if text.starts_with("one round trip") => Ok(2.0 * one_way),
        text if text.contains("per replicated row") => Ok(2.0 * values.of("trips_per_change") * one_way),
        text => {
            let known = "`one-way fibre delay`, `one round trip`, `added per replicated row change`";
            Err(Unanswered::unknown("quantity", text, known))
        }
    }
}
