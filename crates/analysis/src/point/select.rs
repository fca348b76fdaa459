//! Which points a selector of the study means.

use observation::{Factor, Point};
use study::Selector;

/// Whether a point is meant.
pub fn selects(selector: &Selector, point: &Point) -> bool {
    let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let has = |wanted: &Factor| point.level(&wanted.name).is_some_and(|level| level.same(&wanted.level));
    is(&selector.experiment, &point.experiment)
        && is(&selector.stream, &point.stream)
        && selector.factors.iter().all(has)
}
