//! A study file of any text is a study or a list of problems, and a study can be planned.

use study::{Overrides, Planner, Study, Survey, plan};

/// Parses, prints the problems, and plans what has none.
pub fn study_parser(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Study::parse("fuzz", text) {
        Err(problems) => assert!(!problems.to_string().is_empty(), "a refusal without a word"),
        Ok(study) => {
            let same = study.with(&Overrides::default()).expect("overrides that change nothing");
            if let Ok(plan) = plan(&same, &Survey::default(), 7) {
                let _ = Planner::new(plan).next(&[]);
            }
        }
    }
}
