//! Which share of page look-ups misses a buffer, from the size of the data, the size of the buffer, and skew.
//!
//! The one idea: pages are asked for independently by Zipf's law, and the buffer forgets what was not asked for longest. Then a
//! page is there when it was asked for within a time that is the same for all pages (Che, Tung, Wang: Hierarchical web caching
//! systems, 2002; Fagin: Asymptotic miss ratios over independent references, 1977). With very many pages only the share of
//! them that fits counts.

/// The share that misses, where `fits` is the share of all pages that the buffer holds and `skew` lies below one.
pub fn misses(fits: f64, skew: f64) -> f64 {
    if fits >= 1.0 {
        return 0.0;
    }
    let pages: Vec<(f64, f64)> = pages(skew).collect();
    // The time is found between two that are far too short and too long, in logarithms.
    let (mut short, mut long) = (-40.0f64, 40.0f64);
    for _ in 0..HALVINGS {
        let time = libm::exp(0.5 * (short + long));
        let here: f64 = pages.iter().map(|(share, asked)| share * (1.0 - libm::exp(-time * asked))).sum();
        (short, long) = if here < fits { (libm::log(time), long) } else { (short, libm::log(time)) };
    }
    let time = libm::exp(0.5 * (short + long));
    let (missed, all) = pages.iter().fold((0.0, 0.0), |(missed, all), (share, asked)| {
        (missed + share * asked * libm::exp(-time * asked), all + share * asked)
    });
    missed / all
}

/// Shares of all pages, in finer steps where they are hot, and how often a page of each is asked for, 1 in the mean.
fn pages(skew: f64) -> impl Iterator<Item = (f64, f64)> {
    let place = |step: f64| libm::exp(DEEPEST * (1.0 - step / STEPS));
    let asked = move |place: f64| (1.0 - skew) * libm::pow(place, -skew);
    (0..STEPS as u32).map(f64::from).map(move |step| (place(step + 1.0) - place(step), asked(place(step + 0.5))))
}

/// Logarithm of the place of the hottest page that is looked at.
const DEEPEST: f64 = -30.0;
/// Steps over all pages.
const STEPS: f64 = 200.0;
/// After so many halvings the time is exact to many digits.
const HALVINGS: u32 = 45;

#[cfg(test)]
mod tests {
    use super::*;
    use random::Draws;
    use std::collections::{BTreeMap, HashMap};

    /// The share that misses of so many look-ups in a buffer that forgets what was not asked for longest.
    fn simulated(pages: usize, held: usize, skew: f64) -> f64 {
        let mut sums = vec![0.0f64];
        (1..=pages).for_each(|rank| sums.push(sums[rank - 1] + libm::pow(rank as f64, -skew)));
        let (mut draws, mut missed, mut counted) = (Draws::named(1, &[2]), 0, 0);
        let (mut last, mut order) = (HashMap::new(), BTreeMap::new());
        for now in 0..400_000u32 {
            let asked = draws.fraction() * sums[pages];
            let page = sums.partition_point(|sum| *sum <= asked);
            let before = last.insert(page, now);
            before.map(|then| order.remove(&then));
            order.insert(now, page);
            if order.len() > held {
                order.pop_first().map(|(_, page)| last.remove(&page));
            }
            if now >= 200_000 {
                counted += 1;
                missed += u32::from(before.is_none());
            }
        }
        f64::from(missed) / f64::from(counted)
    }

    #[test]
    fn a_simulated_buffer_misses_what_the_law_says() {
        for (held, skew) in [(500, 0.5), (2_000, 0.5), (8_000, 0.5), (2_000, 0.2), (2_000, 0.8)] {
            let (law, found) = (misses(held as f64 / 20_000.0, skew), simulated(20_000, held, skew));
            // With much skew the hottest of so few pages is one page, and a seventh of all look-ups goes to less than a page of
            // the law's; data of millions of pages is far closer.
            let most = if skew > 0.6 { 0.15 } else { 0.02 };
            assert!((found / law - 1.0).abs() < most, "{held} of 20000, skew {skew}: {found} against {law}");
        }
        assert_eq!(misses(1.0, 0.8), 0.0);
        assert!((misses(0.25, 0.0) - 0.75).abs() < 1e-3, "without skew what fits is what hits");
    }
}
