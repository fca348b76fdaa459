//! JSON for programs: plain numbers in the units that the names say, every key always there.
//!
//! The one idea: the form is a contract, written down in `docs/schema/` and held by tests. What is not known is `null`,
//! never left out and never zero, so that a reader needs no second guess about a missing key.
//!
//! What it does not do: it formats no number for people, and it is not the saved form of a run.

mod compare;
mod finding;
mod memory;
mod programs;
mod run;
mod server;
mod trial;

pub use compare::compare_json;
pub use programs::{ListedRun, TimedModel, ceiling_json, check_json, list_json, plan_json, studies_json};
pub use run::json;

use analysis::Estimate;
use observation::{Factor, Level};
use serde_json::{Map, Number, Value, json};

/// A number as JSON has it: whole values without a point, and `null` for what is not a number.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.is_finite() && value.fract() == 0.0 && value.abs() < EXACT {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn optional(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

fn estimate(estimate: &Estimate) -> Value {
    json!({
        "value": number(estimate.value),
        "low": number(estimate.low),
        "high": number(estimate.high),
        "n": estimate.n,
        "confidence": number(estimate.confidence),
    })
}

fn optional_estimate(value: Option<&Estimate>) -> Value {
    value.map_or(Value::Null, estimate)
}

/// A level in base units when it is a number, else its word.
fn level(level: &Level) -> Value {
    match level {
        Level::Number { value, .. } => number(*value),
        Level::Word(word) => Value::from(word.as_str()),
    }
}

fn factors(factors: &[Factor]) -> Value {
    let named = factors.iter().map(|factor| (factor.name.clone(), level(&factor.level)));
    Value::Object(named.collect::<Map<_, _>>())
}
