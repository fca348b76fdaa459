//! One panel as SVG: grid, guides, series, labels, in this order.

use super::frame::{Frame, Labels, ROW, lay_out};
use super::guide;
use super::mark::{datum, marker, origin, path, px, slot};
use super::scale::Scale;
use super::{BOLD, fitted, text_width};
use crate::view::{Axis, Datum, Form, Panel, Series, Spacing, Span, listed};
use maud::{Markup, html};

/// Lines of a wide panel are named at their ends up to this many; beyond, the key does it.
const NAMED_MAX: usize = 6;

/// The panel as an `svg` element; `label` says in words what it shows.
pub(crate) fn svg(panel: &Panel, label: &str) -> Markup {
    let named = names_at_ends(panel);
    let (frame, labels) = lay_out(panel, room_at_ends(panel, named));
    let view = format!("0 0 {} {}", px(frame.width), px(frame.height));
    html! {
        svg class={ "chart " (panel.span.word()) } viewBox=(view) role="img" aria-label=(label) {
            (grid(panel, &frame, &labels))
            (guide::behind(&frame, &panel.guides))
            @for series in &panel.series { (draw(panel, &frame, series)) }
            (axes(panel, &frame, &labels))
            (guide::words(&frame, &panel.guides))
            @if named { (end_names(panel, &frame)) }
            @if !panel.marks.is_empty() {
                text class="letters" text-anchor="end" x=(px(frame.right)) y="11" { "all points: see " (listed(&panel.marks)) }
            }
        }
    }
}

/// Room for names at the ends of lines, or for words and letters beside marks; all are drawn bold.
fn room_at_ends(panel: &Panel, named: bool) -> f64 {
    let names = panel.series.iter().filter(|_| named).map(|series| series.name.as_str());
    let points = panel.series.iter().flat_map(|series| &series.points);
    // Letters beside a point stand to its left where there is no room, but not on a bar or an interval along x.
    let words = points
        .flat_map(|point| [point.word.clone(), if panel.is_rows() { listed(&point.marks) } else { String::new() }]);
    let widest = names.map(str::to_owned).chain(words).map(|text| BOLD * text_width(&text)).fold(0.0, f64::max);
    if widest > 0.0 { (widest + 16.0).min(260.0) } else { 0.0 }
}

/// Whether the lines can carry their names.
fn names_at_ends(panel: &Panel) -> bool {
    let lines =
        panel.series.iter().filter(|series| matches!(series.form, Form::Line | Form::Thin | Form::Curve)).count();
    panel.span == Span::Full && !panel.is_rows() && lines == panel.series.len() && (2..=NAMED_MAX).contains(&lines)
}

/// Grid lines along the values only; names get a faint rule between rows.
fn grid(panel: &Panel, frame: &Frame, labels: &Labels) -> Markup {
    let across = |y: f64| path([(frame.left, y), (frame.right, y)]);
    let down = |x: f64| path([(x, frame.top), (x, frame.bottom)]);
    html! {
        @if panel.is_rows() {
            @for tick in &labels.x { path class="grid" d=(down(frame.x.at(tick.at))) {} }
        } @else {
            @for tick in &labels.y { path class="grid" d=(across(frame.y.at(tick.at))) {} }
        }
    }
}

/// From one line of a name to the next.
const LINE: f64 = 13.0;

fn axes(panel: &Panel, frame: &Frame, labels: &Labels) -> Markup {
    let base = path([(frame.left, frame.bottom), (frame.right, frame.bottom)]);
    html! {
        @if panel.is_rows() {
            @let zero = frame.x.at(0.0);
            @if frame.x.low <= 0.0 { path class="axis" d=(path([(zero, frame.top), (zero, frame.bottom)])) {} }
        } @else {
            path class="axis" d=(base) {}
        }
        g class="ticks" text-anchor="middle" {
            @for tick in &labels.x {
                @let x = frame.x.at(tick.at);
                @if !panel.is_rows() { path class="axis" d=(path([(x, frame.bottom), (x, frame.bottom + 4.0)])) {} }
                // A label under the last tick may be wider than what is left beside it.
                @let half = text_width(&tick.text) / 2.0;
                text x=(px(x.min(frame.width - half))) y=(px(frame.bottom + 17.0)) { (tick.text) }
            }
        }
        g class="ticks" text-anchor="end" {
            @for tick in &labels.y {
                @let y = frame.y.at(tick.at) + 4.0 - if tick.below.is_some() { LINE / 2.0 } else { 0.0 };
                text x=(px(frame.left - 8.0)) y=(px(y)) { (tick.text) }
                // It stands there empty, too: no name decides what a page consists of.
                @if panel.is_rows() {
                    text x=(px(frame.left - 8.0)) y=(px(y + LINE)) { @if let Some(below) = &tick.below { (below) } }
                }
            }
        }
        text class="title" text-anchor="end" x=(px(frame.right)) y=(px(frame.bottom + 34.0)) {
            (titled(&panel.x, &labels.x_unit))
        }
        @if !panel.is_rows() {
            text class="title" x="2" y="11" { (titled(&panel.y, &labels.y_unit)) }
        }
    }
}

