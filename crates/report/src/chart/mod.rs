//! Panels to SVG: a small layer of our own, because hover values, themes, print and caveats beside marks are the point.
//!
//! The one idea: the drawing carries classes and never colours, so that one style sheet serves light, dark and paper. What a
//! reader sees by colour is also told by shape, dash or words.
//!
//! What it does not do: it chooses no data. It draws what a [`Panel`] says.

mod frame;
mod guide;
mod mark;
mod name;
mod panel;
mod scale;

pub(crate) use mark::sample;
pub(crate) use panel::svg;

/// How wide a text is at the labels' size of 12, at most: by DejaVu Sans, the widest of the fonts that a page may be shown in.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | '\'' => 3.4,
            ' ' | '.' | ',' | ':' | ';' | '|' | '/' | '\u{202f}' | '·' => 4.1,
            't' | 'f' | 'r' | '(' | ')' | '[' | ']' | '-' => 5.0,
            'c' | 's' | 'z' | '_' | '–' => 6.6,
            'w' | '=' | '+' | '<' | '>' | '~' | '≥' => 10.1,
            'A'..='L' | 'N'..='V' | 'X'..='Z' => 9.3,
            'm' | 'M' | 'W' | '%' | '@' => 12.0,
            c if c.is_ascii() => 7.8,
            _ => 12.0,
        })
        .sum()
}

/// How wide the sign for what is left out is.
const ELLIPSIS: f64 = 12.0;

/// Bold letters are wider by so much.
const BOLD: f64 = 1.15;

/// A name that is too long for its room ends in an ellipsis; a table or a title has it whole.
fn fitted(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let starts = text.char_indices().map(|(at, _)| at);
    let end = starts.take_while(|end| text_width(&text[..*end]) + ELLIPSIS <= room).last().unwrap_or_default();
    format!("{}…", &text[..end])
}
