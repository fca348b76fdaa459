//! What the time is made of that a mirror adds: a chart of its parts, and a table with all of them.

use super::axes::{datum, factor_title};
use super::curve::factors_text;
use super::figure::{Axis, Datum, Figure, Form, Look, Panel, Series, Spacing, Span};
use super::order::Levels;
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, optional, word};
use analysis::{AddedTime, Findings, MirrorFinding, PartOf};
use observation::Provenance;

/// The table of an experiment with mirrors; none where nothing could be compared.
pub fn figure(findings: &Findings, experiment: &str) -> Option<Figure> {
    let found = findings.findings.iter().filter_map(MirrorFinding::of);
    let here: Vec<&MirrorFinding> = found.filter(|found| found.point.experiment == experiment).collect();
    let here: Vec<(&MirrorFinding, Vec<&AddedTime>)> =
        here.into_iter().map(|found| (found, in_order(findings, &found.added))).collect();
    let rows: Vec<Vec<Field>> =
        here.iter().flat_map(|(found, all)| all.iter().map(|added| row(found, added))).collect();
    let units = super::each_once(here.iter().map(|(found, _)| (&found.point.system, found.unit)));
    let mut notes: Vec<String> = units.iter().map(|(system, unit)| format!("{system}: {unit}.")).collect();
    let seen = |part: PartOf| here.iter().flat_map(|(_, all)| all).any(|a| a.parts.iter().any(|p| p.part == part));
    let parts = PartOf::ALL.iter().copied().filter(|part| seen(*part));
    let parts: Vec<String> = parts.map(|part| format!("{}: {}", part.word(), part.source())).collect();
    notes.push(format!("Milliseconds of the mean latency of a transaction. {}.", parts.join("; ")));
    let table = Table::new("What a mirror adds, and what that is made of", rows.clone()).without_empty_columns();
    let panels = costs(&here).into_iter().collect();
    (!rows.is_empty())
        .then(|| Figure::new("What the mirror costs, and what the added time is made of", notes, panels, table))
}

/// The cost as a factor over the one number that is varied.
fn costs(here: &[(&MirrorFinding, Vec<&AddedTime>)]) -> Option<Panel> {
    let level = |added: &AddedTime| match added.factors.as_slice() {
        [one] => one.level.number(),
        _ => None,
    };
    let (mut factor, mut all) = (None, Vec::new());
    for (slot, (found, added)) in here.iter().enumerate() {
        let name = format!("{} on {}", found.point.stream, found.point.system);
        let mut points = Vec::new();
        for added in added {
            factor = factor.or(added.factors.first().map(|one| one.name.as_str()));
            let place = format!("{name} · {}", factors_text(&added.factors));
            points.push(Datum { x: level(added)?, ..datum(&added.shown()[1], Quantity::Ratio, &place, "") });
        }
        let look = Look { slot, provenance: Provenance::Measured };
        all.push(Series { name, look, form: Form::Line, points });
    }
    let x = Axis::new(factor_title(factor?, true), Quantity::Plain, Spacing::FromZero);
    let y = Axis::new("times the throughput without it", Quantity::Ratio, Spacing::FromZero);
    Some(Panel::new("What the mirror costs", Span::Half, x, y, all)).filter(|panel| !panel.is_empty())
}

/// By level: a line through levels in the order of their trials would go back and forth.
fn in_order<'a>(findings: &Findings, all: &'a [AddedTime]) -> Vec<&'a AddedTime> {
    let levels = Levels::of(findings, all.iter().flat_map(|added| &added.factors));
    let mut all: Vec<&AddedTime> = all.iter().collect();
    all.sort_by_cached_key(|added| levels.ranks(&added.factors));
    all
}