fn titled(axis: &Axis, unit: &str) -> String {
    // Distances on it are ratios, which its ticks alone do not say.
    let scale = if matches!(axis.spacing, Spacing::Log) && !axis.title.is_empty() { ", log scale" } else { "" };
    let title = format!("{}{scale}", axis.title);
    match (title.is_empty(), unit.is_empty()) {
        (_, true) => title,
        (true, false) => unit.to_owned(),
        (false, false) => format!("{title} ({unit})"),
    }
}

/// From the whiskers of one curve to those of the next where both stand at the same level.
const ASIDE: f64 = 6.0;

/// More curves than this do not stand side by side.
const ASIDE_MAX: usize = 4;

/// How far a curve stands beside its level, so that its whiskers do not hide those of others there.
fn aside(panel: &Panel, series: &Series) -> f64 {
    let lined = |one: &&Series| matches!(one.form, Form::Line | Form::Thin) && one.points.iter().any(has_interval);
    let mut slots: Vec<usize> = panel.series.iter().filter(lined).map(|one| one.look.slot).collect();
    slots.dedup();
    let levels = !panel.is_rows() && !panel.x.ticks.is_empty() && slots.len() <= ASIDE_MAX;
    let place = slots.iter().position(|slot| *slot == series.look.slot).filter(|_| levels);
    place.map_or(0.0, |place| ASIDE * (place as f64 - (slots.len() - 1) as f64 / 2.0))
}

fn draw(panel: &Panel, frame: &Frame, series: &Series) -> Markup {
    let frame = &Frame { x: frame.x.shifted(aside(panel, series)), ..*frame };
    let drawn = match series.form {
        Form::Bars => bars(panel, frame, series),
        Form::Dense => dense(frame, series),
        Form::Steps => steps(frame, series),
        Form::Thin => thin(panel, frame, series),
        Form::Curve => curve(frame, series, panel.series.len() == 1),
        Form::Line => points(panel, frame, series, true),
        Form::Marks => points(panel, frame, series, false),
    };
    html! { g class={ "series " (slot(series.look)) } { (drawn) } }
}

fn positions<'a>(frame: &'a Frame, series: &'a Series) -> impl Iterator<Item = (f64, f64)> + 'a {
    // A scale has a place for everything, also for what is not a number.
    let y = |point: &Datum| if point.y.is_finite() { frame.y.at(point.y) } else { f64::NAN };
    series.points.iter().map(move |point| (frame.x.at(point.x), y(point)))
}

/// The same with a break beside each value that is only known to be at least so much: nobody knows where a line would pass it.
fn joints(frame: &Frame, series: &Series) -> Vec<(f64, f64)> {
    let mut joints = Vec::new();
    for (at, point) in positions(frame, series).enumerate() {
        if at > 0 && series.points[at - 1..=at].iter().any(is_bound) {
            joints.push((f64::NAN, f64::NAN));
        }
        joints.push(point);
    }
    joints
}

fn points(panel: &Panel, frame: &Frame, series: &Series, joined: bool) -> Markup {
    let published = series.look.provenance == observation::Provenance::Published;
    html! {
        @if joined && !published {
            path class={ "line " (origin(series.look)) } d=(path(joints(frame, series))) {}
        }
        @for point in series.points.iter().filter(|point| point.y.is_finite()) {
            @let (x, y) = (frame.x.at(point.x), frame.y.at(point.y));
            @let drawn = html! { (whisker(panel, frame, point)) (marker(series.look, x, y, bound(point))) };
            @let letters = if panel.is_rows() { (right_of(frame, point) + 8.0, y + 4.0) } else { (beside(frame, point, x), y - 7.0) };
            (datum(point, x, y, &drawn, Some(letters)))
        }
    }
}

