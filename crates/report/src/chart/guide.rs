//! What explains a panel: knees, levels, margins, warm-ups, fits and events.

use super::frame::Frame;
use super::mark::{origin, path, px, slot};
use super::{fitted, text_width};
use crate::view::{Guide, Look};
use maud::{Markup, html};

/// Everything behind the data.
pub(super) fn behind(frame: &Frame, guides: &[Guide]) -> Markup {
    html! {
        @for guide in guides {
            @match guide {
                Guide::Stretch { from, to, .. } => {
                    rect class="stretch" x=(px(frame.x.at(*from))) y=(px(frame.top))
                        width=(px((frame.x.at(*to) - frame.x.at(*from)).max(1.0))) height=(px(frame.bottom - frame.top)) {}
                },
                Guide::Level { y, .. } => {
                    path class="level" d=(path([(frame.left, frame.y.at(*y)), (frame.right, frame.y.at(*y))])) {}
                },
                Guide::Upright { x, low, high, look, .. } => (upright(frame, *x, (*low, *high), *look)),
                Guide::Event { x, text } => {
                    path class="event" d=(path([(frame.x.at(*x), frame.top), (frame.x.at(*x), frame.bottom)])) {
                        title { (text) }
                    }
                },
                Guide::Curve { look, points, .. } => {
                    g class=[look.map(slot)] {
                        path class=(if look.is_some() { "fit" } else { "fit nobody" })
                            d=(path(points.iter().map(|(x, y)| (frame.x.at(*x), frame.y.at(*y))))) {}
                    }
                },
            }
        }
    }
}

fn upright(frame: &Frame, x: f64, (low, high): (f64, f64), look: Look) -> Markup {
    let ends = if x.is_finite() { vec![x] } else { vec![low, high] };
    html! {
        g class=(slot(look)) {
            @if low.is_finite() && high.is_finite() && high > low {
                rect class="span" x=(px(frame.x.at(low))) y=(px(frame.top))
                    width=(px(frame.x.at(high) - frame.x.at(low))) height=(px(frame.bottom - frame.top)) {}
            }
            @for at in ends.into_iter().filter(|end| end.is_finite()).map(|end| frame.x.at(end)) {
                path class={ "upright " (origin(look)) } d=(path([(at, frame.top), (at, frame.bottom)])) {}
            }
        }
    }
}

/// Lanes for words above the data.
const LANES: usize = 3;

/// The words of guides, above the data in lanes so that they do not lie on each other. Words are cut to half of the width, so
/// that those at both ends stand side by side; whole they are the titles of what is drawn.
pub(super) fn words(frame: &Frame, guides: &[Guide]) -> Markup {
    let mut lanes: Vec<f64> = vec![f64::NEG_INFINITY; LANES];
    // What stands within a stretch is told over the middle of it, as the stretch itself is.
    let within = |at: f64| {
        guides.iter().any(|guide| matches!(guide, Guide::Stretch { from, to, .. } if (*from..=*to).contains(&at)))
    };
    let middle = |x: f64| (frame.x.at(x), true);
    let mut upper: Vec<((f64, bool), &str, Option<Look>)> = guides
        .iter()
        .filter_map(|guide| match guide {
            Guide::Upright { x, low, text, look, .. } => {
                let start = if x.is_finite() { *x } else { *low };
                Some(((frame.x.at(start), false), text.as_str(), Some(*look)))
            }
            Guide::Event { x, text } if within(*x) => Some((middle(*x), text.as_str(), None)),
            Guide::Event { x, text } => Some(((frame.x.at(*x), false), text.as_str(), None)),
            Guide::Stretch { from, to, text } => Some((middle((from + to) / 2.0), text.as_str(), None)),
            Guide::Level { .. } | Guide::Curve { .. } => None,
        })
        .collect();
    upper.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let room = (frame.width - frame.left) / 2.0 - 16.0;
    let placed = upper.into_iter().filter_map(|((x, centred), text, look)| {
        let shown = whole_clauses(text, room).unwrap_or_else(|| fitted(text, room));
        let width = text_width(&shown);
        let beside = if centred { -width / 2.0 } else { 4.0 };
        let start = (x + beside).min(frame.width - width - 2.0).max(frame.left);
        let free = lanes.iter().position(|end| *end + 8.0 < start);
        // An event that finds no room keeps its line, which has a title.
        let lane = free.or(look.is_some().then_some(LANES - 1))?;
        lanes[lane] = start + width;
        Some((start, frame.top - 5.0 - 14.0 * lane as f64, text, shown, look))
    });
    let placed: Vec<_> = placed.collect();
    html! {
        @for (x, y, text, shown, look) in &placed {
            g class=[look.map(slot)] {
                title { (text) }
                text class="word" x=(px(*x)) y=(px(*y)) { (shown) }
            }
        }
        @for guide in guides {
            @if let Guide::Level { y, text } = guide {
                text class="word" x=(px(frame.left + 4.0)) y=(px(frame.y.at(*y) - 6.0)) { (text) }
            }
            @if let Guide::Curve { points, text, look } = guide {
                (curve_word(frame, points, text, *look))
            }
        }
    }
}

/// The words of a curve stand at its end, once for all curves that say the same in a colour.
fn curve_word(frame: &Frame, points: &[(f64, f64)], text: &str, look: Option<Look>) -> Markup {
    let (Some(first), Some(last)) = (points.first(), points.last().filter(|_| look.is_none())) else { return html! {} };
    // Beside the end, on the side away from where the curve came from.
    let below = if last.1 < first.1 { 18.0 } else { -8.0 };
    html! {
        text class="word" text-anchor="end" x=(px(frame.x.at(last.0) - 4.0)) y=(px(frame.y.at(last.1) + below)) { (text) }
    }
}

/// As many whole clauses of a text as there is room for; none where not even the first fits.
fn whole_clauses(text: &str, room: f64) -> Option<String> {
    let ends = text.match_indices([',', ';']).map(|(at, _)| at).chain([text.len()]);
    let fits = ends.map(|end| &text[..end]).take_while(|clauses| text_width(clauses) <= room);
    fits.last().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::frame::lay_out;
    use super::*;
    use crate::view::{Axis, Panel, Quantity, Spacing, Span};

    #[test]
    fn what_lies_within_a_stretch_is_told_over_the_same_middle() {
        let axis = || Axis::new("times", Quantity::Ratio, Spacing::Linear);
        let guides = vec![
            Guide::Stretch { from: 0.9, to: 1.1, text: "within 10%".into() },
            Guide::Event { x: 1.0, text: "no difference".into() },
            Guide::Event { x: 2.0, text: "beside it".into() },
        ];
        let panel = Panel { guides, ..Panel::new("ratio", Span::Full, axis(), axis(), Vec::new()) };
        let (frame, _) = lay_out(&panel, 0.0);
        let drawn = words(&frame, &panel.guides).into_string();
        let start = |text: &str| -> f64 {
            let before = drawn.split(&format!(">{text}</text>")).next().expect("it is drawn");
            let (_, rest) = before.rsplit_once(" x=\"").expect("its place");
            rest.split('"').next().and_then(|x| x.parse().ok()).expect("a number")
        };
        let middle = |text: &str| start(text) + text_width(text) / 2.0;
        assert!((middle("within 10%") - middle("no difference")).abs() < 0.2, "{drawn}");
        assert!((start("beside it") - frame.x.at(2.0) - 4.0).abs() < 0.2, "an event stands right of its line: {drawn}");
    }
}
