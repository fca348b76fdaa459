//! The report for a terminal: the card first, then the figures in short, then what was found, then the caveats by weight.
//!
//! The one idea: what fits on one screen is what people quote, with its interval and its caveats beside it; everything
//! else is asked for.
//!
//! What it does not do: it neither looks at the terminal nor writes to it. Width and colour are handed in.

mod card;
mod style;
mod table;
mod wrap;

pub use wrap::wrap;

pub use style::Colour;

use crate::caveats::{CaveatsOfKind, trials_of};
use crate::noted::{self, Places};
use crate::view::{Conclusion, PAIRED, Report, Section, Table, Tone, report};
use analysis::{Caveat, Findings, Verdict, Weight};
use style::{Paint, Style};

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Answer, headline table, findings and caveats.
    #[default]
    Brief,
    /// The same, then a table for every experiment.
    Full,
}

/// How the text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the terminal; 80 when it is not one. Never less than 40 is used.
    pub width: usize,
    /// Whether escape sequences are allowed.
    pub colour: Colour,
    /// How much is said.
    pub detail: Detail,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: 80, colour: Colour::Plain, detail: Detail::Brief }
    }
}

/// The numbers of the card, a line each, for whoever waits for the end of a run.
pub fn numbers(findings: &Findings) -> Vec<String> {
    report(findings).card.numbers.iter().map(card::line).collect()
}

/// More findings than this are counted, not listed, in a brief text.
const FINDINGS_MAX: usize = 8;

/// The report as text, lines ended by `\n`.
pub fn text(findings: &Findings, layout: Layout) -> String {
    let report = report(findings);
    let page = Page { width: layout.width.clamp(40, 160), paint: Paint(layout.colour) };
    let mut lines = page.card(&report);
    lines.extend(page.table(&report.headline, None));
    lines.extend(report.left_out.iter().flat_map(|left_out| wrap(left_out, page.width, "  ")));
    lines.extend(report.frontiers.iter().flat_map(|frontier| page.table(frontier, Some(&frontier.caption))));
    lines.extend(report.mixes.iter().flat_map(|mix| page.table(mix, Some(&mix.caption))));
    lines.extend(report.profiles.iter().flat_map(|profile| page.table(profile, Some(&profile.caption))));
    lines.extend(page.table(&report.interrupted, Some(&report.interrupted.caption)));
    lines.extend(page.conclusions(&report, layout.detail));
    lines.extend(page.caveats(&report, layout.detail));
    if layout.detail == Detail::Full {
        lines.extend(report.sections.iter().flat_map(|section| page.section(section)));
    }
    lines.push(String::new());
    lines.join("\n")
}

struct Page {
    width: usize,
    paint: Paint,
}

impl Page {
    /// The caption stands above where nothing else would tell the table from the figures in short.
    fn table(&self, table: &Table, caption: Option<&str>) -> Vec<String> {
        if table.rows.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![String::new()];
        lines.extend(caption.into_iter().flat_map(|caption| wrap(caption, self.width, "  ")));
        lines.extend(table::lines(table, self.width, self.paint));
        lines
    }

    /// In a brief text the exploratory comparisons are counted by verdict; their ratios are in the full one.
    fn conclusions(&self, report: &Report, detail: Detail) -> Vec<String> {
        let brief = detail == Detail::Brief;
        let (listed, counted): (Vec<_>, Vec<_>) =
            report.conclusions.iter().partition(|conclusion| !(brief && conclusion.exploratory.is_some()));
        let shown = if brief { listed.len().min(FINDINGS_MAX) } else { listed.len() };
        let mut lines: Vec<String> =
            listed[..shown].iter().flat_map(|conclusion| self.conclusion(conclusion)).collect();
        if !counted.is_empty() {
            lines.extend(wrap(&exploratory(&counted), self.width, "  "));
        }
        if shown < listed.len() {
            lines.push(format!(
                "and {}, in the full report",
                units::counted((listed.len() - shown) as u64, "more findings")
            ));
        }
        if report.findings.comparisons().any(|one| one.ratio.n > 1) {
            lines.extend(wrap(PAIRED, self.width, "  "));
        }
        if !lines.is_empty() {
            lines.insert(0, String::new());
        }
        lines
    }

