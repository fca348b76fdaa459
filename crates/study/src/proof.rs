//! What a study of tiers holds against its promise: the table `[tier]`.
//!
//! The one idea: whoever runs the study samples it with everything on the slow tier, and writes what the advice promises of each step
//! into its text, as `[[tier.step]]` beside a `[layout.step-N]`. From then on it is a study of layouts like any other.
//!
//! What it does not do: it samples nothing and advises nothing.

use crate::experiment::SystemChoice;
use crate::{DatabaseSpec, Place};
use reading::{Form, Problems, Section};

/// The layout with everything on the slow tier, against which steps are held.
pub const BASELINE: &str = "all-slow";

/// A study that holds an advice against what it promised.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Steps in which objects go to the fast tier, at most.
    pub steps: u32,
    /// Name of the system with everything on the slow tier; empty where there is none.
    pub baseline: String,
    /// The steps, each with what went before; none before the baseline was sampled.
    pub taken: Vec<ProofStep>,
}

/// Objects that go to the fast tier together.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofStep {
    /// Name of the system on which they and those of earlier steps are fast.
    pub system: String,
    /// The objects, each with its bytes.
    pub objects: Vec<(String, f64)>,
    /// The share of the gain that is promised of all so far, and its interval.
    pub promised: [f64; 3],
}

/// The table as it is written.
#[derive(Clone, Debug)]
pub(crate) struct ProofDefinition {
    steps: u32,
    taken: Vec<Promised>,
}

/// Objects with their bytes, and the share of the gain that is promised of all so far.
type Promised = (Vec<(String, f64)>, [f64; 3]);

impl ProofDefinition {
    /// Whether the advice was asked for already.
    pub fn is_promised(&self) -> bool {
        !self.taken.is_empty()
    }
}

/// The name of the layout of a step, counted from 1.
pub fn layout_of(step: usize) -> String {
    format!("step-{step}")
}

/// Whether a layout is one of a step; single keys of the command line stand behind its name.
pub(crate) fn is_step(layout: &str) -> bool {
    layout.split(' ').next().is_some_and(|name| name.starts_with("step-"))
}

/// Reads the table.
pub(crate) fn definition(root: &mut Section, problems: &mut Problems) -> Option<ProofDefinition> {
    let entry = root.take("tier")?;
    let mut section = Section::of("tier", entry.node, problems)?;
    let steps = section.read("steps", problems, |text| {
        let steps = text.parse().ok().filter(|steps| (1..=16).contains(steps));
        steps.ok_or_else(|| format!("a whole number from 1 to 16, got `{text}`"))
    });
    let mut taken = Vec::new();
    if let Some(entry) = section.take("step") {
        let Form::List(nodes) = entry.node.form else {
            problems.add(&entry.at, "tier.step", "a list of tables");
            return None;
        };
        for node in nodes {
            let Some(mut step) = Section::of("tier.step", node, problems) else { continue };
            let (objects, promised) =
                (step.read("objects", problems, objects), step.read("promised", problems, promised));
            step.finish(&["objects", "promised"], |_| None, problems);
            taken.extend(objects.zip(promised));
        }
    }
    section.finish(&["steps", "step"], |_| None, problems);
    Some(ProofDefinition { steps: steps.unwrap_or(4), taken })
}

/// `posting=81920 posting_pkey=16384`.
fn objects(text: &str) -> Result<Vec<(String, f64)>, String> {
    let one = |word: &str| {
        let (name, bytes) = word.split_once('=')?;
        Some((name.to_owned(), number(bytes)?))
    };
    let read: Option<Vec<_>> = text.split_whitespace().map(one).collect();
    read.filter(|all| !all.is_empty())
        .ok_or_else(|| format!("objects with their bytes, as `posting=81920`, got `{text}`"))
}

