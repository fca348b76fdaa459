//! What a transaction of a measured run asked for, as numbers of a server's model.
//!
//! The one idea: a run says some of the amounts that a model file asks for; those become given, with the run as their
//! source, and all others stay as they are. What was not observed is not zero.
//!
//! What it does not do: it opens no run, and it takes no numbers of the machine, such as how fast its storage is.

use crate::file::{Description, Doubt};
use crate::server::Amount;

/// An amount, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// What.
    pub amount: Amount,
    /// How much of it a transaction asked for, in its unit; none when the run did not observe it.
    pub each: Option<f64>,
    /// The parameter that holds it, with its value before and now; none where the kind has none.
    pub parameter: Option<(&'static str, f64, f64)>,
}

/// Why a run gives a model no profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum ProfileError {
    /// Another machine.
    #[error("a profile is what transactions ask of a server-on-flash, a server-on-disks or a mirrored-pair, got a {0}")]
    NoServer(&'static str),
    /// No amount that has a parameter.
    #[error("a profile needs at least one of {0}; the run observed none of them")]
    NothingObserved(String),
    /// A number that the parameter cannot be.
    #[error("`{parameter}` is at most {most} {unit}, the run has {got}")]
    TooMuch { parameter: &'static str, most: f64, unit: &'static str, got: f64 },
}

/// The server with the amounts that a run observed, as `source` says: `profile of run ..`. Nothing at all of something is
/// written as the least that its parameter can be. A model that was never calibrated carries the doubt of its assumed
/// numbers from here on.
///
/// # Errors
/// Of another kind, without any amount that the kind has a parameter for, or with one beyond its limit.
pub fn take(
    model: &Description,
    observed: &[(Amount, Option<f64>)],
    source: &str,
) -> Result<(Description, Vec<Taken>), ProfileError> {
    let kind = model.kind;
    if kind.amount(Amount::Cpu).is_none() {
        return Err(ProfileError::NoServer(kind.word()));
    }
    let useful = |(amount, each): &(Amount, Option<f64>)| each.is_some() && kind.amount(*amount).is_some();
    if !observed.iter().any(useful) {
        let wanted: Vec<&str> =
            observed.iter().filter(|(amount, _)| kind.amount(*amount).is_some()).map(|(a, _)| a.word()).collect();
        return Err(ProfileError::NothingObserved(wanted.join(", ")));
    }
    let mut new = model.clone();
    let taken: Result<Vec<Taken>, ProfileError> =
        observed.iter().map(|(amount, each)| one(&mut new, *amount, *each, source)).collect();
    let taken = taken?;
    new.doubt = new.doubt.take().or_else(|| Doubt::assumed(&new));
    Ok((new, taken))
}

fn one(model: &mut Description, amount: Amount, each: Option<f64>, source: &str) -> Result<Taken, ProfileError> {
    let asked = model.kind.amount(amount);
    let place = asked.and_then(|name| model.parameters.iter().position(|parameter| parameter.name == name));
    let (Some(parameter), Some(place)) = (asked, place) else { return Ok(Taken { amount, each, parameter: None }) };
    let (before, asked) = (model.parameters[place].value, &model.kind.asks()[place]);
    if let Some(got) = each {
        if got.is_nan() || got > asked.high {
            return Err(ProfileError::TooMuch { parameter, most: asked.high, unit: asked.unit, got });
        }
        model.state(place, got.max(asked.low), source.to_owned());
    }
    Ok(Taken { amount, each, parameter: Some((parameter, before, model.parameters[place].value)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{self, Origin};
    use crate::rows;

    fn of(name: &str) -> Description {
        let shipped = crate::models().iter().find(|model| model.name == name).expect("it ships");
        file::read(name, shipped.text).unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn value(model: &Description, name: &str) -> f64 {
        model.parameter(name).expect("the kind has it").value
    }

    #[test]
    fn what_was_observed_is_given_and_all_else_stays() {
        let before = of("small-server");
        let observed = [
            (Amount::Cpu, Some(0.25)),
            (Amount::Reads, Some(0.0)),
            (Amount::Writes, None),
            (Amount::Lookups, Some(23.0)),
        ];
        let (model, taken) = take(&before, &observed, "profile of run x").unwrap();
        assert_eq!((value(&model, "demand"), value(&model, "reads")), (0.25, 1e-6));
        assert_eq!(value(&model, "writes"), value(&before, "writes"), "what was not observed is not zero");
        let origin = |name: &str| &model.parameter(name).expect("the kind has it").origin;
        assert_eq!(origin("demand"), &Origin::Given("profile of run x".to_owned()));
        assert_eq!(origin("writes"), &before.parameter("writes").expect("it has").origin);
        assert_eq!(taken[0].parameter, Some(("demand", value(&before, "demand"), 0.25)));
        assert_eq!((taken[3].each, taken[3].parameter), (Some(23.0), None));
        let again = file::read("mine", &file::write(&model)).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!((again.parameters, again.doubt.is_some()), (model.parameters, true));
    }

    #[test]
    fn a_measured_pair_gives_a_pair_what_its_servers_spend_on_a_transaction() {
        let observed = [
            (Amount::Cpu, None),
            (Amount::SourceMirror, Some(0.2)),
            (Amount::TargetMirror, Some(0.3)),
            (Amount::Reads, Some(4.0)),
        ];
        let before = of("mirror-case2");
        let (pair, taken) = take(&before, &observed, "a run").unwrap();
        assert_eq!((value(&pair, "source_mirror"), value(&pair, "target_mirror")), (0.2, 0.3));
        assert_eq!(value(&pair, "demand"), value(&before, "demand"));
        assert_eq!(taken[3].parameter, None, "a pair counts no reads");
    }

    #[test]
    fn what_is_given_is_no_longer_in_doubt_and_what_is_assumed_is() {
        let table = rows::read("row_id,threads\na,1\n").unwrap();
        let width = |model: &Description| {
            let (low, high) = model.interval(&table.rows[0], "throughput", 0.0);
            high / low
        };
        let model = of("small-server");
        let reads = [(Amount::Reads, Some(value(&model, "reads")))];
        let (unsure, _) = take(&model, &reads, "a run").unwrap();
        let (surer, _) = take(&model, &[reads[0], (Amount::Cpu, Some(value(&model, "demand")))], "a run").unwrap();
        assert!(width(&unsure) > 2.0, "the processor time is assumed within a factor of ten: {}", width(&unsure));
        assert!(width(&surer) < 0.7 * width(&unsure));
        let (fitted, _) = take(&of("s824-fs840"), &reads, "a run").unwrap();
        let doubt = fitted.doubt.expect("it was fitted");
        assert!(doubt.parameters.len() == 12 && !doubt.parameters.contains(&"reads".to_owned()), "{doubt:?}");
    }

    #[test]
    fn a_profile_without_a_server_or_without_amounts_is_refused() {
        let refused = |name: &str, observed: &[(Amount, Option<f64>)]| {
            take(&of(name), observed, "a run").unwrap_err().to_string()
        };
        assert!(refused("f5100", &[(Amount::Cpu, Some(1.0))]).ends_with("got a flash-array"));
        let none = refused("power770-san", &[(Amount::Cpu, None), (Amount::Lookups, Some(1.0)), (Amount::Reads, None)]);
        assert!(none.starts_with("a profile needs at least one of processor time, reads of storage; "), "{none}");
        let much = refused("small-server", &[(Amount::Cpu, Some(1e9))]);
        assert!(much.contains("`demand` is at most 1000000 ms"), "{much}");
    }
}
