//! How much of something it takes: the fewest modules, cores or sessions at which a model meets what is needed.
//!
//! The one idea: the model is asked at one size after the other, doubling and then halving the distance, so that a
//! capacity is found in some forty answers. A size at which even the worse end of every interval meets the need is told
//! beside the one at which the prediction itself does; what is simulated for a size has no interval, and nothing is told.

use super::formal;
use super::question::Question;
use super::simulated::{self, QUANTILES};
use crate::failure::Failure;
use model::file::Description;
use model::kind::{Unanswered, Values};
use std::cell::RefCell;
use std::collections::BTreeMap;
use study::Yield;

/// Nobody buys more than this of anything.
const MOST: u64 = 1 << 16;

/// What is needed of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Need {
    quantity: String,
    /// The quantile of response that it is, if it is one.
    quantile: Option<f64>,
    /// Whether at least so much is needed; else at most.
    least: bool,
    value: f64,
}

/// What it takes, for one question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    /// Whose question it was.
    pub(super) stream: String,
    /// The fewest at which the prediction meets every need; none when no size does.
    pub(super) predicted: Option<u64>,
    /// The fewest at which the worse end of every 95 percent interval does.
    pub(super) sure: Option<u64>,
    /// Why no size is known to do surely though one may: what has no interval.
    pub(super) unsure: Option<String>,
}

impl Need {
    /// Reads `rate>=1000000` or `response<=5`.
    ///
    /// # Errors
    /// When it is no such thing, or the model does not answer the quantity.
    pub(super) fn read(text: &str, model: &Description) -> Result<Need, Failure> {
        let (quantity, rest) = text.split_once(['<', '>']).unwrap_or((text, ""));
        let names: Vec<&str> = model.kind.answers().iter().map(|quantity| quantity.name).collect();
        let refused = |why: String| Failure::new(format!("reading `--need {text}`: {why}"));
        let quantile = QUANTILES.iter().find(|(word, _)| *word == quantity.trim()).map(|(_, quantile)| *quantile);
        let given = Yield::of_word(quantity.trim()).is_some();
        if !names.contains(&quantity.trim()) && quantile.is_none() && !given {
            let quantiles: Vec<&str> = QUANTILES.iter().map(|(word, _)| *word).collect();
            let (kind, names, quantiles) = (model.kind.word(), names.join(", "), quantiles.join(", "));
            return Err(refused(format!(
                "a {kind} answers {names}, and {quantiles} of response and what transactions give an hour ({}) are simulated, got \
                 `{quantity}`",
                Yield::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
            )));
        }
        let number = rest.trim_start_matches('=').trim();
        let value = scaled(number);
        match value.filter(|value: &f64| value.is_finite() && *value > 0.0) {
            Some(value) => {
                Ok(Need { quantity: quantity.trim().to_owned(), quantile, least: text.contains('>'), value })
            }
            None => Err(refused(format!("QUANTITY>=NUMBER or QUANTITY<=NUMBER, got `{text}`"))),
        }
    }

    /// The prediction at a size; none where there is no answer.
    fn value(&self, model: &Description, question: &Question) -> Result<Option<f64>, Failure> {
        if let Some(quantile) = self.quantile {
            return simulated::quantile_ms(model, question, quantile);
        }
        if Yield::of_word(&self.quantity).is_some() {
            return simulated::once(model, question, &self.quantity);
        }
        match formal::value(model, question, &self.quantity) {
            Ok(value) => Ok(Some(value)),
            Err(Unanswered::Simulated(_)) => simulated::once(model, question, &self.quantity),
            Err(_) => Ok(None),
        }
    }

    /// The worse end of the interval at a size; none where there is no answer.
    ///
    /// # Errors
    /// Where there is one without an interval: why.
    fn worse(&self, model: &Description, question: &Question) -> Result<Option<f64>, String> {
        let simulated = || Err(format!("{} is simulated for each number, without an interval", self.quantity));
        if self.quantile.is_some() || Yield::of_word(&self.quantity).is_some() {
            return simulated();
        }
        match formal::answer(model, question, &self.quantity) {
            Ok(answer) => Ok(Some(if self.least { answer.low } else { answer.high })),
            Err(Unanswered::Simulated(_)) => simulated(),
            Err(_) => Ok(None),
        }
    }

