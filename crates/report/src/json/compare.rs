//! `prony/compare/1`: only what sets two systems, or two runs, against each other.

use super::value::Json as _;
use super::{finding::comparison, run};
use analysis::Findings;
use serde_json::{Value, json};

/// The comparisons as `prony/compare/1`. `runs` names the one or two runs that stand behind them, the baseline's first.
/// See `docs/schema/compare-1.json`.
pub fn compare_json(findings: &Findings, runs: &[&str]) -> Value {
    let comparisons: Vec<&analysis::Comparison> = findings.comparisons().collect();
    json!({
        "schema": "prony/compare/1",
        "study": findings.run.study,
        "runs": runs,
        "baseline": comparisons.first().map(|comparison| comparison.baseline.as_str()),
        "answer": findings.answer,
        "systems": findings.run.systems.json(),
        "findings": comparisons.iter().map(|found| comparison(found)).collect::<Vec<_>>(),
        "caveats": run::caveats(findings),
    })
}
