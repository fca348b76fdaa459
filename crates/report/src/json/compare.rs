//! `prony/compare/1`: only what sets two systems, or two runs, against each other.

use super::value::object;
use crate::caveats::all_caveats;
use analysis::{Comparison, Findings};
use serde_json::Value;

/// The comparisons as `prony/compare/1`. `runs` names the one or two runs that stand behind them, the baseline's first.
/// See `docs/schema/compare-1.json`.
pub fn compare_json(findings: &Findings, runs: &[&str]) -> Value {
    let comparisons: Vec<&Comparison> = findings.comparisons().collect();
    object!(findings {
        "schema": "prony/compare/1", "study": findings.run.study, "runs": runs,
        "baseline": comparisons.first().map(|comparison| &comparison.baseline), answer, "systems": findings.run.systems,
        "findings": comparisons, "caveats": all_caveats(findings),
    })
}