/// Where letters begin beside a mark: to its right, or to its left where they would leave the frame.
fn beside(frame: &Frame, point: &Datum, x: f64) -> f64 {
    let width = BOLD * text_width(&listed(&point.marks));
    if x + 6.0 + width > frame.right { x - 6.0 - width } else { x + 6.0 }
}

/// Where letters stand clear of an interval along x.
fn right_of(frame: &Frame, point: &Datum) -> f64 {
    match is_bound(point) {
        true => frame.x.at(point.low) + OPEN,
        false if point.high.is_finite() => frame.x.at(point.high),
        false => frame.x.at(point.x),
    }
}

/// The interval upwards; left out where it is narrower than the marker.
fn whisker(panel: &Panel, frame: &Frame, point: &Datum) -> Markup {
    if panel.is_rows() {
        return whisker_at(frame, point, frame.y.at(point.y), 4.0);
    }
    let x = frame.x.at(point.x);
    let narrow = (frame.y.at(point.low) - frame.y.at(point.high)).abs() < 3.0;
    if has_interval(point) && narrow {
        html! {}
    } else {
        interval(&frame.y, point, (x, 3.5), true)
    }
}

/// How far the arrow of a bound reaches.
const OPEN: f64 = 15.0;

/// An interval with short caps along a scale, which runs `upwards` or to the right. An end that lies beyond what is drawn is an
/// arrow, and so is that of a value that is only known to be at least so much.
fn interval(scale: &Scale, point: &Datum, (across, cap): (f64, f64), upwards: bool) -> Markup {
    let way = if upwards { -1.0 } else { 1.0 };
    let bound = is_bound(point);
    if !bound && !has_interval(point) {
        return html! {};
    }
    let low = scale.at(point.low);
    let high = if bound { low + way * OPEN } else { scale.at(point.high) };
    let at = |along: f64, across: f64| match upwards {
        true => format!("{},{}", px(across), px(along)),
        false => format!("{},{}", px(along), px(across)),
    };
    let end = |along: f64, back: f64| {
        let (a, b) = (at(along - back, across - cap), at(along - back, across + cap));
        if back == 0.0 { format!("M{a}L{b}") } else { format!("M{a}L{}L{b}", at(along, across)) }
    };
    let back = |beyond: bool, way: f64| if beyond { 5.0 * way } else { 0.0 };
    let below = if bound { String::new() } else { end(low, back(point.low < scale.low, -way)) };
    let above = end(high, back(bound || point.high > scale.high, way));
    html! { path class="whisker" d=(format!("M{}L{}{below}{above}", at(low, across), at(high, across))) {} }
}

/// Whether it is only known to be at least so much.
fn is_bound(point: &Datum) -> bool {
    point.low.is_finite() && point.high == f64::INFINITY
}

/// The class of what is drawn pale: its end is not where the value is.
fn bound(point: &Datum) -> &'static str {
    if is_bound(point) { " bound" } else { "" }
}

fn has_interval(point: &Datum) -> bool {
    point.low.is_finite() && point.high.is_finite()
}

/// A line of such a class, with what stands at each point of it.
fn line(frame: &Frame, series: &Series, class: &str, mark: impl Fn(usize, f64, f64) -> Markup) -> Markup {
    html! {
        path class={ (class) " " (origin(series.look)) } d=(path(positions(frame, series))) {}
        @for (index, point) in series.points.iter().enumerate().filter(|(_, point)| point.y.is_finite()) {
            @let (x, y) = (frame.x.at(point.x), frame.y.at(point.y));
            (datum(point, x, y, &mark(index, x, y), None))
        }
    }
}

fn thin(panel: &Panel, frame: &Frame, series: &Series) -> Markup {
    line(frame, series, "thin", |at, x, y| {
        html! { (whisker(panel, frame, &series.points[at])) circle class="dot" cx=(px(x)) cy=(px(y)) r="1.8" {} }
    })
}

/// How many markers tell a curve from its neighbours; one alone needs none.
const TELLING: usize = 7;

fn curve(frame: &Frame, series: &Series, alone: bool) -> Markup {
    let stride = series.points.len().div_ceil(TELLING).max(1);
    let mark =
        |index: usize, x, y| html! { @if !alone && index % stride == stride / 2 { (marker(series.look, x, y, "")) } };
    line(frame, series, "line", mark)
}

