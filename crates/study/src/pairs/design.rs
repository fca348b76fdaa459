//! The order in which pairs are run, and what the test on them loses to it.
//!
//! Pairs with the baseline first and pairs with it last are averaged separately, and the two averages are averaged, which
//! takes a degree of freedom more than a plain paired t. For trials whose noise is AR(1), how much the standard error
//! understates follows from the order of the trials alone; the worst case over all positive correlations is allowed for.

/// The order in which pairs were run, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Weight of each log ratio in the effect; they add up to one.
    pub weights: Vec<f64>,
    /// Whether the baseline came first, by pair.
    pub first: Vec<bool>,
    places: Vec<(f64, f64)>,
}

/// What decides how sensitive a comparison is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// How many pairs.
    pub pairs: u32,
    /// Degrees of freedom of the deviation: the pairs less the means of the orders.
    pub freedom: f64,
    /// Variance of the effect over that of a pair, when trials are independent.
    pub weight: f64,
    /// What the test multiplies that variance with, so that neighbours that resemble each other claim nothing.
    pub allowance: f64,
}

impl Shape {
    /// The shape of so many pairs in the order AB BA AB BA, where a block has `block` trials.
    pub fn alternating(pairs: u32, block: u32) -> Shape {
        // The factor of the order costs the square of the pairs, and soon nears its limit as one over their number.
        const NEAR: u32 = 8;
        let place = |k: u32| {
            let (at, swapped) = (f64::from(k * block.max(2)), k % 2 == 1);
            if swapped { (at + 1.0, at) } else { (at, at + 1.0) }
        };
        let design = |pairs: u32| Design::new((0..pairs).map(place).collect());
        if pairs <= NEAR {
            return design(pairs).shape();
        }
        let (near, half) = (design(NEAR).worst_inflation(), design(NEAR / 2).worst_inflation());
        let inflation = near + (near - half) * (1.0 - f64::from(NEAR) / f64::from(pairs));
        let freedom = f64::from(pairs) - 2.0;
        Shape { pairs, freedom, weight: 1.0 / f64::from(pairs), allowance: inflation * few_allowance(freedom) }
    }

    /// The same where trials know nothing of one another.
    pub fn independent(self) -> Shape {
        Shape { allowance: 1.0, ..self }
    }

    /// Standard error of the effect, from the deviation of the pairs about the means of their orders.
    pub fn error(&self, deviation: f64) -> f64 {
        deviation * (self.weight * self.allowance).sqrt()
    }
}

/// What the variance of the effect is raised by because the worst case holds on average only: with few degrees of freedom
/// the residuals scatter, and pauses make them less than normal. Chosen by simulation, so that even four pairs stay
/// under five percent of false claims in every world of the same-against-same test; without it they touch it.
fn few_allowance(freedom: f64) -> f64 {
    1.0 + 1.0 / freedom.max(1.0)
}

impl Design {
    /// `places` are those of the baseline's trial and of the other in the order of execution, by pair.
    pub fn new(places: Vec<(f64, f64)>) -> Design {
        let first: Vec<bool> = places.iter().map(|(baseline, system)| baseline < system).collect();
        let ahead = first.iter().filter(|first| **first).count();
        let behind = first.len() - ahead;
        let weight = |first: &bool| match (ahead, behind) {
            (0, n) | (n, 0) => 1.0 / n as f64,
            _ => 0.5 / if *first { ahead as f64 } else { behind as f64 },
        };
        Design { weights: first.iter().map(weight).collect(), first, places }
    }

    /// What decides how sensitive the comparison is.
    pub fn shape(&self) -> Shape {
        let freedom = self.places.len() as f64 - self.orders();
        Shape {
            pairs: self.places.len() as u32,
            freedom,
            weight: self.weights.iter().map(|w| w * w).sum(),
            allowance: self.worst_inflation() * few_allowance(freedom),
        }
    }

    /// How many orders occur: each takes a degree of freedom.
    pub fn orders(&self) -> f64 {
        let mixed = self.first.iter().any(|f| *f) && self.first.iter().any(|f| !*f);
        if mixed { 2.0 } else { 1.0 }
    }

    /// The largest factor, over positive AR(1) correlations between neighbouring trials, by which the variance of the
    /// effect exceeds what the residuals make of it. At least one.
    fn worst_inflation(&self) -> f64 {
        let candidates = (1..=9).map(|tenth| self.inflation(f64::from(tenth) / 10.0));
        candidates.fold(1.0, f64::max)
    }

    fn inflation(&self, phi: f64) -> f64 {
        let n = self.places.len();
        let alike = Alike::new(phi);
        let mut effect = 0.0;
        let mut residual = 0.0;
        for i in 0..n {
            for j in 0..n {
                let covariance = alike.covariance(self.places[i], self.places[j]);
                effect += self.weights[i] * self.weights[j] * covariance;
                // The sum of squares about the mean of an order loses the share that the mean takes.
                let own = if i == j { 1.0 } else { 0.0 };
                let order = if self.first[i] == self.first[j] { self.weights[i] * self.orders() } else { 0.0 };
                residual += (own - order) * covariance;
            }
        }
        let plain = residual / (n as f64 - self.orders()) * self.weights.iter().map(|w| w * w).sum::<f64>();
        if plain > 0.0 { effect / plain } else { 1.0 }
    }
}

/// Correlation of the noise of two trials by their distance in the order, under AR(1) noise.
struct Alike([f64; 64]);

impl Alike {
    fn new(phi: f64) -> Alike {
        let mut powers = [1.0; 64];
        for distance in 1..powers.len() {
            powers[distance] = powers[distance - 1] * phi;
        }
        Alike(powers)
    }

    fn at(&self, x: f64, y: f64) -> f64 {
        // Beyond the table even 0.9 has died away to a thousandth.
        self.0.get((x - y).abs() as usize).copied().unwrap_or(0.0)
    }

    /// Covariance of two log ratios whose trials have noise of unit variance.
    fn covariance(&self, a: (f64, f64), b: (f64, f64)) -> f64 {
        self.at(a.0, b.0) + self.at(a.1, b.1) - self.at(a.0, b.1) - self.at(a.1, b.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_and_its_run_have_the_same_shape() {
        let run = Design::new(vec![(0.0, 1.0), (3.0, 2.0), (4.0, 5.0), (7.0, 6.0)]);
        assert_eq!(run.shape(), Shape::alternating(4, 2));
        assert_eq!(run.shape().freedom, 2.0);
        assert_eq!(run.shape().weight, 0.25);
    }

    #[test]
    fn pairs_far_from_each_other_lose_less_to_the_order() {
        assert!(Shape::alternating(8, 20).allowance < Shape::alternating(8, 2).allowance);
    }

    #[test]
    fn beyond_what_is_computed_the_shape_goes_on_without_a_jump() {
        let place = |k: u32| (f64::from(2 * k + k % 2), f64::from(2 * k + 1 - k % 2));
        for pairs in [10, 16, 32, 64] {
            let (exact, near) = (Design::new((0..pairs).map(place).collect()).shape(), Shape::alternating(pairs, 2));
            assert!((exact.allowance / near.allowance - 1.0).abs() < 3e-3, "{pairs} pairs: {exact:?} {near:?}");
            assert_eq!(exact.freedom, near.freedom);
        }
    }
}
