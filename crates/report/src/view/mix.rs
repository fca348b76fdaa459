//! The mix of transactions at the point that people quote: shares against the plan, response against its limits.
//!
//! The one idea: times of classes cannot be pooled from summaries, so the table is of one trial, the one nearest to the
//! point, and it names it.

use super::axes::with_provenance;
use super::conclusion::Conclusion;
use super::curve::{Curve, Sweep};
use super::figure::Figure;
use super::headline::quoted_point;
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, optional, word};
use crate::caveats::{Caveats, Touches};
use analysis::{
    ClassSummary, Estimate, Findings, MIX_TOLERANCE, OLDER, PointSummary, StreamSummary, TrialSummary, Work,
};
use observation::{Asks, Factor};

/// What a curve of transactions is quoted by.
pub struct Quoted<'a> {
    /// The curve.
    pub curve: &'a Curve<'a>,
    /// The trial nearest to the quoted point.
    pub trial: &'a TrialSummary,
    /// Its stream.
    pub stream: &'a StreamSummary,
    /// `4 sessions`; empty when nothing was varied.
    pub at: String,
    /// Whether its system must be named.
    several: bool,
    /// Whether the point has other trials, of which tables show the mean.
    repeated: bool,
}

impl Quoted<'_> {
    /// Where it was measured, behind a word: ` on postgres at 4 sessions`.
    pub fn place(&self) -> String {
        let on = if self.several { format!(" on {}", self.curve.at.system) } else { String::new() };
        let at = if self.at.is_empty() { String::new() } else { format!(" at {}", self.at) };
        format!("{on}{at}")
    }

    /// The same in a sentence: ` at 4 sessions (trial 5)`, where the point has several trials.
    fn of_trial(&self) -> String {
        let trial = if self.repeated { format!(" (trial {})", self.trial.label.index) } else { String::new() };
        format!("{}{trial}", self.place())
    }

    /// A sentence about it: `brokerage on postgres at 4 sessions`, and of a model `brokerage (simulated) at 4 sessions`.
    pub fn says(&self, word: &str, says: &str) -> Conclusion {
        let point = &self.curve.at;
        let subject = format!("{}{}", with_provenance(&point.stream, self.curve.provenance), self.of_trial());
        Conclusion::plain(&point.experiment, word, subject, says)
    }

    /// The same about the trial, whose streams share its server: `day and night at 4 sessions`.
    pub fn says_of_all(&self, word: &str, says: &str) -> Conclusion {
        let subject = format!("{}{}", with_provenance(&self.streams(), self.curve.provenance), self.of_trial());
        Conclusion::plain(&self.curve.at.experiment, word, subject, says)
    }

    /// Transactions a second of all streams of the trial: what its server counts is of all of them.
    pub fn all_per_s(&self) -> f64 {
        asking(self.trial).map(|stream| stream.throughput_per_s.value).sum()
    }

    /// `day and night`.
    pub fn streams(&self) -> String {
        let names: Vec<&str> = asking(self.trial).map(|stream| self.trial.label.stream_name(stream.stream)).collect();
        names.join(" and ")
    }

    /// ` of both streams`; nothing of a trial of one.
    pub fn of_streams(&self) -> String {
        of_streams(asking(self.trial).count())
    }
}

/// ` of both streams`, ` of all 3 streams`; nothing of one.
pub fn of_streams(streams: usize) -> String {
    match streams {
        0 | 1 => String::new(),
        2 => " of both workloads".to_owned(),
        more => format!(" of all {more} workloads"),
    }
}

/// The streams of a trial that ask a database.
pub fn asking(trial: &TrialSummary) -> impl Iterator<Item = &StreamSummary> {
    let label = |stream: &StreamSummary| trial.label.streams.get(usize::from(stream.stream));
    trial.streams.iter().filter(move |stream| label(stream).is_some_and(|label| label.asks == Asks::Transactions))
}

/// The quoted trials, once for each system and level: the streams of one share its server.
pub fn quoted_servers<'a>(findings: &'a Findings, sweep: &'a Sweep<'a>) -> Vec<Quoted<'a>> {
    let mut seen: Vec<(&str, &[Factor])> = Vec::new();
    let mut all = quoted(findings, sweep);
    all.retain(|quoted| {
        let place = (quoted.trial.label.system.as_str(), quoted.trial.label.factors.as_slice());
        let first = !seen.contains(&place) || asking(quoted.trial).count() < 2;
        seen.push(place);
        first
    });
    all
}

