//! The advice as JSON, which is a plan too, and as a page.

use super::advise::Told;
use super::said;
use advisor::{Cost, Move, Object, Rival, Times};
use analysis::Estimate;
use report::{Head, SweetPoint, SweetSpot};
use serde_json::{Value, json};

pub(super) const SCHEMA: &str = "prony/tier-advice/1";

/// The whole document.
pub(super) fn json(told: &Told) -> Value {
    let advice = &told.advice;
    let (answer, curve, reach) = (&advice.answer, &advice.curve, &advice.reach);
    let points: Vec<Value> = curve
        .points
        .iter()
        .map(|point| {
            let name = point.piece.map(|piece| advice.objects[advice.pieces[piece].objects[0]].known.name.clone());
            json!({ "object": name, "bytes": point.bytes, "saved": point.saved, "low": point.low, "high": point.high })
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "server": {
            "place": told.shown, "engine": told.engine.word(), "system": told.standing.system, "database": told.standing.database,
        },
        "window_s": told.window_s,
        "slices": told.slices,
        "tiers": {
            "slow": tier(&told.standing.slow.0, Some(&told.standing.slow.1), &told.known.tiers.slow, &told.known.from[0]),
            "fast": tier(&told.fast, told.standing.fast.as_ref(), &told.known.tiers.fast, &told.known.from[1]),
            "depth": told.known.depth,
        },
        "reach": {
            "way": reach.way.word(), "share": reach.share, "low": reach.low, "high": reach.high, "says": reach.way.says(),
        },
        "wait_s": advice.wait_s,
        "log_wait_s": advice.log_s,
        "answer": {
            "benefit": answer.reason.is_none(),
            "reason": answer.reason.map(advisor::Reason::word),
            "says": said::answer(told),
            "saved": answer.saved, "low": answer.low, "high": answer.high, "interval": curve.band.word(),
            "bytes": answer.bytes,
        },
        "budget_bytes": advice.budget,
        "knee_bytes": curve.knee.map(|at| curve.points[at].bytes),
        "stability": curve.stability,
        "objects": advice.objects.iter().enumerate().map(|(at, one)| object(told, at, one)).collect::<Vec<_>>(),
        "curve": points,
        "rivals": {
            "says": said::rivals(told), "buffer_bytes": told.standing.buffer, "placed": advisor::placed(advice),
            "points": told.rivals.iter().map(rival).collect::<Vec<_>>(),
        },
        "moves": advice.moves.iter().map(|one| planned(told, one)).collect::<Vec<_>>(),
        "vanished": told.vanished,
        "lacking": told.standing.lacking,
    })
}

fn rival(one: &Rival) -> Value {
    json!({ "bytes": one.bytes, "memory": one.memory, "memory_most": one.memory_most, "cache": one.cache })
}

fn tier(tablespace: &str, number: Option<&String>, times: &Times, from: &str) -> Value {
    json!({
        "tablespace": tablespace, "oid": number.and_then(|number| number.parse::<u32>().ok()), "read_ms": 1e3 * times.read_s,
        "in_order_ms": 1e3 * times.in_order_s, "copied_ms": 1e3 * times.copied_s, "flush_ms": 1e3 * times.flush_s, "from": from,
    })
}

fn object(told: &Told, at: usize, one: &Object) -> Value {
    let gain = &told.advice.gains[at];
    json!({
        "id": one.known.id, "kind": one.known.kind.word(), "name": one.known.name, "bytes": one.known.bytes,
        "place": one.known.place, "fast": one.known.fast, "table": one.known.table, "stays": one.known.stays,
        "reads": one.sum(|counts| counts.reads), "hits": one.sum(|counts| counts.hits),
        "flushes": one.sum(|counts| counts.flushes), "in_order": one.in_order(),
        "slow_wait_s": gain.slow_s(), "fast_wait_s": gain.fast_s(),
    })
}

fn planned(told: &Told, one: &Move) -> Value {
    json!({
        "id": one.id, "kind": one.kind.word(), "name": one.name, "bytes": one.bytes,
        "to": if one.to_fast { "fast" } else { "slow" },
        "saved_s": one.saved_s,
        "cost": cost(&one.cost),
        "says": said::cost(told.engine, &one.cost),
    })
}

/// What a move costs.
pub(super) fn cost(cost: &Cost) -> Value {
    json!({
        "how": cost.how.word(), "seconds": cost.seconds, "locked_s": cost.locked_s, "log_bytes": cost.log_bytes,
        "room_bytes": cost.room_bytes,
    })
}

/// The curve on a page.
pub(super) fn page(told: &Told) -> String {
    let (advice, curve) = (&told.advice, &told.advice.curve);
    let slices = told.slices;
    let point = |point: &advisor::Point| {
        let piece = &advice.pieces[point.piece?];
        let object = &advice.objects[piece.objects[0]].known;
        Some(SweetPoint {
            name: object.name.clone(),
            kind: object.kind.word().to_owned(),
            own_bytes: piece.bytes,
            bytes: point.bytes,
            saved: Estimate { low: point.low, high: point.high, n: slices, ..Estimate::single(point.saved) },
        })
    };
    // The last of them is the budget, which may lie anywhere.
    let along = &told.rivals[..curve.points.len().min(told.rivals.len())];
    let spent = |of: fn(&Rival) -> f64| along.iter().map(|one| (one.bytes, of(one))).collect::<Vec<_>>();
    let drawn = SweetSpot {
        points: curve.points.iter().filter_map(point).collect(),
        // The first point of the curve is nothing at all, which is no object.
        knee: curve.knee.map(|at| at - 1),
        budget: told.budget,
        rivals: vec![
            ("as more buffer memory".to_owned(), spent(|one| one.memory)),
            ("as a block cache".to_owned(), spent(|one| one.cache)),
        ],
        interval: said::interval(told).to_owned(),
    };
    let head = Head {
        title: format!("The fast tier of {}", told.standing.database),
        question: "Which tables and indexes belong on the fast tier?".to_owned(),
        answer: std::iter::once(said::answer(told)).chain(said::doubts(told)).collect(),
        program: concat!("Prony ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    report::sweet_spot_html(&head, &drawn)
}
