//! How far off the numbers of a calibrated model may be, together: two of them may be known badly and their product well.

use super::{Description, Origin, configuration};
use crate::kind::ModelKind;
use crate::rows::Row;
use nalgebra::{DMatrix, DVector};
use random::Draws;
use reading::{Entry, Form, Problems, Section};
use std::fmt::Write as _;

/// Covariance of the logarithms of fitted parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Which.
    pub parameters: Vec<String>,
    /// A row for each.
    pub covariance: Vec<Vec<f64>>,
    /// How far the logarithm of each lies from its value, in draws of all that are possible together; none of what was never
    /// fitted, and in older files.
    pub draws: Vec<Vec<f64>>,
    /// Those of which the rows say nothing.
    pub silent: Vec<String>,
    /// Those that the rows cannot tell apart, together.
    pub flat: Vec<Vec<String>>,
}

impl Doubt {
    /// The doubt of a model that was never fitted: its assumed numbers, each for itself; none when nothing is assumed.
    pub(crate) fn assumed(model: &Description) -> Option<Doubt> {
        let open = model.parameters.iter().filter(|parameter| {
            matches!(parameter.origin, Origin::Assumed(_)) && parameter.low < parameter.high && parameter.low > 0.0
        });
        let (names, deviations): (Vec<String>, Vec<f64>) =
            open.map(|p| (p.name.clone(), libm::log(p.high / p.low) / (2.0 * 1.96))).unzip();
        let count = names.len();
        let variance = |row: usize, at: usize| if at == row { deviations[row] * deviations[row] } else { 0.0 };
        let covariance = (0..count).map(|row| (0..count).map(|at| variance(row, at)).collect()).collect();
        let (silent, draws, flat) = (names.clone(), Vec::new(), Vec::new());
        (count > 0).then_some(Doubt { silent, parameters: names, covariance, draws, flat })
    }

    /// The doubt without a number that somebody has stated since.
    pub(super) fn forget(&mut self, name: &str) {
        if let Some(place) = self.parameters.iter().position(|parameter| parameter == name) {
            self.parameters.remove(place);
            self.covariance.remove(place);
            for line in self.covariance.iter_mut().chain(&mut self.draws) {
                line.remove(place);
            }
        }
        self.silent.retain(|parameter| parameter != name);
        self.flat.retain(|set| !set.iter().any(|parameter| parameter == name));
    }

    /// Variance of the logarithm of an answer that comes from the parameters: below it, and above.
    pub(super) fn variances(&self, model: &Description, row: &Row, quantity: &str) -> (f64, f64) {
        let logarithm = |moves: &[f64]| {
            let numbers = self.moved(model, moves);
            model.answer_of(&numbers, row, quantity).map_or(f64::NAN, |answer| libm::log(answer.abs()))
        };
        let middle = logarithm(&vec![0.0; self.parameters.len()]);
        if self.draws.is_empty() && configuration::split(quantity).1.is_some() {
            return self.of_ratio(|moves| logarithm(moves) - middle);
        }
        if self.draws.is_empty() {
            let slopes: Vec<f64> = self.parameters.iter().map(|name| slope(model, name, row, quantity)).collect();
            let lines = self.covariance.iter().zip(&slopes);
            let sum = |line: &Vec<f64>| line.iter().zip(&slopes).map(|(c, slope)| c * slope).sum::<f64>();
            let variance = lines.map(|(line, slope)| slope * sum(line)).sum::<f64>().max(0.0);
            return (variance, variance);
        }
        let count = self.draws.len() as f64;
        let moved: Vec<f64> = self.draws.iter().map(|draw| logarithm(draw) - middle).collect();
        let mean = moved.iter().sum::<f64>() / count;
        let deviation =
            libm::sqrt(moved.iter().map(|moved| (moved - mean) * (moved - mean)).sum::<f64>() / (count - 1.0));
        // Draws may lie around another middle than the best fit: 95 percent of them reach to one side farther than to the other.
        let side = |mean: f64| libm::pow((deviation - mean / 1.96).max(0.0), 2.0);
        (side(mean), side(-mean))
    }

    /// The same of a ratio, by the quantiles of draws: it has a corner where one of both configurations is full, and ends at one,
    /// so that a slope says nothing of what lies behind it.
    fn of_ratio(&self, moved: impl Fn(&[f64]) -> f64) -> (f64, f64) {
        let drawn = |seed| moved(&self.drawn(&mut Draws::named(seed, &[DRAWN])));
        let mut found: Vec<f64> = (0..DRAWN_FOR_RATIOS).map(drawn).filter(|moved| moved.is_finite()).collect();
        found.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| found.get((share * found.len() as f64) as usize).copied().unwrap_or(0.0);
        let side = |reach: f64| libm::pow(reach.max(0.0) / 1.96, 2.0);
        (side(-at(0.025)), side(at(0.975)))
    }

    /// The numbers of a model, with the logarithm of each that is in doubt moved by so much, as far as the kind lets it.
    fn moved(&self, model: &Description, moves: &[f64]) -> Vec<f64> {
        let mut numbers = model.numbers();
        for (name, moved) in self.parameters.iter().zip(moves) {
            if let Some(place) = model.parameters.iter().position(|parameter| parameter.name == *name) {
                let asked = &model.kind.asks()[place];
                numbers[place] = (numbers[place] * libm::exp(*moved)).clamp(asked.low, asked.high);
            }
        }
        numbers
    }

