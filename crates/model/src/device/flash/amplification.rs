//! What cleaning costs in the long run, by formula.
//!
//! The one idea: under writes at random places the share of flash beyond what is in use decides alone how many pages a
//! cleaned block still holds.

/// The `c` with which blocks of the ages 0 to 1 hold one page in `ratio` places: (1 - exp(-c)) / c = 1 / ratio. Under
/// cleaning by age, `ratio / c` is the write amplification.
pub(super) fn decay(ratio: f64) -> f64 {
    let (mut low, mut high) = (0.0f64, ratio.max(1.0) + 1.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        let held = if middle < 1e-12 { 1.0 } else { (1.0 - libm::exp(-middle)) / middle };
        if held > 1.0 / ratio { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Pages written to flash for each page that a host writes at random, when the block with the fewest pages that count is
/// emptied, for `ratio` of flash to pages in use: the limit of many choices of the mean field of Van Houdt (SIGMETRICS 2013).
/// No block falls below `j` pages, and those above obey i m_i = c; that all pages in use find a place gives `c`, and `j` is
/// the one at which a share from 0 to 1 of the blocks is emptied at `j` itself.
pub fn greedy(pages: u32, ratio: f64) -> f64 {
    if ratio <= 1.0 {
        return f64::INFINITY;
    }
    let (b, mut harmonic) = (f64::from(pages), 0.0);
    for least in (0..pages).rev() {
        let j = f64::from(least);
        harmonic += 1.0 / (j + 1.0);
        let c = (b / ratio - j) / (b - j - j * harmonic);
        let above = c * harmonic;
        let at = j * (1.0 - above) / c;
        if c > 0.0 && above <= 1.0 && (0.0..=1.0).contains(&at) {
            return b / (b - j + at);
        }
    }
    1.0
}