/// `0.41 0.38 0.45`.
fn promised(text: &str) -> Result<[f64; 3], String> {
    let read: Option<Vec<f64>> = text.split_whitespace().map(number).collect();
    let read = read.and_then(|all| <[f64; 3]>::try_from(all).ok());
    read.ok_or_else(|| format!("a share with both ends of its interval, as `0.41 0.38 0.45`, got `{text}`"))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// The proof over the systems as they are; without a baseline where none of them has a layout.
pub(crate) fn resolved(definition: &ProofDefinition, systems: &[SystemChoice]) -> Proof {
    let laid_out = |layout: &str| {
        // Single keys of the command line stand behind its name.
        let is = |system: &&SystemChoice| match &system.spec.place {
            Place::Database(DatabaseSpec { layout: Some(own), .. }) => own.name.split(' ').next() == Some(layout),
            _ => false,
        };
        systems.iter().find(is).map(|system| system.spec.name.clone())
    };
    let step = |(at, (objects, promised)): (usize, &Promised)| {
        Some(ProofStep { system: laid_out(&layout_of(at + 1))?, objects: objects.clone(), promised: *promised })
    };
    let taken = definition.taken.iter().enumerate().map_while(step).collect();
    Proof { steps: definition.steps, baseline: laid_out(BASELINE).unwrap_or_default(), taken }
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, Study};

    const TEXT: &str = r#"
        [tier]
        steps = 2
        [system.db]
        kind = "postgres"
        layout = "all-slow"
        slow = "/a"
        fast = "/b"
        [workload.day]
        kind = "bank-day"
        [workload.reports]
        kind = "warehouse"
        [[experiment]]
        name = "first"
        workload = "day"
        [[experiment]]
        name = "second"
        workload = "reports"
    "#;
    const STEPS: &str = r#"
        [layout.step-1]
        fast_objects = "balance"
        [layout.step-2]
        fast_objects = "balance balance_pkey"
        [[tier.step]]
        objects = "balance=8192"
        promised = "0.7 0.6 0.8"
        [[tier.step]]
        objects = "balance_pkey=4096"
        promised = "1 1 1"
    "#;

    fn with(text: &str, settings: &[&str]) -> Study {
        let settings = settings.iter().map(|one| (*one).to_owned()).collect();
        let study = Study::parse("t", text).expect("a study");
        study.with(&Overrides { settings, ..Overrides::default() }).expect("it can be changed")
    }

    #[test]
    fn a_study_of_tiers_is_of_one_workload_and_says_what_each_system_was_promised() {
        let study = with(TEXT, &[]);
        assert_eq!(study.experiments().collect::<Vec<_>>(), ["first"]);
        let proof = study.judgement().proof.clone().expect("it proves an advice");
        assert_eq!((proof.steps, proof.baseline.as_str(), proof.taken.len()), (2, "db", 0));
        assert_eq!(with(TEXT, &["workload=reports"]).experiments().collect::<Vec<_>>(), ["second"]);
        let study = with(&format!("{TEXT}{STEPS}"), &["layout=all-slow,step-1,step-2", "log_on=fast"]);
        let proof = study.judgement().proof.clone().expect("it proves an advice");
        let systems: Vec<&str> = proof.taken.iter().map(|step| step.system.as_str()).collect();
        assert_eq!((proof.baseline.as_str(), systems), ("db all-slow", vec!["db step-1", "db step-2"]));
        assert_eq!(proof.taken[0].objects, [("balance".to_owned(), 8192.0)]);
        assert_eq!(proof.taken[0].promised, [0.7, 0.6, 0.8]);
    }

    #[test]
    fn what_is_wrong_with_a_step_is_told_with_its_place() {
        for (wrong, told) in [
            ("steps = 99", "from 1 to 16"),
            ("[[tier.step]]\nobjects = 'balance'\npromised = '1 1 1'", "as `posting=81920`"),
            ("[[tier.step]]\nobjects = 'balance=1'\npromised = '0.5'", "both ends of its interval"),
        ] {
            let text = TEXT.replace("steps = 2", wrong);
            let problems = Study::parse("t", &text).expect_err("it is refused").to_string();
            assert!(problems.contains(told), "{problems}");
        }
    }
}
