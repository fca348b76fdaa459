//! The mix of transactions at the point that people quote: shares against the plan, response against its limits.
//!
//! The one idea: times of classes cannot be pooled from summaries, so the table is of one trial, the one nearest to the
//! point, and it names it.

use super::curve::{Curve, Sweep, factor_text, level_of};
use super::figure::Figure;
use super::headline::quoted_point;
use super::quantity::Quantity;
use super::table::{Cell, Field, Table, numbers, words};
use crate::doubts::{Doubts, Touches};
use analysis::{ClassSummary, Findings, MIX_TOLERANCE, Point, StreamSummary, TrialSummary, Work};

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
}

impl Quoted<'_> {
    /// ` on postgres at 4 sessions`; the system is named where there are `several`.
    pub fn place(&self, several: bool) -> String {
        let on = if several { format!(" on {}", self.curve.system) } else { String::new() };
        let at = if self.at.is_empty() { String::new() } else { format!(" at {}", self.at) };
        format!("{on}{at}")
    }
}

/// The quoted trial of every curve of transactions.
pub fn quoted<'a>(findings: &'a Findings, sweep: &'a Sweep<'a>) -> Vec<Quoted<'a>> {
    let curves = sweep.curves.iter().filter(|_| sweep.work == Work::Transactions);
    curves.filter_map(|curve| quoted_trial(findings, sweep, curve)).collect()
}

fn quoted_trial<'a>(findings: &'a Findings, sweep: &'a Sweep<'a>, curve: &'a Curve<'a>) -> Option<Quoted<'a>> {
    let point = quoted_point(findings, sweep, curve)?;
    let level = sweep.factor.as_deref().and_then(|factor| Some(factor_text(factor, level_of(point, factor)?)));
    let fixed = curve.fixed.iter().map(|(name, level)| factor_text(name, level));
    let at: Vec<String> = level.into_iter().chain(fixed).collect();
    let far = |stream: &StreamSummary| (stream.throughput_per_s.value - point.throughput_per_s.value).abs();
    let (trial, stream) = trials_of(findings, point).min_by(|a, b| far(a.1).total_cmp(&far(b.1)))?;
    Some(Quoted { curve, trial, stream, at: at.join(", ") })
}

/// The trials behind a point, with its stream of each.
pub fn trials_of<'a>(
    findings: &'a Findings,
    point: &'a Point,
) -> impl Iterator<Item = (&'a TrialSummary, &'a StreamSummary)> {
    let ended = findings.trials.iter().filter(|trial| !trial.interrupted);
    let own = ended.filter(|trial| point.trials.contains(&trial.label.index));
    own.filter_map(|trial| {
        let named = |stream: &&StreamSummary| {
            trial.label.streams.get(usize::from(stream.stream)).is_some_and(|label| label.name == point.stream)
        };
        Some((trial, trial.streams.iter().find(named)?))
    })
}

/// The mix of every curve whose stream has several classes.
pub fn tables(findings: &Findings, sweep: &Sweep, doubts: &Doubts) -> Vec<Table> {
    let all = quoted(findings, sweep);
    let several = all.iter().any(|quoted| quoted.curve.system != all[0].curve.system);
    let mixed = all.iter().filter(|quoted| quoted.stream.classes.len() > 1);
    mixed.map(|quoted| table(quoted, several, doubts)).collect()
}

/// The same as figures without panels: a table with its notes.
pub fn figures(findings: &Findings, sweep: &Sweep, doubts: &Doubts) -> Vec<Figure> {
    let figure = |table: Table| Figure {
        notes: if judged(&table) { vec![note()] } else { Vec::new() },
        ..Figure::new("Mix and response by class", Vec::new(), table)
    };
    tables(findings, sweep, doubts).into_iter().map(figure).collect()
}

/// Scripts of the user's own have shares, and nothing that they are held against.
fn judged(table: &Table) -> bool {
    table.columns.iter().any(|column| column.key == "mix_ok")
}

/// What `ok` means.
fn note() -> String {
    format!(
        "The mix is ok when a share is within {} of the planned one, and three standard errors of its count. Response is \
         ok when nine of ten answered within the limit.",
        Quantity::Share.text(MIX_TOLERANCE)
    )
}

fn table(quoted: &Quoted, several: bool, doubts: &Doubts) -> Table {
    let (stream, place, trial) = (quoted.curve.stream, quoted.place(several), quoted.trial.label.index);
    let caption = format!("Mix of {stream}{place} (trial {trial}); p50 to p99.9 are of response");
    let tail = doubts.marks(&quoted.trial.caveats, Touches::Tail);
    let table = Table::of(caption, quoted.stream.classes.iter().map(|class| row(class, &tail)).collect());
    Table { trials: [trial].into(), ..table }.without_empty_columns()
}

fn row(class: &ClassSummary, tail: &str) -> Vec<Field> {
    let ms = |value: f64| {
        let known = Some(value).filter(|_| class.response.count > 0);
        Cell::optional(known, Quantity::Milliseconds)
    };
    vec![
        words("class", "class", &class.name),
        numbers("share", "share", Cell::optional(class.mix.share, Quantity::Share)),
        numbers("planned", "planned_share", Cell::optional(class.mix.planned_share, Quantity::Share)),
        words("mix ok", "mix_ok", verdict(class.mix.mix_ok)),
        numbers("count", "done", Cell::number(class.done as f64, Quantity::Count)).minor(),
        numbers("rate", "throughput_per_s", Cell::number(class.throughput_per_s, Quantity::Rate)).minor(),
        numbers("p50", "response_p50_ms", ms(class.response.p50_ms)).minor(),
        numbers("p90", "response_p90_ms", ms(class.response.p90_ms)),
        numbers("p99", "response_p99_ms", ms(class.response.p99_ms).marked(tail)),
        numbers("p99.9", "response_p999_ms", ms(class.response.p999_ms).marked(tail)).minor(),
        numbers("limit", "limit_s", Cell::optional(class.mix.limit_s, Quantity::Seconds)),
        words("response ok", "response_ok", verdict(class.mix.response_ok)),
    ]
}

fn verdict(ok: Option<bool>) -> &'static str {
    match ok {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}
