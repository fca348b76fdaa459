//! When a job must be over: the table `[deadline]` of a study.
//!
//! The one idea: a pilot on a part of the data says when the whole job ends, so a deadline has beside its time how much work the
//! whole job is. Its values may be parameters of the study.
//!
//! What it does not do: it measures nothing; analysis holds what was measured against it.

use reading::{Placed, Problems, Section};
use units::Nanos;

/// When a job must be over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deadline {
    /// How long it may take.
    pub within: Nanos,
    /// The time of the day at which it begins, since midnight; none where nobody says.
    pub begins: Option<Nanos>,
    /// How much the whole job is, in what its transactions give; none where the job is what is measured.
    pub work: Option<u64>,
}

/// The table as it is written.
#[derive(Clone, Debug)]
pub(crate) struct DeadlineDefinition {
    within: Placed,
    begins: Option<Placed>,
    work: Option<Placed>,
}

/// Reads the table.
pub(crate) fn definition(root: &mut Section, problems: &mut Problems) -> Option<DeadlineDefinition> {
    let entry = root.take("deadline")?;
    let at = entry.at.clone();
    let mut section = Section::of("deadline", entry.node, problems)?;
    let within = section.text("within", problems);
    let (begins, work) = (section.text("begins", problems), section.text("work", problems));
    section.finish(&["within", "begins", "work"], |_| None, problems);
    if within.is_none() {
        problems.add_if_new(&at, "deadline.within", "how long the job may take, such as `6 h`, got nothing");
    }
    Some(DeadlineDefinition { within: within?, begins, work })
}

/// The deadline with its parameters filled in by `parameter`. A deadline, a beginning or an amount of `none` is none.
pub(crate) fn resolved(
    definition: &DeadlineDefinition,
    parameter: impl Fn(&str) -> String,
    problems: &mut Problems,
) -> Option<Deadline> {
    let text = |placed: &Placed| placed.text.strip_prefix('$').map_or_else(|| placed.text.clone(), &parameter);
    let mut read = |key: &str, placed: &Placed, form: &dyn Fn(&str) -> Result<u64, String>| {
        let text = text(placed);
        if text == "none" { None } else { problems.kept(&placed.at, &format!("deadline.{key}"), form(&text)) }
    };
    let time = |text: &str| match units::parse_duration(text) {
        Ok(Nanos(0)) => Err("a time above zero, such as `6 h`, got `0`".to_owned()),
        read => read.map(|time| time.0).map_err(|error| error.to_string()),
    };
    let within = read("within", &definition.within, &time);
    let begins = definition.begins.as_ref().and_then(|placed| read("begins", placed, &time_of_day));
    let count = |text: &str| match units::parse_count(text) {
        Ok(0) => Err("a count above zero, got `0`".to_owned()),
        read => read.map_err(|error| error.to_string()),
    };
    let work = definition.work.as_ref().and_then(|placed| read("work", placed, &count));
    for (key, placed) in [("begins", &definition.begins), ("work", &definition.work)] {
        let Some(placed) = placed.as_ref().filter(|placed| within.is_none() && text(placed) != "none") else {
            continue;
        };
        let message = format!("nothing without a deadline, got `{}`", text(placed));
        let hint = "say by when the job must be over: `--set deadline=6h`".to_owned();
        problems.add_with(&placed.at, &format!("deadline.{key}"), message, Some(hint));
    }
    Some(Deadline { within: Nanos(within?), begins: begins.map(Nanos), work })
}

/// Tells of a job of which more is measured than the whole of it is.
pub(crate) fn hold(definition: &DeadlineDefinition, deadline: &Deadline, measured: u64, problems: &mut Problems) {
    let (Some(work), Some(placed)) = (deadline.work.filter(|work| *work < measured), &definition.work) else { return };
    let message = format!("at least what is measured of it, {measured}, got {work}");
    let hint =
        "`work` is the whole job, of which a trial is a part: leave it out, or measure fewer accounts".to_owned();
    problems.add_with(&placed.at, "deadline.work", message, Some(hint));
}

/// `23:30`, as nanoseconds since midnight.
fn time_of_day(text: &str) -> Result<u64, String> {
    let refused = || format!("a time of the day such as `23:00`, got `{text}`");
    let (hours, minutes) = text.split_once(':').ok_or_else(refused)?;
    let part = |text: &str, most: u64| text.parse().ok().filter(|n: &u64| *n <= most).ok_or_else(refused);
    Ok((60 * part(hours, 23)? + part(minutes, 59)?) * 60_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_day_has_hours_and_minutes() {
        assert_eq!(time_of_day("23:30"), Ok((23 * 60 + 30) * 60_000_000_000));
        for wrong in ["24:00", "12:60", "noon", "1230", "-1:00"] {
            assert!(time_of_day(wrong).unwrap_err().contains(&format!("got `{wrong}`")));
        }
    }
}