    fn is_met(&self, value: Option<f64>) -> bool {
        value.is_some_and(|value| if self.least { value >= self.value } else { value <= self.value })
    }

    /// Whether twice the size has not brought it nearer.
    fn is_stuck(&self, before: Option<f64>, now: Option<f64>) -> bool {
        let (Some(before), Some(now)) = (before, now) else { return now.is_none() };
        if self.least { now <= before * 1.001 } else { now >= before * 0.999 }
    }
}

/// A number that may end in k, M or G.
fn scaled(text: &str) -> Option<f64> {
    let factor = match text.chars().last()? {
        'k' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        _ => return text.parse().ok(),
    };
    text[..text.len() - 1].parse::<f64>().ok().map(|number| number * factor)
}

/// The fewest of `key` for each question: a parameter of the model, or what a study varies.
///
/// # Errors
/// When neither model nor questions know the key.
pub(super) fn search(
    model: &Description,
    questions: &[Question],
    key: &str,
    needs: &[Need],
) -> Result<Vec<Taken>, Failure> {
    let column = if key == "sessions" { "threads" } else { key };
    let known = |question: &Question| question.row.cells.contains_key(column);
    let parameter = model.parameters.iter().position(|parameter| parameter.name == key);
    if parameter.is_none() && !questions.iter().any(known) {
        let names: Vec<&str> = model.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let failure =
            Failure::new(format!("finding how many `{key}` it takes: neither the study nor the model has it"));
        return Err(failure.hint(format!("the model has {}", names.join(", "))));
    }
    let mut found: Vec<Taken> = Vec::new();
    for question in questions {
        let stream = question.stream();
        if found.iter().any(|taken| taken.stream == stream) {
            continue;
        }
        if !known(question) && parameter.is_none() {
            found.push(Taken { stream, predicted: None, sure: None, unsure: None });
            continue;
        }
        // What a study varies goes before a parameter of the same name: modules that take part, not modules that exist.
        let at = |count: u64| match (known(question), parameter) {
            (false, Some(place)) => (with(model, place, count as f64), question.clone()),
            _ => (model.clone(), question.at(column, count)),
        };
        // What was simulated at a size is the same when it is asked for again.
        let simulated: RefCell<BTreeMap<(u64, u64), Option<f64>>> = RefCell::default();
        // A model that does not grow answers no more modules than it has.
        let has = model::modules(model).filter(|_| key == "modules" && known(question) && !model.kind.has_more());
        let most = has.map_or(MOST, u64::from);
        let predicted = fewest(needs, most, |need, count| {
            let (model, question) = at(count);
            let Some(quantile) = need.quantile else { return need.value(&model, &question) };
            let key = (quantile.to_bits(), count);
            let before = simulated.borrow().get(&key).copied();
            let value = before.map_or_else(|| need.value(&model, &question), Ok)?;
            simulated.borrow_mut().insert(key, value);
            Ok(value)
        })?;
        // A size is not known to do surely where an answer has no interval.
        let unsure = RefCell::new(None);
        let sure = fewest(needs, most, |need, count| {
            let (model, question) = at(count);
            let worse = need.worse(&model, &question).map_err(|why| unsure.replace(Some(why)));
            Ok(worse.unwrap_or_default())
        })?;
        found.push(Taken { stream, predicted, sure, unsure: unsure.take().filter(|_| sure.is_none()) });
    }
    Ok(found)
}

/// The fewest at which all needs are met. A need that sizes help has a fewest of its own; one that they hurt, such as a response
/// as sessions grow, is met from the first and may fail at the fewest of the others: then no size meets all. What must be
/// simulated is looked at from there on.
fn fewest(
    needs: &[Need],
    most: u64,
    value: impl Fn(&Need, u64) -> Result<Option<f64>, Failure>,
) -> Result<Option<u64>, Failure> {
    let (formal, simulated): (Vec<&Need>, Vec<&Need>) = needs.iter().partition(|need| need.quantile.is_none());
    let mut count = 1;
    for need in formal.iter().chain(&simulated) {
        let from = if need.quantile.is_some() { count } else { 1 };
        match least(need, (from, most), |at| value(need, at))? {
            Some(own) => count = count.max(own),
            None => return Ok(None),
        }
    }
    for need in formal.iter().chain(&simulated) {
        if !need.is_met(value(need, count)?) {
            return Ok(None);
        }
    }
    Ok(Some(count))
}

