//! The Universal Scalability Law (Gunther: Guerrilla Capacity Planning, chapter 4): a fine interpolator, and one of the
//! baselines that a model must beat.

/// `rate(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// Rate of one.
    pub lambda: f64,
    /// Contention, not below zero.
    pub sigma: f64,
    /// Coherency, not below zero.
    pub kappa: f64,
}

impl Usl {
    /// The rate at size `n`.
    pub fn rate(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// The size with the highest rate; none when it grows for ever.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| libm::sqrt(((1.0 - self.sigma) / self.kappa).max(0.0)))
    }
}

/// Fits the law on `(size, rate)` by least squares of `n / rate`, which is linear in `1/lambda`, `sigma/lambda` and
/// `kappa/lambda`; coefficients that would be negative are held at zero. Two rows leave coherency out, one leaves
/// contention out too. None without rows.
pub fn fit(rows: &[(f64, f64)]) -> Option<Usl> {
    let mut sizes: Vec<f64> = rows.iter().map(|(n, _)| *n).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    // Which terms take part: the most that the rows allow first, then fewer until none is negative.
    let choices: [&[bool; 3]; 4] =
        [&[true, true, true], &[true, true, false], &[true, false, true], &[true, false, false]];
    let allowed = choices.into_iter().filter(|terms| terms.iter().filter(|t| **t).count() <= sizes.len());
    let solved = allowed.filter_map(|terms| solve(rows, terms));
    // Of laws that meet the rows alike, as two with as many terms as rows do, the first is taken.
    let better = |best: (Usl, f64), next: (Usl, f64)| if next.1 < best.1 - 1e-12 { next } else { best };
    solved.reduce(better).map(|(law, _)| law)
}

/// Weighted least squares over the terms that take part; none when a coefficient is negative.
fn solve(rows: &[(f64, f64)], terms: &[bool; 3]) -> Option<(Usl, f64)> {
    let columns: Vec<usize> = (0..3).filter(|term| terms[*term]).collect();
    let basis = |n: f64| [1.0, n - 1.0, n * (n - 1.0)];
    // Each row is weighted so that relative errors count: n / rate is divided by itself.
    let line = |(n, rate): &(f64, f64)| columns.iter().map(|c| basis(*n)[*c] * rate / n).collect::<Vec<f64>>();
    let matrix: Vec<f64> = rows.iter().flat_map(line).collect();
    let matrix = nalgebra::DMatrix::from_row_slice(rows.len(), columns.len(), &matrix);
    let ones = nalgebra::DVector::from_element(rows.len(), 1.0);
    let solution = matrix.clone().svd(true, true).solve(&ones, 1e-12).ok()?;
    let mut coefficients = [0.0; 3];
    columns.iter().zip(solution.iter()).for_each(|(column, value)| coefficients[*column] = *value);
    if coefficients[0] <= 0.0 || coefficients.iter().any(|c| *c < 0.0) {
        return None;
    }
    let misfit = (matrix * solution - ones).norm_squared();
    let lambda = 1.0 / coefficients[0];
    Some((Usl { lambda, sigma: coefficients[1] * lambda, kappa: coefficients[2] * lambda }, misfit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_law_is_found_again() {
        let law = Usl { lambda: 995.6, sigma: 0.0267, kappa: 0.000_769 };
        let rows: Vec<(f64, f64)> = [1.0, 2.0, 8.0, 16.0, 32.0].map(|n| (n, law.rate(n))).to_vec();
        let found = fit(&rows).unwrap();
        assert!((found.lambda / law.lambda - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.sigma / law.sigma - 1.0).abs() < 1e-6 && (found.kappa / law.kappa - 1.0).abs() < 1e-6);
        assert!((found.peak().unwrap() - 35.58).abs() < 0.1);
    }

    #[test]
    fn coefficients_are_never_negative() {
        // Faster than linear: no contention can say that.
        let found = fit(&[(1.0, 10.0), (2.0, 25.0), (4.0, 70.0)]).unwrap();
        assert!(found.sigma >= 0.0 && found.kappa >= 0.0);
    }

    #[test]
    fn few_rows_leave_terms_out() {
        assert_eq!(fit(&[(4.0, 400.0)]), Some(Usl { lambda: 100.0, sigma: 0.0, kappa: 0.0 }));
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(1.0, 100.0), (4.0, 300.0)]).unwrap().kappa, 0.0);
    }
}
