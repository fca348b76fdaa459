//! The first table: for every curve the point that people quote, and nothing else.

use super::conclusion::Conclusion;
use super::curve::{Curve, Sweep, counted_in};
use super::mix::trials_of;
use super::points::{bytes, cpu_title, yields};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, word};
use crate::caveats::{Caveats, Touches};
use analysis::{Comparison, Estimate, Findings, HighestRate, Knee, PairFinding, PointSummary, Work};
use observation::factor::{self, short_name};
use observation::{Asks, Point};
use study::{Direction, Metric};

/// More rows than this, and the low end of each curve is left to the experiment's own table.
const ROWS_MAX: usize = 14;

/// Of what grows in size or width the far end is quoted.
const GROWING: [&str; 4] = [factor::TRANSFER, factor::WIDTH, factor::SIZE, factor::MODULES];

/// Factors that are a load themselves.
const LOADS: [&str; 7] =
    [factor::OUTSTANDING, factor::SESSIONS, factor::RATE, factor::WIDTH, factor::WORKERS, factor::THREADS, "users"];

/// Whether a factor is a load itself, whichever of its names an older run file has for it.
pub fn is_load(name: &str) -> bool {
    LOADS.iter().any(|load| factor::said(load) == factor::said(name))
}

struct Row<'a> {
    curve: &'a Curve<'a>,
    point: &'a PointSummary,
    experiment: &'a str,
    at: String,
    /// The same where there is little room.
    short: String,
    /// Whether it is the low end of its curve.
    low_end: bool,
}

/// The headline table.
pub fn table(findings: &Findings, sweeps: &[Sweep], caveats: &Caveats) -> Table {
    let mut rows: Vec<Row> = sweeps.iter().flat_map(|sweep| quoted(findings, sweep)).collect();
    rows.iter_mut().filter(|row| holds_an_outage(findings, &row.point.at)).for_each(Row::say_whole);
    if rows.len() > ROWS_MAX {
        rows.retain(|row| !row.low_end);
    }
    // Systems that are asked different things are told apart by their streams.
    let both = |row: &Row| {
        rows.iter()
            .any(|other| other.curve.at.stream == row.curve.at.stream && other.curve.at.system != row.curve.at.system)
    };
    let systems = rows.iter().any(both);
    let groups = groups(&rows);
    let named = groups.is_empty() && rows.iter().any(|row| row.experiment != rows[0].experiment);
    let shown = rows.iter().map(|row| {
        let stream = super::axes::with_provenance(&row.curve.at.stream, row.curve.provenance);
        let mut fields = vec![
            word("system", "system", &row.curve.at.system).only_if(systems),
            word("workload", "stream", stream),
            word("at", "at", &row.at).shortened(&row.short),
        ];
        fields.extend(numbers(row.point, &rows, caveats));
        fields.push(word("experiment", "experiment", row.experiment).minor().only_if(named));
        fields
    });
    let mut table = Table::new("The figures in short", shown);
    table.groups = groups;
    table.row_trials = rows.iter().map(|row| row.point.trials.iter().copied().collect()).collect();
    table.trials = table.row_trials.iter().flatten().copied().collect();
    table.without_empty_columns()
}

/// How many points stand in the figures alone, behind what stands in short.
pub fn left_out(findings: &Findings, headline: &Table) -> Option<String> {
    let left = findings.points.len().saturating_sub(headline.rows.len());
    let are = if left == 1 { "is" } else { "are" };
    (left > 0 && !headline.rows.is_empty())
        .then(|| format!("{} {are} in the figures and tables of the page.", units::counted(left as u64, "more points")))
}

impl Row<'_> {
    /// Says that its numbers are of the whole window: they mix what was before, during and behind an outage.
    fn say_whole(&mut self) {
        for at in [&mut self.at, &mut self.short] {
            let mark = if at.is_empty() { "" } else { "; " };
            *at += &format!("{mark}outage included");
        }
    }
}

fn holds_an_outage(findings: &Findings, at: &Point) -> bool {
    let mut outages = findings.findings.iter().filter_map(PairFinding::of).map(|outage| &outage.point);
    outages.any(|one| (&one.experiment, &one.system, &one.stream) == (&at.experiment, &at.system, &at.stream))
}

