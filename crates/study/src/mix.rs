//! What is planned for the classes of a stream: for those who see labels only.
//!
//! The one idea: a run file keeps the names of classes. Shares and limits follow from the list of names, so that whoever
//! judges a mix needs not know the workload that it belongs to.
//!
//! What it does not do: it judges nothing.

use workload::WORKLOADS;
use workload::kind::Class;

/// What is planned for the classes of a stream with these names, in their order; empty for a workload that plans nothing.
pub fn class_targets(names: &[String]) -> Vec<Class> {
    let same = |classes: &Vec<Class>| classes.iter().map(|class| &class.name).eq(names);
    WORKLOADS.iter().flat_map(|row| row.mixes.iter()).map(|mix| mix()).find(same).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::brokerage::{Preset, classes};

    #[test]
    fn a_preset_is_known_by_its_classes_and_any_other_list_plans_nothing() {
        for preset in [Preset::Desk, Preset::House] {
            let names: Vec<String> = classes(preset).into_iter().map(|class| class.name).collect();
            let targets = class_targets(&names);
            assert_eq!(targets.len(), names.len());
            let shares: f64 = targets.iter().filter_map(|target| target.share).sum();
            assert!((shares - 1.0).abs() < 1e-9);
            assert_eq!(class_targets(&names[1..]), []);
        }
        assert_eq!(class_targets(&["read".to_owned(), "write".to_owned()]), []);
    }
}
