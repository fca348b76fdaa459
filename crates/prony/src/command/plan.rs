//! `prony plan STUDY`: what a run would do, before anything is touched.

use crate::args::Plan;
use crate::checked;
use crate::failure::Failure;
use crate::output;
use crate::run::devices::{self, Judged};
use crate::run::{self, planned};
use crate::study_file;
use serde_json::Value;

/// Prints the plan.
pub fn run(asked: &Plan) -> Result<(), Failure> {
    let text = study_file::find(&asked.choice.study)?;
    let study = study_file::read_or_fail(&text, &asked.choice.changes, &[])?;
    let seed = asked.seed.map_or_else(run::fresh_seed, Ok)?;
    let plan = run::plan_to_run(&text.origin, &study, seed)?;
    let devices = devices::judged(&study, &checked::consents(&asked.consents)?);
    output::answer(asked.json, || as_json(&study, &plan, &devices), || planned::table(&study, &plan, &devices))
}

fn as_json(study: &study::Study, plan: &study::Plan, devices: &[Judged<'_>]) -> Value {
    let expected_s = |trial: &_| planned::expected(trial).seconds();
    let mut value = report::plan_json(plan, expected_s, &planned::notes(plan));
    value["reserved_bytes"] = run::reserve(study, plan).bytes().into();
    value["devices"] = devices.iter().map(Judged::json).collect();
    value
}
