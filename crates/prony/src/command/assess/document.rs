//! The assessment as JSON.

use super::{Told, said};
use advisor::assess::{Caller, Home, Rows, Span, Total};
use serde_json::{Map, Value, json};

const SCHEMA: &str = "prony/assess/1";

pub(super) fn json(told: &Told) -> Value {
    let (mix, judged, seen) = (&told.judged.mix, &told.judged, &told.seen);
    let figures: Vec<Value> = said::figures(told)
        .iter()
        .map(|one| {
            let mut value = span(one.then);
            value.extend([
                ("what".to_owned(), json!(one.what)),
                ("unit".to_owned(), json!(one.unit)),
                ("now".to_owned(), json!(one.now)),
                ("rests_on".to_owned(), json!(one.rests)),
            ]);
            Value::Object(value)
        })
        .collect();
    let classes: Vec<Value> = mix
        .classes
        .iter()
        .map(|(class, done)| {
            json!({
                "class": class.word(), "calls_per_s": done.calls, "rows_per_s": done.rows,
                "ms": 1e3 * done.seconds / done.calls,
                "added_ms": 1e3 * judged.prediction.in_statement_s(told.pair.kind, *class, done),
            })
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "server": {
            "place": told.shown, "engine": told.engine.word(), "version": told.standing.version, "database": told.standing.database,
            "machine": seen.machine.map(|one| json!({ "cores": one.cores, "busy": one.busy, "server_cores": one.server_cores })),
        },
        "window_s": seen.window_s,
        "samples": seen.samples.len(),
        "pair": { "kind": told.pair.kind.word(), "one_way_s": told.pair.one_way_s, "flush_from": judged.prediction.flush_from.word(),
            "home": match told.pair.home {
                Home::Own => "own-host",
                Home::Shared { one_disk: true } => "same-host",
                Home::Shared { one_disk: false } => "same-host, own disk",
            },
        },
        "answer": said::answer(told),
        "prediction": figures,
        "mix": {
            "commits_per_s": mix.commits, "rollbacks_per_s": mix.rollbacks, "written_per_s": mix.written,
            "written_from": seen.written_from,
            "log_bytes_per_s": seen.rate(Total::LogBytes), "flushes_per_s": seen.rate(Total::Flushes),
            "flush_s": mix.flush.map(|(seconds, _)| seconds),
            "connections_per_s": seen.rate(Total::Connections),
            "sessions": mix.sessions, "busy": mix.busy, "locked": mix.locked, "hidden": mix.hidden,
            "rows": rows(&mix.rows), "locked_rows_per_s": mix.locked_rows,
            "tables": named(&mix.tables), "users": named(&mix.users), "classes": classes,
            "callers": mix.callers.iter().map(caller).collect::<Vec<_>>(),
        },
        "changes": judged.changes.iter().map(|one| json!({
            "what": one.what, "why": one.why, "saved_s_per_s": span(one.saved), "of_added": one.of_added,
        })).collect::<Vec<_>>(),
        "left_out": judged.left_out.iter().map(|one| json!({
            "table": one.table, "reason": one.reason, "certain": one.certain, "share": one.share,
        })).collect::<Vec<_>>(),
        "obstacles": judged.obstacles.iter().map(|one| json!({
            "what": one.what, "means": one.means, "tables": one.tables,
        })).collect::<Vec<_>>(),
        "lacking": told.standing.lacking,
    })
}

fn span(span: Span) -> Map<String, Value> {
    [("low", span.low), ("value", span.value), ("high", span.high)]
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .into_iter()
        .collect()
}

fn rows(rows: &Rows) -> Value {
    json!({ "read": rows.read, "inserted": rows.inserted, "updated": rows.updated, "deleted": rows.deleted })
}

fn named(all: &[(String, Rows)]) -> Vec<Value> {
    all.iter().map(|(name, own)| json!({ "name": name, "rows": rows(own) })).collect()
}

fn caller(one: &Caller) -> Value {
    json!({
        "user": one.user, "application": one.application, "sessions": one.sessions, "busy": one.busy, "writing": one.writing,
        "locked": one.locked, "longest_s": one.longest_s, "at_once": one.at_once,
    })
}
