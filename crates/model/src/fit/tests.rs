//! Fits with known answers.

use super::*;

impl Fitted {
    /// The 95 percent interval of a prediction that moves with the parameters. `noise` is the standard deviation of the
    /// logarithm that a new row would have around the model itself.
    fn interval(&self, noise: f64, predict: &mut dyn FnMut(&[f64]) -> f64) -> (f64, f64) {
        const STEP: f64 = 1e-3;
        let middle = predict(&self.values);
        let slope = |place: usize, predict: &mut dyn FnMut(&[f64]) -> f64| {
            let mut moved = self.values.clone();
            moved[place] = self.values[place] * libm::exp(STEP);
            let above = libm::log(predict(&moved));
            moved[place] = self.values[place] * libm::exp(-STEP);
            (above - libm::log(predict(&moved))) / (2.0 * STEP)
        };
        let slopes = DVector::from_iterator(self.values.len(), (0..self.values.len()).map(|i| slope(i, predict)));
        let variance = (slopes.transpose() * &self.covariance * &slopes)[(0, 0)] + noise * noise;
        let reach = 1.96 * libm::sqrt(variance.max(0.0));
        (middle * libm::exp(-reach), middle * libm::exp(reach))
    }
}

fn free(name: &str, start: f64) -> Free {
    Free { name: name.to_owned(), start, low: start / 1e3, high: start * 1e3, assumed: None }
}

fn met(values: &[f64], spread: f64) -> Vec<Target> {
    values.iter().map(|value| Target { value: *value, spread, weight: 1.0 }).collect()
}

#[test]
fn known_parameters_are_found_again() {
    let sizes = [4.0, 8.0, 64.0, 1024.0];
    let truth: Vec<f64> = sizes.iter().map(|kb| 0.4 + 0.0037 * kb).collect();
    let mut predict = |p: &[f64]| sizes.iter().map(|kb| p[0] + p[1] * kb).collect();
    let fitted = fit(&[free("fixed", 1.0), free("each", 0.1)], &met(&truth, 0.01), &mut predict).unwrap();
    assert!((fitted.values[0] / 0.4 - 1.0).abs() < 1e-6 && (fitted.values[1] / 0.0037 - 1.0).abs() < 1e-6);
    assert!(fitted.separation.flat.is_empty() && fitted.separation.silent.is_empty());
}

#[test]
fn a_product_that_rows_see_only_as_a_whole_is_named_as_not_separable() {
    let sizes = [1.0, 2.0, 4.0];
    let mut predict = |p: &[f64]| sizes.iter().map(|n| p[0] * p[1] * n).collect();
    let fitted = fit(&[free("rate", 3.0), free("share", 0.5)], &met(&[2.0, 4.0, 8.0], 0.01), &mut predict).unwrap();
    let [flat] = fitted.separation.flat.as_slice() else { panic!("{:?}", fitted.separation) };
    let names: Vec<&str> = flat.parameters.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["rate", "share"]);
    assert!((flat.parameters[0].1 + flat.parameters[1].1).abs() < 1e-6, "one up, the other down");
}

#[test]
fn a_parameter_of_which_no_row_speaks_keeps_its_assumption_and_its_doubt() {
    let mut idle = free("idle", 5.0);
    idle.assumed = Some((7.0, 0.3));
    let mut predict = |p: &[f64]| vec![p[0], 2.0 * p[0]];
    let fitted = fit(&[free("heard", 1.0), idle], &met(&[3.0, 6.0], 0.02), &mut predict).unwrap();
    assert!((fitted.values[1] - 7.0).abs() < 1e-6);
    assert_eq!(fitted.separation.silent, ["idle"]);
    assert!((fitted.separation.deviations[1] - 0.3).abs() < 0.03);
}

#[test]
fn intervals_of_predictions_cover_new_rows_as_often_as_they_say() {
    let (mut random, mut covered) = (random::Draws::numbered(11, 0), 0);
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let rounds = 400;
    for _ in 0..rounds {
        let mut noisy = |n: f64| (2.0 + 0.5 * n) * libm::exp(0.02 * random.normal());
        let rows: Vec<f64> = sizes.iter().map(|n| noisy(*n)).collect();
        let next = noisy(64.0);
        let mut predict = |p: &[f64]| sizes.iter().map(|n| p[0] + p[1] * n).collect();
        let fitted = fit(&[free("a", 1.0), free("b", 1.0)], &met(&rows, 0.02), &mut predict).unwrap();
        let (low, high) = fitted.interval(0.02, &mut |p| p[0] + p[1] * 64.0);
        covered += u32::from((low..=high).contains(&next));
    }
    assert!((f64::from(covered) / f64::from(rounds) - 0.955).abs() < 0.035, "{covered} of {rounds}");
}

#[test]
fn nothing_is_fitted_on_no_rows() {
    assert_eq!(fit(&[free("a", 1.0)], &[], &mut |_| Vec::new()), Err(FitError::NoRows));
}
