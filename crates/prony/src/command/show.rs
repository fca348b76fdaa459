//! `prony show RUN`: the answer and the tables of a run, judged again from what was observed.

use crate::args::Show;
use crate::failure::Failure;
use crate::judged;
use crate::output;
use report::Detail;

/// Prints a run as text, JSON or CSV.
pub fn run(asked: &Show) -> Result<(), Failure> {
    let (_, findings) = judged::named(&asked.choice.run)?;
    if asked.json {
        output::print_json(&report::json(&findings))
    } else if asked.csv {
        output::print(&report::csv(&findings))
    } else {
        output::print(&report::text(&findings, output::layout(Detail::Full)))
    }
}
