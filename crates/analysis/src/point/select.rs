//! Which trials a selector of the study means.

use observation::{Factor, Level};
use study::Selector;

/// Whether a point with this experiment, stream and factors is meant.
pub fn selects(selector: &Selector, experiment: &str, stream: &str, factors: &[(String, Level)]) -> bool {
    let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let has =
        |wanted: &Factor| factors.iter().any(|(name, level)| *name == wanted.name && same_level(level, &wanted.level));
    is(&selector.experiment, experiment) && is(&selector.stream, stream) && selector.factors.iter().all(has)
}

/// Whether two levels are the same, however they were written: `4 KiB` is `4096 B`.
pub fn same_level(a: &Level, b: &Level) -> bool {
    match (a.number(), b.number()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
        (None, None) => a.text() == b.text(),
        _ => false,
    }
}

/// Whether two lists name the same factors at the same levels, in whatever order.
pub fn same_factors(a: &[(String, Level)], b: &[(String, Level)]) -> bool {
    let known = |(name, level): &(String, Level)| b.iter().any(|(other, at)| other == name && same_level(level, at));
    a.len() == b.len() && a.iter().all(known)
}

/// Factors as people read them: `modules 4, transfer 8 KiB`.
pub fn factors_text(factors: &[(String, Level)]) -> String {
    factors.iter().map(|(name, level)| factor_text(name, level)).collect::<Vec<_>>().join(", ")
}

/// Sessions are counted, as people do.
fn factor_text(name: &str, level: &Level) -> String {
    match (name, level.text()) {
        ("sessions", "1") => "1 session".to_owned(),
        ("sessions", count) => format!("{count} sessions"),
        (_, text) => format!("{name} {text}"),
    }
}
