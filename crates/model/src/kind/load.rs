//! How work comes to a machine, in closed form: users who think, pauses of sessions, and arrivals.
//!
//! The one idea: a machine is taken for one station that completes what its own law says for so many inside at once. With a
//! delay in front of it (think times), or arrivals at random, the number of those who are there is a birth-death process.
//! That is exact for networks of product form, and close for others (Chandy, Herzog, Woo: Parametric analysis of queueing
//! networks, 1975). Pauses enter by their mean alone. Users beyond the sessions wait in order, which counts as response.
//!
//! What it does not do: pauses that are all alike, which keep those in step who began together, arrivals at equal distances, work
//! that comes by the clock beside users, more arrivals than the machine completes, and a wait for a place that hangs on how times vary are left to the simulation.

use super::law::{Inside, Law};
use crate::asked::{Shape, Unanswered, Values};
use crate::rows::Row;

/// Columns by which a question says how work comes, beside how many may be inside.
pub(super) const COLUMNS: [&str; 8] =
    ["population", "think_ms", "think_times", "arrivals_per_s", "arrivals", "streams", "caused", "clocked_per_s"];

/// A load, as a question says it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Load {
    /// So many who think between two of their own.
    Closed { population: f64, think_s: f64 },
    /// So many a second, at random.
    Open { per_s: f64 },
}

/// The answer to a question that says how work comes.
pub(super) fn answer(law: &Law, values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    if row.number("streams").is_some_and(|streams| streams > 1.0) {
        return Err(Unanswered::Simulated("several streams at once"));
    }
    if row.number("clocked_per_s").is_some_and(|per_s| per_s > 0.0) {
        return Err(Unanswered::Simulated("work that comes by the clock beside users"));
    }
    if row.text("arrivals").is_some_and(|arrivals| arrivals != "poisson") {
        return Err(Unanswered::Simulated("arrivals at equal distances"));
    }
    if row.text("think_times").is_some_and(|times| times == "constant") {
        return Err(Unanswered::Simulated("pauses that are all alike"));
    }
    if row.number("population").is_some_and(|users| users > USERS_MOST) {
        return Err(Unanswered::Simulated("so many users"));
    }
    let Some(inside) = &law.inside else { return Err(Unanswered::Simulated("think times and arrivals")) };
    let around = Around { law, inside, values, row, counted: inside.counted.map_or(1.0, |name| values.of(name)) };
    let most = super::number(row, inside.column)?;
    let curve = around.curve(most, quantity)?;
    let load = around.load(most);
    let states = curve.states(load)?;
    if curve.unsure(&states, load) > UNSURE {
        return Err(Unanswered::Simulated("how long users and arrivals wait for a place inside"));
    }
    let (alone_s, mut response_s) = curve.responses_s(&states, load, inside.variation);
    if let Load::Closed { population, .. } = load {
        let full: f64 = states.iter().skip(most.min(population) as usize).sum();
        response_s += full * wait_s(row.number("caused").unwrap_or(0.0), curve.rate_per_s(&states));
    }
    let shape = law.answers.iter().find(|known| known.name == quantity).map(|known| known.shape);
    Ok(match shape {
        _ if quantity == inside.rate => curve.rate_per_s(&states) * around.counted,
        _ if quantity == inside.response => 1e3 * response_s,
        // Another response than the first: it grows as that does.
        Some(Shape::TimeOfPopulation) => curve.asked_by_each(&states) * response_s / alone_s,
        Some(Shape::Other) => curve.asked_by_each(&states),
        Some(Shape::Rate) | None => curve.asked(&states),
    })
}

/// What the mean response is longer by, while no slot idles, because some of all transactions are caused by others: these wait
/// for a slot of the load until one is done, and come before those that are asked for.
fn wait_s(caused: f64, rate_per_s: f64) -> f64 {
    caused / (rate_per_s * (1.0 - caused))
}

/// Users that are looked at one by one.
const USERS_MOST: f64 = 65_536.0;

/// A law asked at one number of those inside after the other.
struct Around<'a> {
    law: &'a Law,
    inside: &'a Inside,
    values: &'a Values<'a>,
    row: &'a Row,
    /// How many of the rate's units one transaction a second is.
    counted: f64,
}

/// What is known for a number of those inside.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    count: f64,
    /// Completed a second.
    rate_per_s: f64,
    /// Number of those who are in their response.
    present: f64,
    /// The quantity that is asked for.
    asked: f64,
}

/// A law over the numbers of those inside.
struct Curve {
    points: Vec<Point>,
    most: f64,
}