/// A band from least to greatest where intervals were merged, and the mean as a line.
fn dense(frame: &Frame, series: &Series) -> Markup {
    let banded: Vec<&Datum> = series.points.iter().filter(|point| point.low.is_finite()).collect();
    let upper = banded.iter().map(|point| (frame.x.at(point.x), frame.y.at(point.high)));
    let lower = banded.iter().rev().map(|point| (frame.x.at(point.x), frame.y.at(point.low)));
    html! {
        @if banded.len() > 1 { path class="band" d=(format!("{}Z", path(upper.chain(lower)))) {} }
        (line(frame, series, "line fine", |_, _, _| html! {}))
    }
}

fn steps(frame: &Frame, series: &Series) -> Markup {
    html! {
        @for pair in series.points.windows(2) {
            @let y = frame.y.at(pair[0].y);
            path class="round" d=(path([(frame.x.at(pair[0].x), y), (frame.x.at(pair[1].x), y)])) {}
        }
    }
}

/// Bars share the height of their row.
fn bars(panel: &Panel, frame: &Frame, series: &Series) -> Markup {
    let sharing: Vec<&Series> = panel.series.iter().filter(|other| other.form == Form::Bars).collect();
    let single = sharing.iter().all(|other| other.look.slot == series.look.slot);
    let (count, place) = if single {
        (1, 0)
    } else {
        (sharing.len(), sharing.iter().position(|other| std::ptr::eq(*other, series)).unwrap_or(0))
    };
    let height = (ROW - 8.0) / count as f64;
    let zero = frame.x.at(0.0);
    html! {
        @for point in &series.points {
            @let top = frame.y.at(point.y) - (ROW - 8.0) / 2.0 + height * place as f64;
            @let middle = top + height / 2.0;
            @let end = frame.x.at(point.x);
            @let drawn = html! {
                rect class={ "bar " (origin(series.look)) (bound(point)) } x=(px(zero.min(end))) y=(px(top)) width=(px((end - zero).abs().max(1.0)))
                    height=(px((height - 1.0).max(2.0))) {}
                (whisker_at(frame, point, middle, 3.0))
            };
            (datum(point, end, middle, &drawn, Some((right_of(frame, point) + 6.0, middle + 4.0))))
        }
    }
}

/// The same along x, with caps so far to each side.
fn whisker_at(frame: &Frame, point: &Datum, y: f64, cap: f64) -> Markup {
    interval(&frame.x, point, (y, cap), false)
}