/// Where all work is fixed, its time is the result and rates only follow from it.
fn fixed_work(rows: &[Row]) -> bool {
    rows.iter().all(|row| row.point.elapsed_s.is_some())
}

/// Rows are grouped under the names of their experiments where names are needed to tell them apart, or stand for several.
fn groups(rows: &[Row]) -> Vec<(usize, String)> {
    let mut groups: Vec<(usize, String)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if groups.last().is_none_or(|(_, name)| name != row.experiment) {
            groups.push((index, row.experiment.to_owned()));
        }
    }
    let wanted = groups.len() > 1 && (!told_apart(rows) || groups.len() * 2 <= rows.len());
    if wanted { groups } else { Vec::new() }
}

/// Whether every row is told from the others without the name of its experiment.
fn told_apart(rows: &[Row]) -> bool {
    let mut seen = std::collections::HashSet::new();
    rows.iter().all(|row| seen.insert((&row.curve.at.system, &row.curve.at.stream, &row.at)))
}

fn numbers(point: &PointSummary, rows: &[Row], caveats: &Caveats) -> Vec<Field> {
    let all = caveats.marks(&point.caveats, Touches::All);
    let tail = caveats.tail_marks(point);
    let work = counted_in(rows.iter().map(|row| row.point));
    let elapsed = estimate("elapsed", "elapsed_s", &point.elapsed_s, Quantity::Seconds);
    if fixed_work(rows) {
        let given = yields(point).into_iter().map(|field| field.leading().marked(all.clone()));
        return [elapsed.leading().marked(all.clone())]
            .into_iter()
            .chain(given)
            .chain([
                estimate(
                    super::elapsed::cpu_of_all(point),
                    "cpu_elapsed_core_s",
                    &point.cpu_elapsed_s,
                    Quantity::Seconds,
                ),
                bytes(point),
                estimate("disk wait", "disk_wait_ms", &point.disk_wait_ms, Quantity::Milliseconds).minor(),
                estimate("disk busy", "disk_utilisation", &point.disk_utilisation, Quantity::Share).minor(),
            ])
            .collect();
    }
    // Who counts postings asks for transactions second.
    let counted = rows.iter().any(|row| !row.point.yields.is_empty());
    let all_counted = rows.iter().all(|row| !row.point.yields.is_empty());
    // Where operations and transactions stand in one column, each says its unit.
    let alike = rows.iter().all(|row| row.point.work == work);
    let (title, quantity) = (if alike { work.unit() } else { "rate" }, Quantity::Work(point.work));
    let throughput = estimate(title, "throughput_per_s", &point.throughput_per_s, quantity);
    let mut fields: Vec<Field> = yields(point).into_iter().map(|field| field.leading().marked(all.clone())).collect();
    let throughput = match (counted, all_counted) {
        (_, true) => throughput.minor(),
        (true, false) => throughput,
        (false, _) => throughput.leading(),
    };
    let throughput = throughput.marked(all);
    let moved = if counted { bytes(point).minor() } else { bytes(point) };
    let response = [
        estimate("p50", "response_p50_ms", &point.response_p50_ms, Quantity::Milliseconds),
        estimate("p99", "response_p99_ms", &point.response_p99_ms, Quantity::Milliseconds).marked(tail),
    ];
    // What people quote stands where a narrow page shows it.
    if counted {
        fields.extend(response.into_iter().chain([throughput, moved]));
    } else {
        fields.extend([throughput, moved].into_iter().chain(response));
    }
    fields
        .extend([elapsed.minor(), estimate(cpu_title(work), "cpu_us", &point.cpu_us, Quantity::Microseconds).minor()]);
    fields
}