    /// How far the logarithm of each parameter is moved, drawn from all of what may be together.
    fn drawn(&self, draws: &mut Draws) -> Vec<f64> {
        if !self.draws.is_empty() {
            return self.draws[draws.below(self.draws.len() as u64) as usize].clone();
        }
        let count = self.parameters.len();
        let shape = DMatrix::from_fn(count, count, |row, at| self.covariance[row][at]).symmetric_eigen();
        let along = DVector::from_iterator(
            count,
            shape.eigenvalues.iter().map(|variance| libm::sqrt(variance.max(0.0)) * draws.normal()),
        );
        (shape.eigenvectors * along).iter().copied().collect()
    }

    /// The table of a model file.
    pub(super) fn text(&self) -> String {
        let list = |names: &[String]| {
            let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            format!("[{}]", quoted.join(", "))
        };
        let mut text = String::from(
            "# What the rows say nothing of and cannot tell apart, and covariance and draws of logarithms.\n[doubt]\n",
        );
        let flat: Vec<String> = self.flat.iter().map(|names| list(names)).collect();
        let _ = writeln!(text, "silent     = {}\nflat       = [{}]", list(&self.silent), flat.join(", "));
        let _ = writeln!(text, "parameters = {}", list(&self.parameters));
        for (name, lines) in [("covariance", &self.covariance), ("draws     ", &self.draws)] {
            let _ = writeln!(text, "{name} = [");
            for line in lines {
                let line: Vec<String> = line.iter().map(|value| format!("{value:.4e}")).collect();
                let _ = writeln!(text, "    [{}],", line.join(", "));
            }
            text += "]\n";
        }
        text
    }
}

impl Description {
    /// A machine that this one might be: its numbers are drawn from what is known of them, equal seeds the same. Numbers that
    /// make no sense together leave it as it is.
    pub fn drawn(&self, seed: u64) -> Description {
        let assumed = if self.doubt.is_none() { Doubt::assumed(self) } else { None };
        let mut drawn = self.clone();
        let Some(doubt) = self.doubt.as_ref().or(assumed.as_ref()) else { return drawn };
        let moves = doubt.drawn(&mut Draws::named(seed, &[DRAWN]));
        let numbers = doubt.moved(self, &moves);
        drawn.parameters.iter_mut().zip(numbers).for_each(|(parameter, number)| parameter.value = number);
        if drawn.with_values(|kind, values| kind.fits(values)).is_ok() { drawn } else { self.clone() }
    }
}

/// Draws of numbers that were never fitted, for a ratio.
const DRAWN_FOR_RATIOS: u64 = 200;
/// What the draws of a machine are for.
const DRAWN: u64 = 0xd0b7;

/// By how much the logarithm of an answer moves with that of a parameter.
fn slope(model: &Description, name: &str, row: &Row, quantity: &str) -> f64 {
    const STEP: f64 = 1e-3;
    let mut numbers = model.numbers();
    let Some(place) = model.parameters.iter().position(|parameter| parameter.name == name) else { return 0.0 };
    let mut at = |factor: f64| {
        numbers[place] = model.parameters[place].value * factor;
        model.answer_of(&numbers, row, quantity).map_or(f64::NAN, |answer| libm::log(answer.abs()))
    };
    (at(libm::exp(STEP)) - at(libm::exp(-STEP))) / (2.0 * STEP)
}

/// Reads the table; it must be square and name parameters of the kind.
pub(super) fn read(kind: ModelKind, entry: Entry, problems: &mut Problems) -> Option<Doubt> {
    let mut section = Section::of("doubt", entry.node, problems)?;
    let names = section.texts("parameters", problems).unwrap_or_default();
    let [covariance, draws] = ["covariance", "draws"].map(|name| lines(section.take(name)));
    let texts = |placed: Vec<reading::Placed>| placed.into_iter().map(|placed| placed.text).collect::<Vec<String>>();
    let silent = texts(section.texts("silent", problems).unwrap_or_default());
    let flat = match section.take("flat").map(|entry| entry.node.form) {
        Some(Form::List(sets)) => sets.into_iter().map(words).collect(),
        _ => Vec::new(),
    };
    let at = section.at.clone();
    section.finish(&[], |_| None, problems);
    for name in &names {
        if !kind.asks().iter().any(|asked| asked.name == name.text) {
            problems.add(&name.at, "doubt.parameters", format!("parameters of a {}, got `{}`", kind.word(), name.text));
        }
    }
    let square = covariance.len() == names.len();
    let mut cells = covariance.iter().chain(&draws);
    let wide = cells.clone().all(|line| line.len() == names.len());
    if !square || !wide || cells.any(|line| line.iter().any(|value| !value.is_finite())) {
        let message = format!("{} lines of as many numbers, one for each parameter, and draws of as many", names.len());
        problems.add(&at, "doubt.covariance", message);
        return None;
    }
    Some(Doubt { parameters: names.into_iter().map(|name| name.text).collect(), covariance, draws, silent, flat })
}

fn lines(entry: Option<Entry>) -> Vec<Vec<f64>> {
    match entry.map(|entry| entry.node.form) {
        Some(Form::List(lines)) => lines.into_iter().map(line).collect(),
        _ => Vec::new(),
    }
}

fn words(node: reading::Node) -> Vec<String> {
    let Form::List(cells) = node.form else { return Vec::new() };
    let word = |cell: reading::Node| if let Form::Text(text) = cell.form { Some(text) } else { None };
    cells.into_iter().filter_map(word).collect()
}

fn line(node: reading::Node) -> Vec<f64> {
    let Form::List(cells) = node.form else { return Vec::new() };
    let number = |cell: reading::Node| if let Form::Text(text) = cell.form { text.parse().ok() } else { None };
    cells.into_iter().map(|cell| number(cell).unwrap_or(f64::NAN)).collect()
}