/// Numbers up to which each has a point of its own; beyond, straight lines between points are close enough.
const EACH: f64 = 48.0;
/// Each point beyond is so much greater than the one before.
const STEP: f64 = 1.08;

impl Around<'_> {
    fn load(&self, most: f64) -> Load {
        match self.row.number("arrivals_per_s") {
            // What others cause comes beside what was asked for.
            Some(per_s) => Load::Open { per_s: per_s / (1.0 - self.row.number("caused").unwrap_or(0.0)) },
            None => Load::Closed {
                population: self.row.number("population").unwrap_or(most),
                // Nobody thinks before what others cause.
                think_s: (1.0 - self.row.number("caused").unwrap_or(0.0)) * self.row.number("think_ms").unwrap_or(0.0)
                    / 1e3,
            },
        }
    }

    fn curve(&self, most: f64, quantity: &str) -> Result<Curve, Unanswered> {
        let (mut points, mut count) = (vec![Point::default()], 1.0f64);
        loop {
            points.push(self.at(count.min(most), quantity)?);
            if count >= most {
                return Ok(Curve { points, most });
            }
            count = if count < EACH { count + 1.0 } else { libm::ceil(count * STEP) }.min(most);
        }
    }

    fn at(&self, count: f64, quantity: &str) -> Result<Point, Unanswered> {
        let mut row = self.row.clone();
        row.cells.insert(self.inside.column.to_owned(), count.to_string());
        let of = |quantity: &str| (self.law.answer)(self.values, &row, quantity);
        let rate_per_s = of(self.inside.rate)? / self.counted;
        let present = rate_per_s * of(self.inside.response)? / 1e3;
        let known = [self.inside.rate, self.inside.response].contains(&quantity);
        Ok(Point { count, rate_per_s, present, asked: if known { 0.0 } else { of(quantity)? } })
    }
}

impl Curve {
    /// Between two points, by a straight line.
    fn at(&self, count: f64) -> Point {
        let count = count.min(self.most);
        let next = self.points.partition_point(|point| point.count < count).clamp(1, self.points.len() - 1);
        let (low, high) = (self.points[next - 1], self.points[next]);
        let along = (count - low.count) / (high.count - low.count);
        let mix = |low: f64, high: f64| low + along * (high - low);
        Point {
            count,
            rate_per_s: mix(low.rate_per_s, high.rate_per_s),
            present: mix(low.present, high.present),
            asked: mix(low.asked, high.asked),
        }
    }

    /// The share of the time in which so many are there, from none on.
    fn states(&self, load: Load) -> Result<Vec<f64>, Unanswered> {
        let (most, arrivals): (usize, Box<dyn Fn(f64) -> f64>) = match load {
            Load::Closed { population, think_s } if think_s <= 0.0 => {
                let mut states = vec![0.0; population as usize + 1];
                states[population as usize] = 1.0;
                return Ok(states);
            }
            Load::Closed { population, think_s } => {
                (population as usize, Box::new(move |there| (population - there) / think_s))
            }
            Load::Open { per_s } if per_s < BUSY * self.at(self.most).rate_per_s => {
                (OPEN_MOST, Box::new(move |_| per_s))
            }
            Load::Open { .. } => return Err(Unanswered::Simulated("arrivals that the machine hardly keeps up with")),
        };
        let (mut logs, mut greatest) = (vec![0.0f64], 0.0f64);
        for there in 1..=most {
            let ratio = arrivals(there as f64 - 1.0) / self.at(there as f64).rate_per_s;
            let log = logs[there - 1] + libm::log(ratio);
            greatest = greatest.max(log);
            logs.push(log);
            if log < greatest - NEVER && ratio < 1.0 {
                break;
            }
        }
        let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - greatest)).collect();
        let sum: f64 = weights.iter().sum();
        Ok(weights.iter().map(|weight| weight / sum).collect())
    }

    /// The mean over the states of a load.
    fn mean(&self, states: &[f64], of: impl Fn(f64, Point) -> f64) -> f64 {
        let states = states.iter().enumerate().filter(|(_, share)| **share > 0.0);
        states.map(|(there, share)| share * of(there as f64, self.at(there as f64))).sum()
    }

    /// The part of the response that hangs on how all times vary, of which a law says nothing: the wait for a place, unless
    /// users keep all places taken, so that Little's law says how long it is.
    fn unsure(&self, states: &[f64], load: Load) -> f64 {
        let waiting = self.mean(states, |there, point| there - point.count);
        let present = self.mean(states, |_, point| point.present);
        let free: f64 = states.iter().take(self.most as usize).sum();
        let hangs = if let Load::Open { .. } = load { ARRIVING } else { FINITE * free };
        hangs * waiting / (present + waiting)
    }

    fn rate_per_s(&self, states: &[f64]) -> f64 {
        self.mean(states, |_, point| point.rate_per_s)
    }

    /// The mean over time: of a rate or a share, which are zero while nobody is there.
    fn asked(&self, states: &[f64]) -> f64 {
        self.mean(states, |_, point| point.asked)
    }

    /// The mean over those who come: of a time that each of them takes, of which an empty machine says nothing.
    fn asked_by_each(&self, states: &[f64]) -> f64 {
        self.mean(states, |_, point| point.rate_per_s * point.asked) / self.rate_per_s(states)
    }

    /// Seconds inside, and with the wait before. Who arrives at random waits the less the more alike all times are (the rule of
    /// Allen and Cunneen); in a closed load Little's law says how long it is.
    fn responses_s(&self, states: &[f64], load: Load, variation: f64) -> (f64, f64) {
        let rate_per_s = self.rate_per_s(states);
        let (present, waiting) =
            (self.mean(states, |_, point| point.present), self.mean(states, |there, point| there - point.count));
        let part = if let Load::Open { .. } = load { 0.5 * (1.0 + variation) } else { 1.0 };
        (present / rate_per_s, (present + part * waiting) / rate_per_s)
    }
}

