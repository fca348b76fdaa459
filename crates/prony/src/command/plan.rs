//! `prony plan STUDY`: what a run would do, before anything is touched.

use crate::args::Plan;
use crate::failure::Failure;
use crate::output;
use crate::run::{self, planned};
use crate::study_file;

/// Prints the plan.
pub fn run(asked: &Plan) -> Result<(), Failure> {
    let text = study_file::find(&asked.choice.study)?;
    let study = study_file::read_or_fail(&text, &asked.choice.changes, &[])?;
    let seed = asked.seed.map_or_else(run::fresh_seed, Ok)?;
    let plan = run::plan_to_run(&text.origin, &study, seed)?;
    let expected_s = |trial: &_| planned::expected(trial).seconds();
    let json = || report::plan_json(&plan, expected_s, &planned::notes(&plan));
    output::answer(asked.json, json, || planned::table(&study, &plan))
}