fn quoted<'a>(findings: &Findings, sweep: &'a Sweep) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for curve in &sweep.curves {
        let Some(factor) = sweep.factor.as_deref() else {
            rows.extend(curve.points.iter().map(|point| row(sweep, curve, point, "", load(findings, point))));
            continue;
        };
        let (main, prefix) = main_point(findings, sweep, curve, factor);
        // Of a search only its answer is quoted: every other rate was a step on the way.
        let first = curve.points.first().copied().filter(|_| searched(findings, curve).is_none());
        if let Some(low) = first.filter(|low| !main.is_some_and(|main| std::ptr::eq(main, *low))) {
            let low = row(sweep, curve, low, "", sweep.at(curve, low));
            rows.push(Row { low_end: true, ..low });
        }
        // What the answer is about stands in the table, too, and where the primary metric came off worst.
        let worst = worst(findings, curve);
        let told = |point: &&&PointSummary| {
            let shown =
                [first.filter(|_| main.is_some()), main].into_iter().flatten().any(|one| std::ptr::eq(one, **point));
            (findings.answered.contains(&point.at) || worst.is_some_and(|worst| in_pair(worst, point))) && !shown
        };
        let answered = curve.points.iter().filter(told);
        rows.extend(answered.map(|point| row(sweep, curve, point, "", sweep.at(curve, point))));
        if let Some(main) = main {
            rows.push(row(sweep, curve, main, prefix, sweep.at(curve, main)));
        }
    }
    rows
}

/// The primary comparison of a curve, or with it, that its system came off worst in.
fn worst<'a>(findings: &'a Findings, curve: &Curve) -> Option<&'a Comparison> {
    let of = |one: &&Comparison| {
        let at = curve.points.iter().any(|point| in_pair(one, point));
        one.primary && one.ratio.value.is_finite() && at
    };
    let loss = |one: &Comparison| match one.direction {
        Direction::HigherIsBetter => one.ratio.value.recip(),
        Direction::LowerIsBetter => one.ratio.value,
    };
    findings.comparisons().filter(of).max_by(|a, b| loss(a).total_cmp(&loss(b)))
}

/// Whether a point is one of the two of a comparison.
fn in_pair(one: &Comparison, point: &PointSummary) -> bool {
    let systems = [&one.point.system, &one.baseline];
    systems.contains(&&point.at.system) && point.at.same_elsewhere(&one.point)
}

/// Where nothing was varied, the load says at what the number was taken.
pub fn load(findings: &Findings, point: &PointSummary) -> String {
    let label = trials_of(findings, point)
        .next()
        .and_then(|(trial, stream)| trial.label.streams.get(usize::from(stream.stream)));
    let Some(label) = label else { return String::new() };
    match (label.slots, label.offered) {
        (_, Some(rate)) => format!("{} offered", units::rate(rate.0)),
        (Some(slots), None) if label.asks == Asks::Operations => format!("queue depth {slots}"),
        _ => label.load.strip_prefix("closed, ").unwrap_or(&label.load).replace("; closed, ", "; "),
    }
}

/// How many rows a transaction goes over by the words of its load, `10 rows of 200 B a transaction`; one where they do not say.
pub fn rows_each(load: &str) -> Option<f64> {
    let said = load.split_once(" rows").filter(|(_, rest)| rest.contains("a transaction"));
    said.map_or(Some(1.0), |(count, _)| count.parse().ok())
}

/// The point of a curve that people quote.
pub fn quoted_point<'a>(findings: &Findings, sweep: &Sweep, curve: &Curve<'a>) -> Option<&'a PointSummary> {
    match sweep.factor.as_deref() {
        Some(factor) => main_point(findings, sweep, curve, factor).0,
        None => curve.points.first().copied(),
    }
}

/// The low end of a curve over a number, of which only a search has none worth telling.
pub fn low_point<'a>(sweep: &Sweep, curve: &Curve<'a>) -> Option<&'a PointSummary> {
    curve.points.first().copied().filter(|_| sweep.numeric)
}

fn row<'a>(sweep: &'a Sweep, curve: &'a Curve<'a>, point: &'a PointSummary, prefix: &str, at: String) -> Row<'a> {
    // `knee: queue depth 64` is `knee: QD 64` where there is little room.
    // A level of several settings keeps all of them, each by the first letters of its name, because any may be what differs.
    let short = match (at.contains('='), prefix.is_empty()) {
        (true, _) => settings(&at).split(' ').map(initials).collect::<Vec<_>>().join(" "),
        (false, _) => at.replace("queue depth", "QD"),
    };
    let at = format!("{prefix}{at}");
    Row { curve, point, experiment: sweep.experiment, at, short, low_end: false }
}