    fn conclusion(&self, conclusion: &Conclusion) -> Vec<String> {
        let style = match conclusion.tone {
            Tone::Plain => Style::Bold,
            Tone::Good => Style::Good,
            Tone::Bad => Style::Bad,
            Tone::Open => Style::Open,
        };
        let body = wrap::printable(&format!("{}: {}", conclusion.word, conclusion.text));
        let mut lines = wrap(&body, self.width, "  ");
        if let Some(rest) = lines.first().and_then(|first| first.strip_prefix(&conclusion.word)) {
            lines[0] = format!("{}{rest}", self.paint.with(style, &conclusion.word));
        }
        lines
    }

    /// Caveats under headings of their weight; in a brief text details are counted.
    fn caveats(&self, report: &Report, detail: Detail) -> Vec<String> {
        let kinds = &report.caveats.0;
        let mut lines = Vec::new();
        for weight in Weight::ALL {
            let of: Vec<_> = kinds.iter().filter(|kind| kind.kind.weight() == *weight).collect();
            if of.is_empty() {
                continue;
            }
            lines.push(String::new());
            if detail == Detail::Brief && *weight == Weight::Detail {
                let letters: String = of.iter().map(|kind| kind.mark).collect();
                let count = units::counted(of.len() as u64, "details");
                lines.extend(wrap(&format!("{count} ({letters}): `prony report RUN`"), self.width, "  "));
                continue;
            }
            lines.push(self.paint.with(Style::Faint, &format!("{}:", weight.word())));
            lines.extend(of.into_iter().flat_map(|kind| self.caveat(kind, report, detail)));
        }
        lines.extend(report.findings.one_window().into_iter().flat_map(|line| wrap(&line, self.width, "  ")));
        lines
    }

    fn caveat(&self, kind: &CaveatsOfKind, report: &Report, detail: Detail) -> Vec<String> {
        let words = match detail {
            Detail::Brief => first_words(kind, report),
            Detail::Full => all_words(kind, &Places::of(report.findings)),
        };
        let body = wrap::printable(&format!("{} {}: {words}", kind.mark, kind.kind.heading()));
        let mut wrapped = wrap(&body, self.width, "  ");
        if let Some(first) = wrapped.first_mut() {
            *first = format!("{}{}", self.paint.with(Style::Open, &kind.mark.to_string()), &first[1..]);
        }
        wrapped
    }

    fn section(&self, section: &Section) -> Vec<String> {
        let mut lines = vec![String::new(), self.paint.with(Style::Bold, &wrap::printable(&section.title))];
        if !section.constant.is_empty() {
            lines.extend(
                wrap(&wrap::printable(&section.constant), self.width, "")
                    .iter()
                    .map(|line| self.paint.with(Style::Faint, line)),
            );
        }
        lines.extend(table::lines(&section.table, self.width, self.paint));
        lines
    }
}

fn exploratory(counted: &[&Conclusion]) -> String {
    let count = |verdict: &Verdict| counted.iter().filter(|one| one.exploratory == Some(*verdict)).count();
    let counts = Verdict::ALL.iter().map(|verdict| (verdict.word(), count(verdict)));
    let words: Vec<String> = counts.filter(|(_, n)| *n > 0).map(|(word, n)| format!("{n} {word}")).collect();
    format!("exploratory comparisons: {}", words.join(", "))
}

/// The first caveat of a kind with whom it is about, and how many more there are; one that the answer has told is not told again.
fn first_words(kind: &CaveatsOfKind, report: &Report) -> String {
    if report.findings.doubted == Some(kind.kind) {
        return "see the doubt above".to_owned();
    }
    let marked = report.headline.marked_trials(kind.mark);
    let places = Places::of(report.findings);
    let marked = places.answer_first(kind.about(&marked));
    let Some(first) = marked.into_iter().chain(&kind.caveats).next() else { return String::new() };
    // A note of the run is about no trial, and may stand beside others.
    if kind.caveats.len() > 1 && trials_of(&kind.caveats).is_none() {
        return format!("{} (in {} places)", first.text, kind.caveats.len());
    }
    let all: Vec<&Caveat> = std::iter::once(first).chain(&kind.caveats).collect();
    format!("{}{}", first.text, places.whose(&all))
}

fn all_words(kind: &CaveatsOfKind, places: &Places) -> String {
    let one = |(text, trials): (String, Vec<u32>)| format!("{text}{}", places.whom(&trials));
    noted::told(kind).into_iter().map(one).collect::<Vec<_>>().join("; ")
}
