//! What the rings of a trial were like: what the kernel gave them, and how long they went between two looks.
//!
//! Kernels, limits on locked memory and flags give one ring more than another, and a trial on the lesser one costs more. So each
//! trial tells, and trials that differ are doubted when they are compared.

use crate::hot::looks::Looks;
use observation::{Series, Whole};
use units::Nanos;

/// What a worker had.
pub(crate) struct RingUse {
    /// How much of what helps the kernel knew, 0 for the least.
    pub(crate) generation: u8,
    /// Whether the kernel knows its buffers beforehand; nothing where data moves through sockets.
    pub(crate) registered: Option<bool>,
    /// Whether it waits for the first byte before it looks for one; nothing without sockets.
    pub(crate) polls_first: Option<bool>,
    pub(crate) looks: Looks,
}

/// All of them, as they are kept: the least generation, and what share had the rest.
pub(crate) fn series(rings: &[RingUse], at: Nanos) -> Vec<Series> {
    let Some((first, others)) = rings.split_first() else { return Vec::new() };
    let mut looks = first.looks.clone();
    others.iter().for_each(|ring| looks.merge(&ring.looks));
    let share = |of: fn(&RingUse) -> Option<bool>| {
        let told: Vec<bool> = rings.iter().filter_map(of).collect();
        (!told.is_empty()).then(|| told.iter().filter(|had| **had).count() as f64 / told.len() as f64)
    };
    let figures = [
        (Whole::RingGeneration, rings.iter().map(|ring| f64::from(ring.generation)).reduce(f64::min)),
        (Whole::RingBuffers, share(|ring| ring.registered)),
        (Whole::RingPollFirst, share(|ring| ring.polls_first)),
    ];
    let known = figures.into_iter().filter_map(|(what, value)| Some((what, value?)));
    let told = known.map(|(what, value)| Series { probe: what.into(), points: vec![(at, value)] });
    told.chain(looks.series(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::Window;

    #[test]
    fn of_several_rings_the_least_counts_and_what_does_not_apply_is_not_told() {
        let ring = |generation, registered| {
            let looks = Looks::new(Window::default());
            RingUse { generation, registered, polls_first: None, looks }
        };
        let told = series(&[ring(3, Some(true)), ring(1, Some(false))], Nanos(7));
        let told: Vec<(String, f64)> = told.iter().map(|one| (one.probe.to_string(), one.points[0].1)).collect();
        let expected = [("generator.rings.generation", 1.0), ("generator.rings.registered_buffers", 0.5)];
        assert_eq!(told, expected.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(series(&[], Nanos(7)), []);
    }
}
