//! Panels to SVG: a small layer of our own, because hover values, themes, print and caveats beside marks are the point.
//!
//! The one idea: the drawing carries classes and never colours, so that one style sheet serves light, dark and paper. What a
//! reader sees by colour is also told by shape, dash or words.
//!
//! What it does not do: it chooses no data. It draws what a [`Panel`] says.

mod frame;
mod guide;
mod mark;
mod panel;
mod scale;

pub(crate) use mark::sample;
pub(crate) use panel::svg;

/// About how wide a text is at the labels' size of 12: narrow letters are counted as such, which is near enough for margins.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | 't' | 'f' | 'r' | '(' | ')' => 3.8,
            'm' | 'w' | 'M' | 'W' | '%' => 9.8,
            'A'..='Z' => 8.0,
            c if c.is_ascii() => 6.7,
            '\u{202f}' | '·' => 3.4,
            '–' => 6.7,
            _ => 10.0,
        })
        .sum()
}

/// A name that is too long for its room ends in an ellipsis; a table or a title has it whole.
fn fitted(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if text_width(&kept) + 17.0 > room {
            break;
        }
        kept.push(c);
    }
    format!("{kept}…")
}