fn with(model: &Description, place: usize, value: f64) -> Description {
    let mut changed = model.clone();
    changed.parameters[place].value = value;
    debug_assert_eq!(Values::new(changed.kind.asks(), &changed.numbers()).of(&changed.parameters[place].name), value);
    changed
}

/// The least number from `from` on at which a need is met that is met at all greater ones near it. A simulation costs too much
/// to go on when twice the size has not helped.
fn least(
    need: &Need,
    (from, most): (u64, u64),
    value: impl Fn(u64) -> Result<Option<f64>, Failure>,
) -> Result<Option<u64>, Failure> {
    let (mut high, mut low, mut before) = (from, from - 1, None);
    loop {
        let now = value(high)?;
        if need.is_met(now) {
            break;
        }
        let stuck = need.quantile.is_some() && high > from && need.is_stuck(before, now);
        before = now;
        if stuck || high >= most {
            return Ok(None);
        }
        (low, high) = (high, (2 * high).min(most));
    }
    while high > from && low + 1 < high {
        let middle = low + (high - low) / 2;
        if need.is_met(value(middle)?) { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_file;

    fn question(text: &str) -> Question {
        Question::of_row(model::rows::read(text).expect("a table").rows.remove(0))
    }

    #[test]
    fn the_fewest_modules_for_a_rate_are_found_and_one_fewer_is_too_few() {
        let model = model_file::find("f5100").expect("it ships").model;
        let asked = question("row_id,test,transfer_kb,modules,window\na,random_read_4k,4,1,unstated\n");
        let need = Need::read("rate>=1M", &model).expect("a need");
        let taken = &search(&model, std::slice::from_ref(&asked), "modules", std::slice::from_ref(&need)).unwrap()[0];
        let modules = taken.predicted.expect("some number does");
        let at = |count: u64| {
            let mut asked = asked.clone();
            asked.row.cells.insert("modules".to_owned(), count.to_string());
            need.is_met(need.value(&model, &asked).expect("an answer"))
        };
        assert!(at(modules) && !at(modules - 1), "{modules}");
        assert!(taken.sure >= taken.predicted, "{taken:?}");
    }

    #[test]
    fn a_need_that_sizes_hurt_does_not_hide_the_size_that_meets_all() {
        let model = model_file::find("s824-fs840").expect("it ships").model;
        let asked = question("row_id,customers,threads\na,6000,96\n");
        let needs =
            |response: &str| ["throughput>=12000", response].map(|text| Need::read(text, &model).expect("a need"));
        let found = |response: &str| {
            search(&model, std::slice::from_ref(&asked), "threads", &needs(response)).unwrap()[0].predicted
        };
        // Doubling alone would try 64 and 128, and neither is both fast and quick.
        assert!(
            found("response<=8").is_some_and(|sessions| (90..110).contains(&sessions)),
            "{:?}",
            found("response<=8")
        );
        assert_eq!(found("response<=7"), None);
    }

    #[test]
    fn what_no_size_reaches_is_said_and_unknown_keys_are_refused() {
        let model = model_file::find("s824-fs840").expect("it ships").model;
        let asked = question("row_id,customers,threads\na,6000,96\n");
        let found = |key: &str, need: &str| {
            let needs = [Need::read(need, &model).expect("a need")];
            search(&model, std::slice::from_ref(&asked), key, &needs)
        };
        assert_eq!(found("threads", "throughput>=1000000").unwrap()[0].predicted, None);
        assert!(found("cores", "response<=6.5").unwrap()[0].predicted.is_some_and(|cores| cores > 24));
        assert!(found("wheels", "response<=5").is_err());
        assert!(Need::read("speed>=1", &model).is_err() && Need::read("response<=fast", &model).is_err());
    }
}