/// The most of a response that may hang on how times vary.
const UNSURE: f64 = 0.05;
/// How much of a wait does where arrivals do not end: the rule for it knows most of what variation does.
const ARRIVING: f64 = 0.18;
/// And where those who wait are not there to arrive, by the share of time in which a place is free.
const FINITE: f64 = 5.0;
/// Share of what a machine completes beyond which a window is too short for a load that arrives to settle.
const BUSY: f64 = 0.97;
/// States that are looked at where arrivals do not end.
const OPEN_MOST: usize = 1 << 16;
/// States whose logarithm lies so far below the greatest never happen.
const NEVER: f64 = 40.0;

#[cfg(test)]
mod tests {
    use crate::file;
    use crate::rows;

    fn answer(model: &str, columns: &str, cells: &str, quantity: &str) -> f64 {
        let shipped = crate::models().iter().find(|shipped| shipped.name == model).expect("it ships");
        let model = file::read(model, shipped.text).unwrap_or_else(|problems| panic!("{problems}"));
        let table = rows::read(&format!("row_id,{columns}\na,{cells}\n")).expect("a table");
        model.answer(&table.rows[0], quantity).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn users_who_never_think_are_sessions() {
        for quantity in ["throughput", "response", "utilisation"] {
            let users = answer("s824-fs840", "threads,population,think_ms", "80,80,0", quantity);
            let sessions = answer("s824-fs840", "threads", "80", quantity);
            assert!((users / sessions - 1.0).abs() < 1e-9, "{quantity}: {users} and {sessions}");
        }
    }

    #[test]
    fn users_think_and_wait_as_littles_law_wants_it() {
        for (users, think_ms) in [(10.0, 5.0), (200.0, 100.0), (3_000.0, 50.0)] {
            let cells = format!("80,{users},{think_ms}");
            let of = |quantity| answer("s824-fs840", "threads,population,think_ms", &cells, quantity);
            let (rate, response_s) = (of("throughput"), of("response") / 1e3);
            // The driver's own work is neither thought nor response.
            let there = rate * (think_ms / 1e3 + response_s);
            assert!((there / users - 1.0).abs() < 0.04, "{users}: {there}");
        }
        let few = answer("s824-fs840", "threads,population,think_ms", "80,200,100", "throughput");
        assert!((1_850.0..1_900.0).contains(&few), "{few}");
    }

    #[test]
    fn arrivals_leave_at_the_rate_at_which_they_come() {
        let of = |quantity| answer("power770-san", "threads,arrivals_per_s", "256,900", quantity);
        assert!((of("throughput") / 900.0 - 1.0).abs() < 1e-6);
        let alone = answer("power770-san", "threads", "1", "response");
        assert!(of("response") > alone, "{} ms against {alone}", of("response"));
    }

    #[test]
    fn times_of_an_operation_do_not_shrink_while_nobody_is_there() {
        let read = |cells: &str, columns: &str| answer("s824-fs840", columns, cells, "io-response");
        let alone = read("16", "threads");
        for (columns, cells) in [("threads,arrivals_per_s", "16,20"), ("threads,population,think_ms", "16,16,1000")] {
            let (few, busy) = (read(cells, columns), answer("s824-fs840", columns, cells, "utilisation"));
            assert!((few / alone - 1.0).abs() < 1e-9 && busy < 5.0, "{cells}: {few} us of {alone}, {busy} % busy");
        }
    }
}