/// `link capacity=5MB/s` without the name of the factor, which those of the settings say.
fn settings(at: &str) -> &str {
    let named = at.split_once(' ').filter(|(name, _)| !name.contains('='));
    named.map_or(at, |(_, rest)| if rest.split(' ').next().is_some_and(|word| word.contains('=')) { rest } else { at })
}

/// `capacity=5MB/s` as `cap=5MB/s`.
fn initials(word: &str) -> String {
    word.split_once('=')
        .map_or(word.to_owned(), |(name, value)| format!("{}={value}", name.chars().take(3).collect::<String>()))
}

/// The knee where there is one, the far end of what grows in size or width, else the peak.
fn main_point<'a>(
    findings: &Findings,
    sweep: &Sweep,
    curve: &Curve<'a>,
    factor: &str,
) -> (Option<&'a PointSummary>, &'static str) {
    if let Some(highest) = searched(findings, curve) {
        let at = |point: &&&PointSummary| {
            let level = point.at.level(factor).and_then(|level| level.number());
            highest.rate_per_s.is_some_and(|rate| level == Some(rate.value))
        };
        return (curve.points.iter().find(at).copied(), "highest ");
    }
    if let Some((knee, best)) = knee_level(findings, curve) {
        let near = |point: &&&PointSummary| {
            point.at.level(factor).and_then(|level| level.number()).is_some_and(|at| at >= knee - 1e-9)
        };
        if let Some(point) = curve.points.iter().find(near) {
            return (Some(point), if best { "best: " } else { "knee: " });
        }
    }
    let grows = GROWING.contains(&short_name(factor));
    let fixed_work = curve.points.iter().any(|point| point.elapsed_s.is_some());
    if grows || fixed_work || !sweep.numeric {
        let last = curve.points.last().copied();
        let edge = !grows && sweep.numeric && last.is_some_and(|last| last.elapsed_s.is_some() && is_load(factor));
        return (last, if edge && curve.points.len() > 1 { EDGE } else { "" });
    }
    let value = |point: &&PointSummary| counted(findings, point).value;
    let known = |point: &&PointSummary| counted(findings, point).tells();
    let any_known = curve.points.iter().copied().any(|point| known(&point));
    let candidates = curve.points.iter().copied().filter(|point| !any_known || known(point));
    let Some(most) = candidates.max_by(|a, b| value(a).total_cmp(&value(b))) else {
        return (None, "");
    };
    // Whoever asks about a distance does not ask for the best one; of a load the most is quoted, whichever is asked about.
    let asked = |point: &&PointSummary| findings.answered.contains(&point.at) && !std::ptr::eq(*point, most);
    // A most that is known less well than the asked level, and may be no more than that, is no better answer.
    let vaguer = |point: &&PointSummary| {
        let (best, own) = (counted(findings, most), counted(findings, point));
        best.low < own.value && best.high / best.low > own.high / own.low
    };
    let close = near(findings, curve, most).into_iter().find(asked).filter(|_| !is_load(factor));
    let asked = close.or_else(|| level_with(findings, curve, most).into_iter().filter(asked).find(vaguer));
    match asked {
        Some(asked) => (Some(asked), ""),
        None => (Some(most), if at_the_edge(curve, most) { EDGE } else { "best: " }),
    }
}

/// Whether transactions of a stream carry so different numbers of rows along its curve that their rate compares nothing.
pub fn sizes_vary(findings: &Findings, point: &PointSummary) -> bool {
    let each = |one: &PointSummary| one.bytes_per_s.value / one.throughput_per_s.value;
    let alike = findings.points.iter().filter(|other| other.at.same_stream(&point.at));
    let (least, most) =
        alike.map(each).fold((f64::MAX, 0.0f64), |(least, most), each| (least.min(each), most.max(each)));
    point.work == Work::Transactions && least > 0.0 && most > 1.5 * least
}

