//! Markers, lines and bars: colour by slot through the page's style sheet, shape by slot, filling and dash by provenance.

use crate::view::{Datum, Form, Look, listed};
use maud::{Markup, html};

/// Slots that have a colour and a marker of their own; beyond, they come around again.
pub(super) const SLOTS: usize = 8;

/// One decimal is finer than any screen.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The class that gives a slot its colour.
pub(super) fn slot(look: Look) -> String {
    format!("s{}", look.slot % SLOTS)
}

/// The class that gives a provenance its dash and filling.
pub(super) fn origin(look: Look) -> &'static str {
    look.provenance.word()
}

/// A marker around a point, about eight across, of one more class.
pub(super) fn marker(look: Look, x: f64, y: f64, class: &str) -> Markup {
    let path = shape(look.slot % SLOTS, x, y);
    html! { path class={ "mark " (origin(look)) (class) } d=(path) {} }
}

/// Circle, square, triangle, diamond, triangle down, plus, hexagon, bow tie: told apart without colour and in print.
fn shape(slot: usize, x: f64, y: f64) -> String {
    let poly = |points: &[(f64, f64)]| {
        let all: Vec<String> = points.iter().map(|(dx, dy)| format!("{},{}", px(x + dx), px(y + dy))).collect();
        format!("M{}Z", all.join("L"))
    };
    match slot {
        0 => format!("M{},{}a4,4 0 1 0 8,0a4,4 0 1 0 -8,0Z", px(x - 4.0), px(y)),
        1 => poly(&[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)]),
        2 => poly(&[(0.0, -4.8), (4.4, 3.2), (-4.4, 3.2)]),
        3 => poly(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)]),
        4 => poly(&[(0.0, 4.8), (4.4, -3.2), (-4.4, -3.2)]),
        5 => poly(&[
            (-1.6, -4.6),
            (1.6, -4.6),
            (1.6, -1.6),
            (4.6, -1.6),
            (4.6, 1.6),
            (1.6, 1.6),
            (1.6, 4.6),
            (-1.6, 4.6),
            (-1.6, 1.6),
            (-4.6, 1.6),
            (-4.6, -1.6),
            (-1.6, -1.6),
        ]),
        6 => poly(&[(-2.4, -4.2), (2.4, -4.2), (4.8, 0.0), (2.4, 4.2), (-2.4, 4.2), (-4.8, 0.0)]),
        _ => poly(&[(-4.4, -4.4), (4.4, 4.4), (4.4, -4.4), (-4.4, 4.4)]),
    }
}

/// A point with its marker or bar, its readout and the letters of its caveats.
pub(super) fn datum(point: &Datum, x: f64, y: f64, drawn: &Markup, letters: Option<(f64, f64)>) -> Markup {
    html! {
        g class="datum" data-x=(px(x)) data-y=(px(y)) {
            @if !point.readout.is_empty() { title { (point.readout) } }
            (drawn)
            @if let Some((at_x, at_y)) = letters {
                @if !point.word.is_empty() { text class="said" x=(px(at_x)) y=(px(at_y)) { (point.word) } }
                @if !point.marks.is_empty() { text class="letters" x=(px(at_x)) y=(px(at_y)) { (listed(&point.marks)) } }
            }
        }
    }
}

/// `M x,y L x,y …`, which begins anew behind a point that has no y.
pub(super) fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let (mut path, mut begins) = (String::new(), true);
    for (x, y) in points {
        if y.is_finite() {
            path.push(if begins { 'M' } else { 'L' });
            path.push_str(&format!("{},{}", px(x), px(y)));
        }
        begins = !y.is_finite();
    }
    path
}

/// A short sample of a look for the key.
pub(crate) fn sample(look: Look, form: Form) -> Markup {
    let class = format!("{} {}", slot(look), origin(look));
    html! {
        svg class="sample" viewBox="0 0 34 14" width="34" height="14" aria-hidden="true" {
            g class=(class) {
                @match form {
                    Form::Bars => rect class={ "bar " (origin(look)) } x="4" y="2" width="26" height="10" {},
                    Form::Marks => (marker(look, 17.0, 7.0, "")),
                    Form::Dense | Form::Steps => path class={ "line " (origin(look)) } d="M1,7L33,7" {},
                    Form::Line | Form::Thin | Form::Curve => {
                        path class={ "line " (origin(look)) } d="M1,7L33,7" {}
                        (marker(look, 17.0, 7.0, ""))
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_anew_behind_a_point_that_has_no_value() {
        let points = [(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 4.0), (4.0, 5.0)];
        assert_eq!(path(points), "M0,1L1,2M3,4L4,5");
    }
}
