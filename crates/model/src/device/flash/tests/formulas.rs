//! Write amplification against the formulas of the literature.
//!
//! Greedy as the limit of the fewest of `d`: the mean field of Van Houdt (A mean field model for a class of garbage collection
//! algorithms in flash-based SSDs, SIGMETRICS 2013), solved here. It copies less than cleaning by age: Robinson (1996);
//! Desnoyers, Analytic modeling of SSD write performance (SYSTOR 2012).

use super::amplification::{decay, greedy};
use super::shape::{Shape, Start};
use super::translation::Translation;
use random::Draws;

fn plane(blocks: u32, spare: f64) -> Shape {
    Shape { blocks, spare, channels: 1, dies: 1, planes: 1, watermarks: (1, 1), ..super::tests::shape() }
}

/// Pages written to flash a page of the host, measured over some turns of the flash after others.
fn measured(shape: Shape, start: Start, before: u64, turns: u64) -> f64 {
    let mut maps = Translation::new(shape, start, Draws::numbered(3, 1));
    let mut random = Draws::numbered(3, 2);
    let (logical, flash) = (u64::from(shape.logical()), u64::from(shape.plane_pages()));
    let mut write = |count: u64| {
        for _ in 0..count {
            while !maps.has_room(0) {
                maps.clean(0, shape.pages);
            }
            maps.write(random.below(logical) as u32);
        }
        (maps.written, maps.copied)
    };
    let from = write(before * flash);
    let to = write(turns * flash);
    1.0 + (to.1 - from.1) as f64 / (to.0 - from.0) as f64
}

/// Flash to pages in use, without the block that is kept erased and half of the one that is being filled.
fn ratio(shape: Shape) -> f64 {
    f64::from(shape.plane_pages()) * (1.0 - 1.5 / f64::from(shape.blocks)) / f64::from(shape.plane_logical())
}

/// The amplification of cleaning by age: A = r / (r + W(-r exp(-r))) for `ratio` r of flash to pages in use.
fn by_age(ratio: f64) -> f64 {
    ratio / decay(ratio)
}

/// Van Houdt's fixed point: M_i, the share of blocks with at least i pages that count, obeys
/// i (M_i - M_(i+1)) = c (1 - M_i^d), and c follows from all pages in use: c sum (1 - M_i^d) = pages / ratio.
fn mean_field(pages: u32, ratio: f64, choices: f64) -> f64 {
    let emptied = |c: f64| {
        let mut above = 0.0f64;
        let mut sum = 0.0;
        for i in (1..=pages).rev() {
            let (mut low, mut high) = (above, 1.0f64);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                let over = f64::from(i) * (middle - above) - c * (1.0 - libm::pow(middle, choices));
                if over > 0.0 { high = middle } else { low = middle }
            }
            above = 0.5 * (low + high);
            sum += 1.0 - libm::pow(above, choices);
        }
        sum
    };
    let wanted = f64::from(pages) / ratio;
    let (mut low, mut high) = (1e-6, 1e6);
    for _ in 0..100 {
        let middle = libm::sqrt(low * high);
        if middle * emptied(middle) < wanted { low = middle } else { high = middle }
    }
    f64::from(pages) / emptied(low)
}

fn close(found: f64, wanted: f64, what: &str) {
    assert!((found / wanted - 1.0).abs() < 0.03, "{what}: {found} against {wanted}");
}

#[test]
fn greedy_cleaning_amplifies_as_the_mean_field_says_and_less_than_by_age() {
    for spare in [0.1, 0.25, 0.5] {
        let shape = plane(512, spare);
        let found = measured(shape, Start::Worn(1.0), 4, 3);
        close(found, mean_field(64, ratio(shape), 1e4), &format!("greedy, spare {spare}"));
        close(found, greedy(64, ratio(shape)), &format!("greedy in closed form, spare {spare}"));
        assert!(found < by_age(ratio(shape)));
    }
}

#[test]
fn the_formula_meets_known_points() {
    // Of blocks drawn by chance, each holds the mean share of pages: A = r / (r - 1).
    close(mean_field(64, 1.25, 1.0), 5.0, "by chance");
    // A / r = 1 / c with (1 - exp(-c)) / c = 1 / r; at c = 1: r = 1 / (1 - 1/e).
    let ratio = 1.0 / (1.0 - libm::exp(-1.0));
    close(by_age(ratio), ratio, "by age");
    for (pages, ratio) in [(16, 1.1), (64, 1.3), (256, 2.0)] {
        let (limit, many) = (greedy(pages, ratio), mean_field(pages, ratio, 1e6));
        assert!((limit / many - 1.0).abs() < 1e-3, "{pages} {ratio}: {limit} {many}");
    }
}

#[test]
fn a_device_simulated_at_half_the_size_amplifies_alike() {
    // The part that is kept erased counts for more in a smaller device, so the spare share is given without it.
    let at = |blocks: u32| {
        let spare = 0.25 + 1.25 * 1.5 / (f64::from(blocks) - 1.5);
        measured(plane(blocks, spare), Start::Worn(1.0), 4, 4)
    };
    let (large, small) = (at(512), at(256));
    assert!((large / small - 1.0).abs() < 0.02, "{large} {small}");
}

#[test]
fn a_worn_device_begins_near_its_steady_state() {
    let shape = plane(512, 0.25);
    let first = measured(shape, Start::Worn(1.0), 0, 1);
    let late = measured(shape, Start::Worn(1.0), 5, 2);
    assert!((first / late - 1.0).abs() < 0.12, "{first} against {late}");
}