/// The quoted trial of every curve of transactions.
pub fn quoted<'a>(findings: &'a Findings, sweep: &'a Sweep<'a>) -> Vec<Quoted<'a>> {
    let curves = sweep.curves.iter().filter(|_| sweep.work == Work::Transactions);
    let mut all: Vec<Quoted> = curves.filter_map(|curve| quoted_trial(findings, sweep, curve)).collect();
    let several = all.iter().any(|quoted| quoted.curve.at.system != all[0].curve.at.system);
    all.iter_mut().for_each(|quoted| quoted.several = several);
    all
}

fn quoted_trial<'a>(findings: &'a Findings, sweep: &'a Sweep<'a>, curve: &'a Curve<'a>) -> Option<Quoted<'a>> {
    let point = quoted_point(findings, sweep, curve)?;
    let (trial, stream) = nearest(findings, point)?;
    let repeated = point.trials.len() > 1;
    Some(Quoted { curve, trial, stream, at: sweep.at(curve, point), several: false, repeated })
}

/// The trial nearest to a point, with its stream.
pub fn nearest<'a>(findings: &'a Findings, point: &'a PointSummary) -> Option<(&'a TrialSummary, &'a StreamSummary)> {
    let far = |stream: &StreamSummary| (stream.throughput_per_s.value - point.throughput_per_s.value).abs();
    trials_of(findings, point).min_by(|a, b| far(a.1).total_cmp(&far(b.1)))
}

/// The trials behind a point, with its stream of each.
pub fn trials_of<'a>(
    findings: &'a Findings,
    point: &'a PointSummary,
) -> impl Iterator<Item = (&'a TrialSummary, &'a StreamSummary)> {
    let own = point.trials.iter().filter_map(|index| findings.ended(*index));
    own.filter_map(|trial| {
        let named = |stream: &&StreamSummary| trial.label.stream_name(stream.stream) == point.at.stream;
        Some((trial, trial.streams.iter().find(named)?))
    })
}

