//! The three laws that any model must beat: linear scaling, the Universal Scalability Law, and the best law of two
//! parameters. They see the same calibration rows as the model and know nothing of machines.

use crate::asked::Shape;
use crate::form::usl;

/// What one law predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The law, such as `a + b n`.
    pub law: &'static str,
    /// Its prediction.
    pub predicted: f64,
}

/// The three, each where the rows are enough for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baselines {
    /// Through the origin, or constant for a time of a population.
    pub linear: Option<Baseline>,
    /// Gunther's law.
    pub usl: Option<Baseline>,
    /// The best of the two-parameter laws on the calibration rows.
    pub two_parameters: Option<Baseline>,
}

/// What the laws say at size `at`, from calibration rows `(size, value)` that differ in nothing but their size.
pub fn baselines(shape: Shape, rows: &[(f64, f64)], at: f64) -> Baselines {
    let usable: Vec<(f64, f64)> = rows.iter().copied().filter(|(n, y)| *n > 0.0 && *y > 0.0).collect();
    if usable.is_empty() || at <= 0.0 {
        return Baselines::default();
    }
    Baselines {
        linear: Some(linear(shape, &usable, at)),
        usl: scalability(shape, &usable, at),
        two_parameters: two_parameters(&usable, at),
    }
}

/// The factor is the mean of the ratios in logarithms, which treats all rows alike.
fn linear(shape: Shape, rows: &[(f64, f64)], at: f64) -> Baseline {
    let constant = shape == Shape::TimeOfPopulation;
    let ratio = |(n, y): &(f64, f64)| libm::log(if constant { *y } else { y / n });
    let factor = libm::exp(rows.iter().map(ratio).sum::<f64>() / rows.len() as f64);
    if constant { Baseline { law: "a", predicted: factor } } else { Baseline { law: "a n", predicted: factor * at } }
}

fn scalability(shape: Shape, rows: &[(f64, f64)], at: f64) -> Option<Baseline> {
    let rates: Vec<(f64, f64)> = match shape {
        Shape::Rate => rows.to_vec(),
        Shape::TimeOfPopulation => rows.iter().map(|(n, y)| (*n, n / y)).collect(),
        Shape::Other => return None,
    };
    let law = usl::fit(&rates)?;
    let rate = law.rate(at);
    let predicted = if shape == Shape::Rate { rate } else { at / rate };
    Some(Baseline { law: "l n / (1 + s (n - 1) + k n (n - 1))", predicted })
}

/// A law that becomes a line when its axes are bent: `bend` the size and the value, `back` the value.
struct Law {
    name: &'static str,
    size: fn(f64) -> f64,
    value: fn(f64, f64) -> f64,
    back: fn(f64, f64) -> f64,
}

const LAWS: [Law; 5] = [
    Law { name: "a n^b", size: libm::log, value: |_, y| libm::log(y), back: |_, v| libm::exp(v) },
    Law { name: "a + b n", size: |n| n, value: |_, y| y, back: |_, v| v },
    Law { name: "n / (a + b n)", size: |n| n, value: |n, y| n / y, back: |n, v| n / v },
    Law { name: "a + b log n", size: libm::log, value: |_, y| y, back: |_, v| v },
    Law { name: "a e^(b n)", size: |n| n, value: |_, y| libm::log(y), back: |_, v| libm::exp(v) },
];

/// The law that meets the rows best; laws that meet them alike (as all do with two rows) rank as listed.
fn two_parameters(rows: &[(f64, f64)], at: f64) -> Option<Baseline> {
    let mut best: Option<(f64, Baseline)> = None;
    for law in &LAWS {
        let Some((predicted, misfit)) = on_a_line(law, rows, at) else { continue };
        if best.as_ref().is_none_or(|(least, _)| misfit < least * (1.0 - 1e-6) - 1e-20) {
            best = Some((misfit, Baseline { law: law.name, predicted }));
        }
    }
    best.map(|(_, baseline)| baseline)
}

/// Least squares on bent axes; the misfit is that of the values' logarithms, so that laws compare.
fn on_a_line(law: &Law, rows: &[(f64, f64)], at: f64) -> Option<(f64, f64)> {
    let points: Vec<(f64, f64)> = rows.iter().map(|(n, y)| ((law.size)(*n), (law.value)(*n, *y))).collect();
    let count = points.len() as f64;
    let middle = (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let width: f64 = points.iter().map(|p| (p.0 - middle.0) * (p.0 - middle.0)).sum();
    if points.len() < 2 || width <= 1e-12 * middle.0.abs().max(1e-12) {
        return None;
    }
    let slope = points.iter().map(|p| (p.0 - middle.0) * (p.1 - middle.1)).sum::<f64>() / width;
    let says = |n: f64| (law.back)(n, middle.1 + slope * ((law.size)(n) - middle.0));
    let misfit = rows.iter().map(|(n, y)| libm::log(says(*n) / y)).map(|e| e * e).sum::<f64>();
    let predicted = says(at);
    (misfit.is_finite() && predicted.is_finite() && predicted > 0.0).then_some((predicted, misfit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_law_finds_its_own_kind_of_rows_again() {
        type Of = fn(f64) -> f64;
        let of = |law: Of| -> Vec<(f64, f64)> { [1.0, 2.0, 4.0, 8.0].map(|n| (n, law(n))).to_vec() };
        let cases: [(Of, &str); 4] = [
            (|n| 3.0 * libm::pow(n, 0.7), "a n^b"),
            (|n| 5.0 + 2.0 * n, "a + b n"),
            (|n| n / (0.1 + 0.02 * n), "n / (a + b n)"),
            (|n| 4.0 * libm::exp(0.3 * n), "a e^(b n)"),
        ];
        for (law, name) in cases {
            let found = baselines(Shape::Other, &of(law), 16.0).two_parameters.unwrap();
            assert_eq!(found.law, name);
            assert!((found.predicted / law(16.0) - 1.0).abs() < 1e-6, "{name}");
        }
    }

    #[test]
    fn linear_scaling_of_a_time_by_population_is_no_change() {
        let found = baselines(Shape::TimeOfPopulation, &[(10.0, 4.0)], 40.0);
        assert_eq!(found.linear.map(|l| (l.predicted * 1e9).round() / 1e9), Some(4.0));
        assert_eq!(found.two_parameters, None, "one row has no law of two parameters");
    }

    #[test]
    fn nothing_is_said_from_nothing() {
        assert_eq!(baselines(Shape::Rate, &[], 4.0), Baselines::default());
    }
}
