//! What two systems take to run, beside what they do: in a sentence, and side by side.

use super::conclusion::{Conclusion, with_interval};
use super::curve::factors_text;
use super::each_once;
use super::figure::{Axis, Datum, Figure, Form, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, optional, word};
use analysis::{Estimate, Finding, Findings, FootprintAmount, FootprintFinding, Same, Work};
use observation::{Factor, Footprint, Provenance};
use std::iter;

/// Whether a finding is told in words: of several levels of a sweep the footprint is told where the primary comparison is.
pub(super) fn told(findings: &Findings, finding: &Finding) -> bool {
    let primary = || findings.findings.iter().filter_map(FootprintFinding::of).any(|other| other.primary);
    FootprintFinding::of(finding).is_none_or(|found| found.primary || !primary())
}

/// `day, 8 sessions: the same postings from 77% fewer drives (22, not 96); flash gives 545 k/h for each drive, 4.36
/// times what disks does; flash breaks even with disks at a price of 9 600; its own is 4 400`.
pub(super) fn conclusion(found: &FootprintFinding) -> Conclusion {
    let point = &found.point;
    let levels = point.factors.iter().map(Factor::in_words);
    let subject = iter::once(point.stream.clone()).chain(levels).collect::<Vec<_>>().join(", ");
    let says: Vec<String> = [same(found), for_each(found), break_even(found)].into_iter().flatten().collect();
    Conclusion::plain(&point.experiment, "footprint", subject, &says.join("; "))
}

/// The same for less, or for more.
fn same(found: &FootprintFinding) -> Option<String> {
    let differs = |amount: &&FootprintAmount| amount.of_system != amount.of_baseline;
    let each = |amount: &FootprintAmount| {
        let change = amount.of_system / amount.of_baseline - 1.0;
        let [name, _, fewer] = names(amount);
        let more = if change < 0.0 { fewer } else { "more" };
        format!(
            "{} {more} {name} ({}, not {})",
            units::percent(change.abs()),
            plain(amount.of_system),
            plain(amount.of_baseline)
        )
    };
    let changes: Vec<String> = found.amounts.iter().filter(differs).map(each).collect();
    if changes.is_empty() {
        return None;
    }
    let (changes, system, baseline) = (changes.join(" and "), &found.point.system, &found.baseline);
    match found.same {
        Same::Yes => Some(format!("{system} gives the same {} as {baseline} from {changes}", found.what)),
        Same::NoneFound => Some(format!(
            "no difference in {} was found ({} times), and {system} takes {changes}",
            found.what,
            with_interval(&found.ratio, Quantity::Ratio)
        )),
        Same::No => None,
    }
}

fn for_each(found: &FootprintFinding) -> Option<String> {
    let (quantity, scale) = rate(found);
    let each = |amount: &FootprintAmount| {
        let rate = with_interval(&amount.rate_for_each.scaled(scale), quantity);
        format!("{rate} for each {}, {} times", names(amount)[1], units::ratio(amount.ratio.value))
    };
    let all: Vec<String> = found.amounts.iter().map(each).collect();
    let (system, baseline) = (&found.point.system, &found.baseline);
    (!all.is_empty()).then(|| format!("{system} gives {} what {baseline} does", all.join(", and ")))
}

fn break_even(found: &FootprintFinding) -> Option<String> {
    let price = |price: &Estimate| with_interval(price, Quantity::Plain);
    let own = found.price.map(|price| format!("; its own is {}", plain(price))).unwrap_or_default();
    let at = price(found.break_even.as_ref()?);
    let open = found.same == Same::NoneFound || !found.ratio.has_interval();
    let doubt = if open { format!(" (whether their {} differ is not known)", found.what) } else { String::new() };
    Some(format!("{} breaks even with {} at a price of {at}{doubt}{own}", found.point.system, found.baseline))
}