/// The mix of every curve whose stream has several classes.
pub fn tables(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Vec<Table> {
    let all = quoted(findings, sweep);
    let mixed = all.iter().filter(|quoted| quoted.stream.classes.len() > 1);
    mixed.map(|quoted| table(quoted, caveats)).collect()
}

/// The same as figures without panels: a table with its notes.
pub fn figures(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Vec<Figure> {
    let figure = |table: Table| {
        let notes = if judged(&table) { vec![note()] } else { Vec::new() };
        Figure::new("Mix and latency by class", notes, Vec::new(), table)
    };
    tables(findings, sweep, caveats).into_iter().map(figure).collect()
}

/// The column that is left out where no mix is planned.
const MIX_OK: &str = "mix_ok";

/// Scripts of the user's own have shares, and nothing that they are held against.
fn judged(table: &Table) -> bool {
    table.columns.iter().any(|column| column.key == MIX_OK)
}

/// What `ok` means.
fn note() -> String {
    format!(
        "The mix is ok when a share is within {} of the planned one plus three standard errors of its count. Response is \
         ok when nine of ten answered within the limit.",
        Quantity::Share.text(MIX_TOLERANCE)
    )
}

fn table(quoted: &Quoted, caveats: &Caveats) -> Table {
    let tail = caveats.marks(&quoted.trial.caveats, Touches::Tail);
    let age = caveats.marks(&quoted.trial.caveats, Touches::Age);
    let aged = quoted.stream.age(&quoted.trial.label);
    // What too few samples of all classes tell, or too bunched ones, those of one class do not tell better.
    let known = quoted.stream.quantiles(QUANTILES).map(|known| known.map(|one| one.has_interval()));
    let known = known.unwrap_or([true; QUANTILES.len()]);
    let rows = quoted.stream.classes.iter().map(|class| match aged.is_some_and(|aged| aged.name == class.name) {
        true => row(class, true, &age, [true; QUANTILES.len()]),
        false => row(class, false, &tail, known),
    });
    let mut table = Table::new(caption(quoted), rows);
    table.trials = [quoted.trial.label.index].into();
    table = table.without_empty_columns();
    for counted in table.notes_of(&COUNTED) {
        table.caption.push_str(&format!(". {counted}"));
    }
    table
}

/// What is counted by when it ended, and what by when it was asked for, behind a column that is of it.
const COUNTED: [(&str, &str); 2] = [
    ("rate", "Rate and share: transactions that ended in the window"),
    ("count", "Count and latency: those that were requested in it"),
];

fn caption(quoted: &Quoted) -> String {
    let (stream, place, trial) = (&quoted.curve.at.stream, quoted.place(), quoted.trial.label.index);
    // Work that saw nothing of it counts at the age of the trial, which is the least that it can be.
    let aged = quoted.stream.age(&quoted.trial.label).filter(|class| class.response.count > class.done);
    let aged = aged.map(|class| {
        format!(
            "; {} is counted of all work, and its rate of what saw data that was loaded in this trial: {} of {} saw none",
            class.name,
            units::count(class.response.count - class.done),
            units::count(class.response.count)
        )
    });
    format!("Mix of {stream}{place} (trial {trial}){}", aged.unwrap_or_default())
}

/// The quantiles of a class.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// A class, whether its times are ages, and which of its quantiles are known of all classes. Where nobody saw what was loaded, there is no
/// age.
fn row(class: &ClassSummary, aged: bool, tail: &str, known: [bool; 4]) -> Vec<Field> {
    let count = if aged { class.response.count * u64::from(class.done > 0) } else { class.done };
    let told = if aged { age_at } else { response_at };
    let ms = |title, key, value, at: usize| {
        told(class, title, key, (QUANTILES[at], value)).rough_if(!known[at]).only_if(count > 0)
    };
    vec![
        word("class", "class", &class.name),
        optional("share", "share", class.mix.share, Quantity::Share),
        optional("planned", "planned_share", class.mix.planned_share, Quantity::Share),
        word("mix ok", MIX_OK, verdict(class.mix.mix_ok)),
        number("count", "done", count as f64, Quantity::Count).minor(),
        number("thrown away", "retried_share", thrown_away(class), Quantity::Share).only_if(class.retried > 0),
        number("rate", "throughput_per_s", class.throughput_per_s, Quantity::Rate).minor(),
        optional("offered", "offered_per_s", class.offered_per_s, Quantity::Rate).minor(),
        ms("p50", "response_p50_ms", class.response.p50_ms, 0).minor(),
        ms("p90", "response_p90_ms", class.response.p90_ms, 1),
        ms("p99", "response_p99_ms", class.response.p99_ms, 2).marked(tail),
        ms("p99.9", "response_p999_ms", class.response.p999_ms, 3).minor().marked(tail),
        optional("limit", "limit_s", class.mix.limit_s, Quantity::Seconds),
        word("limit met", "response_ok", verdict(class.mix.response_ok)),
    ]
}

/// Tries of a class that were in conflict, as a share of all that it took until they ended well.
fn thrown_away(class: &ClassSummary) -> f64 {
    class.retried as f64 / (class.retried + class.done) as f64
}

/// A quantile of the response of a class; what is beyond the known times is only a lower bound, and one that no sample lies beyond is
/// not told.
fn response_at(class: &ClassSummary, title: &str, key: &str, (q, ms): (f64, f64)) -> Field {
    let at_least = Estimate { low: ms, high: f64::INFINITY, ..Estimate::single(ms) };
    match class.is_known(q) {
        false => estimate(title, key, &at_least, Quantity::Milliseconds).only_if(class.response.count > 0),
        true => {
            let count = class.response.count;
            let told = number(title, key, ms, Quantity::Milliseconds);
            told.rough_if(!beyond(count, q, FEW)).only_if(beyond(count, q, 1.0))
        }
    }
}

/// A quantile of how old data was; what was there before the trial is at least as old, and nobody saw how old.
pub fn age_at(class: &ClassSummary, title: &str, key: &str, (q, ms): (f64, f64)) -> Field {
    match class.is_known(q) {
        true => response_at(class, title, key, (q, ms)),
        false => word(title, key, OLDER).numeric(true),
    }
}

/// With fewer samples beyond it a quantile is told with a `~`: the next window may well give half or twice as much.
const FEW: f64 = 10.0;

/// Whether so many samples lie beyond a quantile; without any it is the slowest one, whichever quantile is asked for.
fn beyond(count: u64, q: f64, samples: f64) -> bool {
    count as f64 * (1.0 - q) + 1e-6 >= samples
}

fn verdict(ok: Option<bool>) -> &'static str {
    match ok {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}
