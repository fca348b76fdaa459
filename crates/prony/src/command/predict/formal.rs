//! What the closed form answers to a question, and what no answer can be.
//!
//! The one idea: a study asks in operations a second, whatever a published table counts in. Where users think, no more can be
//! done than they ask for, and by Little's law no response is longer than the least throughput leaves them: an interval
//! holds nothing beyond.

use super::question::Question;
use model::file::Description;
use model::kind::Unanswered;

/// A quantity with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// What the closed form answers, without an interval.
pub(super) fn value(model: &Description, question: &Question, quantity: &str) -> Result<f64, Unanswered> {
    if question.trial().is_some() && model.transaction.is_some() {
        return Err(Unanswered::Simulated("other transactions than the one that the numbers of the model hold for"));
    }
    Ok(model.answer(&question.row, quantity)? / unit(model, question, quantity))
}

/// What the closed form answers.
pub(super) fn answer(model: &Description, question: &Question, quantity: &str) -> Result<Answer, Unanswered> {
    let of = |quantity: &str| {
        let value = value(model, question, quantity)?;
        let (low, high) = model.interval(&question.row, quantity, 0.0);
        let unit = unit(model, question, quantity);
        Ok(Answer { value, low: low / unit, high: high / unit })
    };
    let found = of(quantity)?;
    Ok(possible(model, question, quantity, found, || of(rate(model)).ok()))
}

/// How many of what the closed form counts are one of what a question asks for. Only rows of tables ask in a table's unit.
fn unit(model: &Description, question: &Question, quantity: &str) -> f64 {
    question.trial().map_or(1.0, |_| model.counted(quantity))
}

/// The quantity that counts what is completed.
pub(super) fn rate(model: &Description) -> &'static str {
    if model::transactions(model) { "throughput" } else { "rate" }
}

/// An answer with an interval that holds only what can be; `rate` is asked where a response hangs on it.
pub(super) fn possible(
    model: &Description,
    question: &Question,
    quantity: &str,
    answer: Answer,
    rate: impl FnOnce() -> Option<Answer>,
) -> Answer {
    if quantity == "utilisation" {
        return Answer { high: answer.high.min(100.0).max(answer.value), ..answer };
    }
    let Some(users) = Users::of(model, question) else { return answer };
    let longest_s = || rate().map_or(f64::INFINITY, |rate| users.longest_s(rate.low));
    let (least, most) = match quantity {
        "throughput" | "rate" => (0.0, users.most_per_s()),
        "response" => (1e3 * users.least_s, 1e3 * longest_s()),
        "response-s" => (users.least_s, longest_s()),
        _ => return answer,
    };
    Answer { low: answer.low.max(least).min(answer.value), high: answer.high.min(most).max(answer.value), ..answer }
}

/// Users of a closed load who think.
struct Users {
    count: f64,
    /// Mean thinking before a transaction: none before those that others cause.
    think_s: f64,
    /// Share of transactions that others cause.
    caused: f64,
    /// Transactions a second that come by the clock, beside theirs.
    clocked_per_s: f64,
    /// No response is shorter: half of what one transaction takes alone, as the numbers of a model may be off.
    least_s: f64,
    /// The window, in which a little more may end than users ask for on the mean.
    window_s: f64,
}

impl Users {
    /// None where nobody thinks, where streams share a machine, and where a machine has responses of two kinds.
    fn of(model: &Description, question: &Question) -> Option<Users> {
        let window_s = question.trial()?.0.phases.measure.seconds();
        let row = &question.row;
        let number = |column: &str| row.number(column).filter(|number| *number > 0.0);
        let (count, think_ms) = (number("population")?, number("think_ms")?);
        let second = model.kind.answers().iter().any(|known| known.name == "second-response");
        if row.text("streams").is_some() || (second && model.answer(row, "second-response").is_ok()) {
            return None;
        }
        let caused = number("caused").unwrap_or(0.0);
        let think_s = think_ms / 1e3 * (1.0 - caused);
        let (clocked_per_s, alone_ms) = (number("clocked_per_s").unwrap_or(0.0), alone_ms(model, question));
        Some(Users { count, think_s, caused, clocked_per_s, least_s: alone_ms.unwrap_or(0.0) / 2e3, window_s })
    }

    /// As many as users can ask for on the mean, and what chance adds in 39 of 40 windows if each asks for itself.
    fn most_per_s(&self) -> f64 {
        let mean_per_s = self.count / (self.think_s + self.least_s);
        mean_per_s + 1.96 * (mean_per_s / self.window_s).sqrt() + self.clocked_per_s
    }

    /// What is caused may wait until somebody is there to carry it. What comes by the clock may pile up for as long as it likes.
    fn longest_s(&self, least_per_s: f64) -> f64 {
        if self.clocked_per_s > 0.0 {
            return f64::INFINITY;
        }
        (self.count + self.caused / (1.0 - self.caused)) / least_per_s - self.think_s
    }
}

/// What one transaction takes alone.
fn alone_ms(model: &Description, question: &Question) -> Option<f64> {
    let mut row = question.row.clone();
    row.cells.retain(|column, _| !["population", "think_ms", "think_times", "caused"].contains(&column.as_str()));
    for column in ["threads", "outstanding"] {
        row.cells.entry(column.to_owned()).and_modify(|count| "1".clone_into(count));
    }
    model.answer(&row, "response").ok()
}