/// Drives, watts and whatever else is stated, side by side; none where nothing is compared.
pub(super) fn figure(findings: &Findings, experiment: &str) -> Option<Figure> {
    let found: Vec<&FootprintFinding> = findings
        .findings
        .iter()
        .filter_map(FootprintFinding::of)
        .filter(|one| one.point.experiment == experiment)
        .collect();
    let names = each_once(found.iter().flat_map(|one| [&one.baseline, &one.point.system]));
    let taken = |name: &String| {
        let system = findings.run.systems.iter().find(|system| system.name == *name)?;
        Some((name.clone(), system.footprint))
    };
    let taken: Vec<(String, Footprint)> = names.into_iter().filter_map(taken).collect();
    let panels: Vec<Panel> =
        (0..Footprint::NAMES.len()).map(|at| panel(at, &taken)).filter(|panel| !panel.is_empty()).collect();
    let first = found.first()?;
    let says = told_first(&found).map_or_else(|| same(first), same).map(|says| format!("{says}."));
    let note = "What each system takes to run, as the study states it; the table has what it does for each of it, with the interval \
                of the rate, and the price at which it does as much for its money as the baseline.";
    let title = if found.iter().all(|one| one.same == Same::Yes) { "Footprint at the same rate" } else { "Footprint" };
    let notes = says.into_iter().chain([note.to_owned()]).collect();
    let table = Table::new("What systems do for what they take", found.iter().flat_map(|one| rows(one)));
    Some(Figure::new(title, notes, panels, table.without_empty_columns()))
}

fn told_first<'a>(found: &[&'a FootprintFinding]) -> Option<&'a FootprintFinding> {
    found.iter().copied().find(|one| one.primary)
}

fn panel(at: usize, taken: &[(String, Footprint)]) -> Panel {
    let name = NAMES[at][0];
    let bar = |(row, (system, footprint)): (usize, &(String, Footprint))| {
        let amount = footprint.amounts()[at]?;
        Some(Datum::bare(amount, row as f64, format!("{system}: {} {name}", plain(amount))))
    };
    let points = taken.iter().enumerate().filter_map(bar).collect();
    let look = Look { slot: 0, provenance: Provenance::Published };
    let series = vec![Series { name: name.to_owned(), look, form: Form::Bars, points }];
    let rows = taken.iter().map(|(system, _)| system.clone()).collect();
    let (x, y) =
        (Axis::new(name, Quantity::Plain, Spacing::FromZero), Axis::new("", Quantity::Plain, Spacing::Names(rows)));
    Panel::new(name, Span::Third, x, y, series)
}

fn rows(found: &FootprintFinding) -> Vec<Vec<Field>> {
    let (quantity, scale) = rate(found);
    let row = |(at, amount): (usize, &FootprintAmount)| {
        let first = at == 0;
        vec![
            word("system", "system", &found.point.system),
            word("baseline", "baseline", &found.baseline),
            word("workload", "stream", &found.point.stream),
            word("at", "factors", factors_text(&found.point.factors)),
            word("of", "amount", names(amount)[0]),
            number("it takes", "of_system", amount.of_system, Quantity::Plain),
            number("baseline takes", "of_baseline", amount.of_baseline, Quantity::Plain),
            estimate(
                &format!("{} for each", found.what),
                "per_s_for_each",
                &amount.rate_for_each.scaled(scale),
                quantity,
            ),
            estimate(
                "baseline's for each",
                "baseline_per_s_for_each",
                &amount.baseline_for_each.scaled(scale),
                quantity,
            ),
            estimate("times", "ratio", &amount.ratio, Quantity::Ratio),
            estimate(
                "breaks even at a price of",
                "break_even_price",
                found.break_even.as_ref().filter(|_| first),
                Quantity::Plain,
            ),
            optional("its price", "price", found.price.filter(|_| first), Quantity::Plain),
        ]
    };
    found.amounts.iter().enumerate().map(row).collect()
}

/// What the rate is shown as, and how many of that are in a second: what users count goes by the hour.
fn rate(found: &FootprintFinding) -> (Quantity, f64) {
    match Work::of_word(&found.what) {
        Some(_) => (Quantity::Rate, 1.0),
        None => (Quantity::PerHour, 3_600.0),
    }
}

fn plain(amount: f64) -> String {
    if amount.fract() == 0.0 { units::count(amount as u64) } else { units::significant(amount) }
}

/// Names of the amounts of a footprint: of several, of one, and whether there are fewer or less of it.
const NAMES: [[&str; 3]; Footprint::NAMES.len()] = [
    ["drives", "drive", "fewer"],
    ["watts", "watt", "fewer"],
    ["rack units", "rack unit", "fewer"],
    ["money", "unit of money", "less"],
    ["floor space", "square metre", "less"],
];

fn names(amount: &FootprintAmount) -> [&'static str; 3] {
    let at = Footprint::NAMES.iter().position(|name| *name == amount.amount);
    NAMES[at.unwrap_or_default()]
}
