//! What is planned for the classes of a stream: for those who see labels only.
//!
//! The one idea: a run file keeps the names of classes. Shares and limits follow from the list of names, so that whoever
//! judges a mix needs not know the workload that it belongs to.
//!
//! What it does not do: it judges nothing.

use workload::brokerage::{ClassShare, Preset, classes, mix};

/// What is planned for a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassTarget {
    /// Its share of all transactions, 0 to 1; none for what comes by the clock.
    pub share: Option<f64>,
    /// Seconds within which nine of ten should answer; none where nobody waits.
    pub limit_s: Option<f64>,
}

/// The targets of a stream with these classes, in their order; without any for a workload that plans none.
pub fn class_targets(names: &[String]) -> Vec<Option<ClassTarget>> {
    let planned = [Preset::Desk, Preset::House].into_iter().find(|preset| classes(*preset) == names);
    let target = |share: ClassShare| Some(ClassTarget { share: share.share, limit_s: share.limit_seconds });
    planned.map(|preset| mix(preset).into_iter().map(target).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_known_by_its_classes_and_any_other_list_plans_nothing() {
        for preset in [Preset::Desk, Preset::House] {
            let names: Vec<String> = classes(preset).into_iter().map(str::to_owned).collect();
            let targets = class_targets(&names);
            assert_eq!(targets.len(), names.len());
            let shares: f64 = targets.iter().flatten().filter_map(|target| target.share).sum();
            assert!((shares - 1.0).abs() < 1e-9);
            assert_eq!(class_targets(&names[1..]), []);
        }
        assert_eq!(class_targets(&["read".to_owned(), "write".to_owned()]), []);
    }
}
