//! The card on a terminal: answer and doubt, the numbers one below the other, what was tested.
//!
//! The one idea: the eye runs down the values; what each is stands to the right of it.

use super::Page;
use super::style::Style;
use super::wrap::{columns, printable, wrap};
use crate::view::{Card, Number, Report, listed, notes};

/// Values wider than this push their words to the next line.
const VALUE_MAX: usize = 22;

/// `59 k IOPS, random-read (56–62.1 k IOPS), at queue depth 64`.
pub(super) fn line(number: &Number) -> String {
    printable(&format!("{} {}", number.value, words(number)))
}

fn words(number: &Number) -> String {
    let interval = if number.interval.is_empty() { String::new() } else { format!(" ({})", number.interval) };
    format!("{}{interval}, {}", number.what, number.place)
}

impl Page {
    pub(super) fn card(&self, report: &Report) -> Vec<String> {
        let card = &report.card;
        let spaced = |lines: &[String]| if lines.is_empty() { Vec::new() } else { vec![String::new()] };
        let mut lines = self.bold(&card.verdict);
        lines.extend(wrap(&printable(&card.more.join(" ")), self.width, ""));
        lines.extend(self.doubts(card));
        lines.extend(self.numbers(card));
        lines.extend(spaced(&card.tested));
        lines.extend(
            card.typical.iter().flat_map(|typical| wrap(&printable(&format!("Typical: {typical}.")), self.width, "  ")),
        );
        lines.extend(card.tested.iter().flat_map(|line| self.faint(line)));
        lines
    }

    fn numbers(&self, card: &Card) -> Vec<String> {
        let width = card.numbers.iter().map(|number| columns(&number.value)).max().unwrap_or(0).min(VALUE_MAX);
        let mut lines: Vec<String> = card.numbers.first().map(|_| String::new()).into_iter().collect();
        lines.extend(card.numbers.iter().flat_map(|number| self.number(number, width)));
        lines
    }

    fn number(&self, number: &Number, width: usize) -> Vec<String> {
        let mut parts = vec![words(number)];
        parts.extend(number.also.iter().cloned());
        parts.extend((!number.marks.is_empty()).then(|| format!("{} {}", number.noted(), listed(&number.marks))));
        let (indent, room) = (" ".repeat(width + 2), self.width.saturating_sub(width + 2).max(20));
        let mut lines = parts.iter().flat_map(|part| wrap(&printable(part), room, "  "));
        let first = lines.next().unwrap_or_default();
        let gap = " ".repeat((width + 2).saturating_sub(columns(&number.value)).max(2));
        let value = self.paint.with(Style::Bold, &printable(&number.value));
        std::iter::once(format!("{value}{gap}{first}")).chain(lines.map(|line| format!("{indent}{line}"))).collect()
    }

    /// The one doubt that would change a decision, or that there is none.
    fn doubts(&self, card: &Card) -> Vec<String> {
        let more = match card.beside {
            0 => String::new(),
            count => format!(" {} below.", notes(count, !card.doubts.is_empty())),
        };
        let text = match card.doubts.as_slice() {
            [] => format!("No serious doubt.{more}"),
            doubts => format!("Doubt: {}{more}", doubts.join(" ")),
        };
        let style = if card.doubts.is_empty() { Style::Good } else { Style::Open };
        wrap(&printable(&text), self.width, "  ").iter().map(|line| self.paint.with(style, line)).collect()
    }

    fn bold(&self, text: &str) -> Vec<String> {
        wrap(&printable(text), self.width, "").iter().map(|line| self.paint.with(Style::Bold, line)).collect()
    }

    fn faint(&self, text: &str) -> Vec<String> {
        wrap(&printable(text), self.width, "  ").iter().map(|line| self.paint.with(Style::Faint, line)).collect()
    }
}