fn row(found: &MirrorFinding, added: &AddedTime) -> Vec<Field> {
    let ms = |title: &str, key: &str, ms: Option<f64>| optional(title, key, ms, Quantity::Milliseconds);
    let [whole, times] = added.shown();
    let mut row = vec![
        word("system", "system", &found.point.system),
        word("workload", "stream", &found.point.stream),
        word("at", "factors", factors_text(&added.factors)),
        ms("alone", "alone_ms", Some(added.alone_ms)),
        estimate("added", "added_ms", &whole, Quantity::Milliseconds),
        estimate("times", "times", &times, Quantity::Ratio),
        word("interval", "open", added.open().unwrap_or_default()),
    ];
    let of = |part: PartOf| added.parts.iter().find(|one| one.part == part).map(|one| one.ms);
    row.extend(PartOf::ALL.iter().map(|part| ms(part.word(), part.word(), of(*part))));
    row.extend([
        optional("round trips", "round_trips", added.round_trips, Quantity::Ratio),
        ms("own flush alone", "own_flush_alone_ms", added.own_flush_ms.map(|(alone, _)| alone)),
        ms("own flush", "own_flush_ms", added.own_flush_ms.map(|(_, mirrored)| mirrored)),
        ms("mirror's flush", "mirror_flush_ms", added.mirror_flush_ms),
    ]);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{AddedPart, Estimate, Finding};
    use observation::{Factor, Level, Point};

    fn findings(added: AddedTime) -> Findings {
        let point = Point {
            experiment: "pair".into(),
            system: "mirrored".into(),
            stream: "orders".into(),
            factors: Vec::new(),
        };
        let found = MirrorFinding {
            point,
            baseline: "alone".into(),
            unit: "the unit",
            own_networks: true,
            added: vec![added],
            tuning: None,
            compensations: Vec::new(),
            core_compensations: Vec::new(),
            round_trips: None,
            spreads: Vec::new(),
        };
        Findings { findings: vec![Finding::Mirror(found)], ..Findings::default() }
    }

    #[test]
    fn distances_ascend_in_the_table_and_along_the_axis_which_says_kilometres() {
        let at = |km: f64| AddedTime {
            factors: vec![Factor {
                name: "mirror.distance".into(),
                level: Level::Number { value: km, text: km.to_string() },
            }],
            alone_ms: 4.0,
            added_ms: Estimate::single(km / 100.0),
            times: Estimate::single(0.7),
            parts: Vec::new(),
            round_trips: None,
            own_flush_ms: None,
            mirror_flush_ms: None,
        };
        let mut findings = findings(at(50.0));
        if let Some(Finding::Mirror(found)) = findings.findings.first_mut() {
            found.added.extend([100.0, 0.0, 10.0].map(at));
        }
        let figure = figure(&findings, "pair").expect("there is a mirror");
        let column = figure.table.columns.iter().position(|column| column.key == "factors").expect("levels");
        let rows: Vec<String> = figure.table.rows.iter().map(|row| row[column].text()).collect();
        assert_eq!(rows, ["0 km", "10 km", "50 km", "100 km"]);
        let along: Vec<f64> = figure.panels[0].series[0].points.iter().map(|point| point.x).collect();
        assert_eq!(along, [0.0, 10.0, 50.0, 100.0]);
        assert_eq!(figure.panels[0].x.title, "distance (km)");
    }

    #[test]
    fn time_that_a_mirror_takes_away_keeps_its_sign_and_parts_add_up_to_the_whole() {
        let part = |part, ms| AddedPart { part, ms };
        let added = AddedTime {
            factors: Vec::new(),
            alone_ms: 4.0,
            added_ms: Estimate { low: -1.61, high: -0.59, n: 4, ..Estimate::single(-1.16) },
            times: Estimate { low: 0.6, high: 0.9, n: 4, ..Estimate::single(0.7) },
            parts: vec![part(PartOf::Wire, 0.3), part(PartOf::Elsewhere, -1.46)],
            round_trips: None,
            own_flush_ms: None,
            mirror_flush_ms: None,
        };
        let figure = figure(&findings(added), "pair").expect("there is a mirror");
        let of = |key: &str| {
            let at = figure.table.columns.iter().position(|column| column.key == key).expect(key);
            &figure.table.rows[0][at]
        };
        assert_eq!(of("added_ms").text(), "-1.16 ms");
        assert_eq!(of("added_ms").interval().as_deref(), Some("-1.61 to -0.59 ms"));
        assert_eq!(of(PartOf::Elsewhere.word()).text(), "-1.46 ms");
        let parts = [PartOf::Wire, PartOf::Elsewhere].map(|part| of(part.word()).raw().expect("a number"));
        assert!((parts.iter().sum::<f64>() + 1.16).abs() < 1e-9, "{parts:?}");
    }

    #[test]
    fn what_nobody_can_read_is_told_in_words_in_tables_and_tooltips() {
        let wide = Estimate { low: 0.0001, high: 26_863.0, n: 4, ..Estimate::single(1.6) };
        let cell = estimate("times", "times", &wide, Quantity::Ratio).cell;
        assert_eq!(cell.interval().as_deref(), Some("interval unknown: too noisy"));
        let drawn = datum(&wide, Quantity::Ratio, "here", "");
        assert_eq!(drawn.readout, "here: 1.600 (interval unknown: too noisy), n 4");
        assert_eq!(
            (drawn.low, drawn.high),
            (0.0001, 26_863.0),
            "without a whisker it would look like the surest point"
        );
        let known = Estimate { low: 0.5, high: 2.0, ..wide };
        let drawn = datum(&known, Quantity::Ratio, "here", "");
        assert_eq!((drawn.low, drawn.high), (0.5, 2.0));
        assert_eq!(estimate("times", "times", &known, Quantity::Ratio).cell.interval().as_deref(), Some("0.500–2"));
    }
}