/// What its users count: bytes where the study asks for bandwidth, or where transactions of one curve differ in size.
fn counted(findings: &Findings, point: &PointSummary) -> Estimate {
    let rate = match findings.metric {
        Some(Metric::Bandwidth) => point.bytes_per_s,
        _ if sizes_vary(findings, point) => point.bytes_per_s,
        _ => point.throughput_per_s,
    };
    point.yields.first().map_or(rate, |(_, per_s)| *per_s)
}

/// What stands before a point that no larger level was tried beyond: nobody knows whether it is a peak.
const EDGE: &str = "largest: ";

fn at_the_edge(curve: &Curve, most: &PointSummary) -> bool {
    curve.points.len() > 1 && curve.points.last().is_some_and(|last| std::ptr::eq(*last, most))
}

/// The other points of a curve that gave as much as the one that gave most, as far as their intervals tell.
pub fn level_with<'a>(findings: &Findings, curve: &Curve<'a>, most: &PointSummary) -> Vec<&'a PointSummary> {
    // The most may be the least certain, so that nothing is apart from it: then another one that gave more is.
    let above =
        |best: Estimate, other: Estimate| other.value < best.value && best.has_interval() && !best.overlaps(&other);
    let apart =
        |other: Estimate| other.has_interval() && curve.points.iter().any(|best| above(counted(findings, best), other));
    let others = curve.points.iter().copied().filter(|point| !std::ptr::eq(*point, most));
    others.filter(|point| !apart(counted(findings, point))).collect()
}

/// Those of them that gave nearly as much: intervals that overlap show no difference, and no equality either.
pub fn near<'a>(findings: &Findings, curve: &Curve<'a>, most: &PointSummary) -> Vec<&'a PointSummary> {
    let least = 0.9 * counted(findings, most).value;
    level_with(findings, curve, most).into_iter().filter(|point| counted(findings, point).value >= least).collect()
}

/// Curves of which the largest level gave the most, where no finding says so.
pub fn edges(findings: &Findings, sweep: &Sweep) -> Vec<Conclusion> {
    let Some(factor) = sweep.factor.as_deref() else { return Vec::new() };
    let told = |curve: &&Curve| findings.findings.iter().filter_map(Knee::of).any(|knee| curve.is_of(&knee.point));
    let unknown = sweep.curves.iter().filter(|curve| !told(curve));
    let edges = unknown.filter_map(|curve| {
        let (point, prefix) = main_point(findings, sweep, curve, factor);
        // Sessions beyond what users ask for find no peak, and fixed work was not asked for one.
        let asked = |point: &&PointSummary| point.elapsed_s.is_none() && !point.limited_by_users();
        let point = point.filter(|point| prefix == EDGE && asked(point))?;
        let mut level = level_with(findings, curve, point);
        // What transactions give comes in heaps: where they are clear of each other themselves, the curve is.
        level.retain(|other| point.yields.is_empty() || point.throughput_per_s.overlaps(&other.throughput_per_s));
        let names = level.iter().map(|other| sweep.at(curve, other)).collect::<Vec<_>>().join(", ");
        let at = format!("{}, the largest that was tried, gave", sweep.at(curve, point));
        let near = near(findings, curve, point).len() == level.len();
        let (word, says) = match (level.is_empty(), near) {
            (true, _) => ("no peak yet", format!("{at} the most; try larger ones to find the peak")),
            (_, true) => ("plateau", format!("{at} about as much as {names}")),
            (_, false) => ("cannot tell", format!("{at} the most, but its interval overlaps with that of {names}")),
        };
        Some(Conclusion::plain(sweep.experiment, word, curve.name.clone(), &says))
    });
    edges.collect()
}

/// The search that a curve belongs to.
fn searched<'a>(findings: &'a Findings, curve: &Curve) -> Option<&'a HighestRate> {
    findings.findings.iter().filter_map(HighestRate::of).find(|found| curve.is_of(&found.point))
}

/// The level that is stated, and whether it is the best.
fn knee_level(findings: &Findings, curve: &Curve) -> Option<(f64, bool)> {
    let mut knees = findings.findings.iter().filter_map(Knee::of).filter(|knee| curve.is_of(&knee.point));
    knees.find_map(|knee| Some((knee.stated()?, knee.is_best())))
}