/// Names at the right ends of lines, pushed apart where lines end close together.
fn end_names(panel: &Panel, frame: &Frame) -> Markup {
    let mut ends: Vec<(f64, &Series)> = panel
        .series
        .iter()
        .filter_map(|series| {
            series.points.iter().rfind(|point| point.y.is_finite()).map(|point| (frame.y.at(point.y) + 4.0, series))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    for index in 1..ends.len() {
        ends[index].0 = ends[index].0.max(ends[index - 1].0 + 15.0);
    }
    let over = ends.last().map_or(0.0, |last| (last.0 - frame.bottom).max(0.0));
    for index in (0..ends.len()).rev() {
        let limit = ends.get(index + 1).map_or(f64::INFINITY, |next| next.0 - 15.0);
        ends[index].0 = (ends[index].0 - over).max(ends[index].0.min(limit) - over).min(limit);
    }
    html! {
        @for (y, series) in &ends {
            g class=(slot(series.look)) {
                text class="name" x=(px(frame.right + 8.0)) y=(px(*y)) { (fitted(&series.name, 215.0)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scale::Kind;
    use super::*;

    #[test]
    fn a_bar_of_less_than_nothing_reaches_to_the_left_of_zero() {
        use crate::view::{Look, Quantity};
        let look = Look { slot: 0, provenance: observation::Provenance::Measured };
        let points = [-2.0, 2.0].map(|x| Datum { y: 0.0, ..Datum::bare(x, 0.0, String::new()) }).into();
        let series = Series { name: "added".into(), look, form: Form::Bars, points };
        let x = Axis::new("added", Quantity::Milliseconds, Spacing::FromZero);
        let y = Axis::new("", Quantity::Plain, Spacing::Names(vec!["row".into()]));
        let drawn = svg(&Panel::new("added", Span::Half, x, y, vec![series]), "").into_string();
        let numbers = |name: &str| -> Vec<f64> {
            let bars = drawn.split("class=\"bar ").skip(1);
            let value = |bar: &str| bar.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.parse().ok();
            bars.map(|bar| value(bar).expect("a number")).collect()
        };
        let (from, width) = (numbers("x"), numbers("width"));
        assert!((from[0] + width[0] - from[1]).abs() < 0.2, "both meet at zero: {from:?} {width:?}");
        assert!((width[0] - width[1]).abs() < 0.2 && width[0] > 10.0, "{width:?}");
    }

    #[test]
    fn letters_beside_the_last_point_stay_left_of_the_right_end_of_the_frame() {
        use crate::view::{Look, Quantity};
        let look = Look { slot: 0, provenance: observation::Provenance::Measured };
        let points = [1.0, 2.0].map(|x| Datum { marks: "abcd".into(), ..Datum::bare(x, x, String::new()) }).into();
        let series = Series { name: "curve".into(), look, form: Form::Line, points };
        let axis = || Axis::new("axis", Quantity::Plain, Spacing::FromZero);
        let panel = Panel::new("letters", Span::Half, axis(), axis(), vec![series]);
        let (frame, _) = lay_out(&panel, 0.0);
        let drawn = svg(&panel, "").into_string();
        let letters: Vec<f64> = drawn
            .split("class=\"letters\" x=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().expect("a value").parse().expect("a number"))
            .collect();
        assert_eq!(letters.len(), 2, "{drawn}");
        assert!(letters[0] > frame.x.at(1.0), "to the right where there is room: {letters:?}");
        assert!(letters[1] + BOLD * text_width("abcd") <= frame.right, "{letters:?} {frame:?}");
    }

    #[test]
    fn a_line_joins_what_is_known_and_neither_a_bound_nor_what_is_missing() {
        use crate::view::{Look, Quantity};
        let look = Look { slot: 0, provenance: observation::Provenance::Measured };
        let known = |x: f64, y: f64| Datum { low: y, high: y, ..Datum::bare(x, y, "known".into()) };
        let bound = |x: f64, y: f64| Datum { low: y, high: f64::INFINITY, ..Datum::bare(x, y, "bound".into()) };
        let points = vec![
            known(1.0, 1.0),
            known(2.0, 2.0),
            bound(3.0, 2.0),
            known(4.0, 3.0),
            Datum::bare(5.0, f64::NAN, String::new()),
            known(6.0, 4.0),
            known(7.0, 5.0),
        ];
        let series = Series { name: "p99".into(), look, form: Form::Line, points };
        let axis = || Axis::new("axis", Quantity::Plain, Spacing::FromZero);
        let drawn = svg(&Panel::new("p99", Span::Half, axis(), axis(), vec![series]), "").into_string();
        let line = drawn.split("class=\"line ").nth(1).and_then(|rest| rest.split("d=\"").nth(1)).expect("a line");
        let line = line.split('"').next().unwrap_or_default();
        // From 1 to 2, the bound, 4, and from 6 to 7.
        assert_eq!((line.matches('M').count(), line.matches('L').count()), (4, 2), "{line}");
        assert_eq!(drawn.matches("class=\"datum\"").count(), 6, "{drawn}");
    }

    #[test]
    fn an_end_beyond_what_is_drawn_is_an_arrow_and_so_is_that_of_a_lower_bound() {
        let scale = Scale::new(Kind::Linear, 0.0, 10.0, 0.0, 100.0);
        let drawn = |low: f64, high: f64| {
            let point = Datum { low, high, ..Datum::bare(5.0, 0.0, String::new()) };
            interval(&scale, &point, (0.0, 4.0), false).into_string()
        };
        assert!(drawn(2.0, 8.0).contains("M20,0L80,0M20,-4L20,4M80,-4L80,4"), "{}", drawn(2.0, 8.0));
        assert!(drawn(2.0, 80.0).contains("M20,-4L20,4M95,-4L100,0L95,4"), "{}", drawn(2.0, 80.0));
        let bound = drawn(5.0, f64::INFINITY);
        assert!(bound.contains("\"M50,0L65,0M60,-4L65,0L60,4\""), "{bound}");
        assert_eq!(drawn(f64::NAN, f64::NAN), "");
    }
}
