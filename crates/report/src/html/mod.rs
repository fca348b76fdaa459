//! One self-contained HTML page: the answer, figures with a table under each, method, configuration, caveats.
//!
//! The one idea: it can be mailed, printed and read in ten years. Style and script are in the page, nothing is fetched (the
//! page forbids it to itself), and without the script nothing is missing but the readout under the pointer.
//!
//! What it does not do: it decides nothing about content; [`crate::view`] does.

mod card;
mod configuration;
mod figure;
mod method;
mod plain;
mod prose;
mod table;

pub use plain::{Head, judged_html, sweet_spot_html};

use crate::caveats::CaveatsOfKind;
use crate::harmless::harmless;
use crate::noted::{self, Places};
use crate::view::{Conclusion, Figure, Report, Section, Tone, each_once, report};
use analysis::{Findings, Verdict, Weight};
use maud::{DOCTYPE, Markup, PreEscaped, html as page};
use prose::prose;
use table::Footnotes;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("readout.js");

/// Nothing may be fetched, and nothing but our own style and script applies, whatever a name in a run file contains. A test holds
/// the sums against the files.
const POLICY: &str = "default-src 'none'; style-src 'sha256-IUrBe74a6u06jqsQ2n9Iq8POzhTxq298k3H+Xizy6YA='; \
                      script-src 'sha256-lM19V11ri7Am4M7tdO8xkRL2wztKizUoSYLJfanr33A='; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The report as one page that needs nothing else: no network, no fonts, no other file.
pub fn html(findings: &Findings) -> String {
    let report = report(findings);
    let (run, notes) = (&findings.run, Footnotes::of(&report.caveats, Some(findings)));
    let main = page! {
        (head(&report))
        (card::card(&report))
        (short(&report, &notes))
        (contents(&report))
        @if let Some(versus) = &report.versus {
            (part("compared", "Systems compared", &compared(findings), &figure::figure(versus, &notes, "figure-compared")))
        }
        @for (index, section) in report.sections.iter().enumerate() { (experiment(&notes, index, section)) }
        (caveats(&report.caveats.0, &notes.places))
        (part("method", "Method", "what each number means", &method::section(findings)))
        (part("configuration", "Configuration", "systems and settings", &configuration::section(findings)))
        (part("study", "Study and how to repeat it", "", &study(&report)))
    };
    let program = format!("Prony {}", run.version);
    let footer = format!("{program} ({}) · run {} · seed {}", run.commit, run.id, run.seed);
    whole(&format!("{} · {}", run.title, run.id), &program, &main, &footer)
}

/// What every page has around its content.
fn whole(title: &str, program: &str, main: &Markup, footer: &str) -> String {
    let page = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content=(program);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (main) }
                footer { (footer) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    harmless(page.into_string())
}

fn head(report: &Report) -> Markup {
    let run = &report.findings.run;
    page! {
        header {
            p class="run" {
                span class="brand" { "Prony" }
                span { (configuration::date(run.started_unix_ns)) }
                span { "run " (run.id) }
                @for tag in &run.tags { span class="tag" { (tag) } }
            }
            h1 { (run.title) }
            p class="question" { (prose(&run.question)) }
        }
    }
}

fn short(report: &Report, notes: &Footnotes) -> Markup {
    // What belongs to one experiment is said there; here stands what decides.
    let listed: Vec<&Conclusion> = report.conclusions.iter().filter(|conclusion| decides(conclusion)).collect();
    page! {
        section id="short" {
            h2 { "In short" }
            @if !report.headline.rows.is_empty() {
                (table::table(&report.headline, table::HEADLINE))
                (table::folded_footnotes(&report.headline, &of_the_run(&report.caveats.0), notes, report.findings.one_window()))
                @if report.headline.bounded() { p class="notes" { (BOUNDED) } }
                @if let Some(left_out) = &report.left_out { p class="notes" { (left_out) } }
            }
            (conclusions(&listed))
            @if !report.interrupted.rows.is_empty() {
                (table::table(&report.interrupted, "interrupted"))
                (table::footnotes(&report.interrupted, "", notes))
            }
        }
    }
}

/// What a number is of which only one end is known.
const BOUNDED: &str =
    "≥ and “at least”: at least so much, with 95% confidence; “observed” is the value of the sample itself.";

/// Whether it is among what is told in short, and there alone.
fn decides(conclusion: &Conclusion) -> bool {
    // The verdicts that a study declared stand on the card and in the figure of comparisons.
    let verdict = Verdict::of_word(&conclusion.word).is_some();
    conclusion.exploratory.is_none() && conclusion.tone != Tone::Plain && !verdict
}

/// Letters of the caveats about the run as a whole: they stand beside no number, so they are told under the first table.
fn of_the_run(kinds: &[CaveatsOfKind]) -> String {
    let whole = |kind: &&CaveatsOfKind| kind.caveats.iter().any(|caveat| caveat.trial.is_none());
    kinds.iter().filter(whole).map(|kind| kind.mark).collect()
}

fn conclusions(conclusions: &[&Conclusion]) -> Markup {
    let class = |tone: Tone| match tone {
        Tone::Plain => "verdict",
        Tone::Good => "verdict good",
        Tone::Bad => "verdict bad",
        Tone::Open => "verdict open",
    };
    page! {
        @if !conclusions.is_empty() {
            ul class="found" {
                @for conclusion in conclusions {
                    li { span class=(class(conclusion.tone)) { (conclusion.word) } span { (prose(&conclusion.text)) } }
                }
            }
        }
    }
}

/// What explains a number and answers nothing: closed until it is asked for.
const EXPLAINS: [&str; 10] =
    ["fast tier", "mirror", "pair", "window", "working set", "bound by", "request time", "cost", "data", "generator"];

/// What answers is shown, what explains is folded behind its words.
fn found_here(found: &[&Conclusion]) -> Markup {
    let explains = |one: &&&Conclusion| EXPLAINS.contains(&one.word.as_str());
    // The card has told what a tier, a mirror or a pair gave; how it adds up is here.
    let (folded, shown): (Vec<&Conclusion>, Vec<&Conclusion>) = found.iter().partition(explains);
    let words = each_once(folded.iter().map(|one| one.word.as_str())).join(", ");
    page! {
        (conclusions(&shown))
        @if !folded.is_empty() { (fold("What stands behind it", &words, &conclusions(&folded))) }
    }
}

/// What is closed until it is asked for, behind its title and what is in it; on paper it is open.
fn fold(title: &str, contents: &str, body: &Markup) -> Markup {
    let contents = figure::beyond(title, contents);
    page! {
        details class="folded" {
            summary { (title) @if !contents.is_empty() { span class="faint" { " · " (contents) } } }
            (body)
        }
    }
}

/// A section of the page that is closed until it is asked for. A link to it leads inside, because browsers open what is around a target.
fn part(id: &str, title: &str, contents: &str, body: &Markup) -> Markup {
    page! {
        details class="part" {
            summary { h2 { (title) } @if !contents.is_empty() { span class="faint" { (contents) } } }
            section id=(id) { (body) }
        }
    }
}

fn contents(report: &Report) -> Markup {
    page! {
        nav aria-label="Contents" {
            @if report.versus.is_some() { a href="#compared" { "Systems compared" } }
            @for (index, section) in report.sections.iter().enumerate() {
                a href=(format!("#experiment-{index}")) { (units::capital(&section.title)) }
            }
            @if !report.caveats.0.is_empty() { a href="#caveats" { "Notes and doubts" } }
            a href="#method" { "Method" }
            a href="#configuration" { "Configuration" }
                        a href="#study" { "Study and how to repeat it" }
        }
    }
}

/// An experiment: open where it holds the answer, with its first figure; everything else is a line until it is asked for.
fn experiment(notes: &Footnotes, index: usize, section: &Section) -> Markup {
    let found: Vec<&Conclusion> = section.conclusions.iter().filter(|conclusion| !decides(conclusion)).collect();
    let id = format!("experiment-{index}");
    let first = section.figures.iter().position(|figure| !figure.panels.is_empty());
    let figures = section.figures.iter().enumerate().map(|(at, figure)| {
        // The one that answers is open, however many panels it has.
        let folded = if section.answers { Some(at) != first } else { figure.folded };
        let figure = Figure { folded, ..figure.clone() };
        figure::figure(&figure, notes, &format!("figure-{index}-{at}"))
    });
    let points = page! {
        (table::table(&section.table, "points"))
        (table::footnotes(&section.table, "", notes))
    };
    let body = page! {
        @if !section.constant.is_empty() { p class="constant" { "Throughout: " (section.constant) } }
        (found_here(&found))
        @if first.is_none() && !section.drawn { (points) }
        @for figure in figures { (figure) }
        @if first.is_some() && !section.drawn { (fold("Every point", "", &points)) }
    };
    page! {
        @if section.answers {
            section id=(id) class="experiment" { h2 { (units::capital(&section.title)) } (body) }
        } @else {
            (part(&id, &units::capital(&section.title), &units::counted(section.figures.len() as u64, "figures"), &body))
        }
    }
}

/// So many words of a kind are shown; the others are closed until they are asked for.
const TOLD_MAX: usize = 3;

/// By weight, details folded.
fn caveats(kinds: &[CaveatsOfKind], places: &Places) -> Markup {
    let of = |weight: Weight| kinds.iter().filter(move |kind| kind.kind.weight() == weight).collect::<Vec<_>>();
    let body = page! {
        p { "A letter beside a number leads here." }
        @for weight in [Weight::Decisive, Weight::WorthKnowing] {
            @let kinds = of(weight);
            @if !kinds.is_empty() { h3 class="weight" { (weight.word()) } (doubts(&kinds, places)) }
        }
        @let details = of(Weight::Detail);
        @if !details.is_empty() { (fold(&units::counted(details.len() as u64, "details"), "", &doubts(&details, places))) }
    };
    let contents = units::counted(kinds.len() as u64, "notes");
    page! { @if !kinds.is_empty() { (part("caveats", "Notes and doubts", &contents, &body)) } }
}

/// How the comparisons of a run ended, by verdict.
fn compared(findings: &Findings) -> String {
    let count = |verdict: &Verdict| findings.comparisons().filter(|one| one.verdict == *verdict).count();
    let counts = Verdict::ALL.iter().map(|verdict| (verdict.word(), count(verdict))).filter(|(_, n)| *n > 0);
    let all = units::counted(findings.comparisons().count() as u64, "comparisons");
    format!("{all}: {}", counts.map(|(word, n)| format!("{n} {word}")).collect::<Vec<_>>().join(", "))
}

fn doubts(kinds: &[&CaveatsOfKind], places: &Places) -> Markup {
    page! {
        dl class="doubts" {
            @for kind in kinds {
                @let told = noted::told(kind);
                dt id={ "doubt-" (kind.mark) } { span class="letter" { (kind.mark) } (kind.kind.heading()) }
                @for one in told.iter().take(TOLD_MAX) { (words(one, places)) }
                @if told.len() > TOLD_MAX {
                    dd {
                        details {
                            summary { (told.len() - TOLD_MAX) " more" }
                            dl { @for one in told.iter().skip(TOLD_MAX) { (words(one, places)) } }
                        }
                    }
                }
            }
        }
    }
}

fn words((text, trials): &(String, Vec<u32>), places: &Places) -> Markup {
    page! { dd { (prose(text)) span class="faint" { (places.whom(trials)) } } }
}

fn study(report: &Report) -> Markup {
    let run = &report.findings.run;
    page! {
        p { "The same order, the same offsets and the same arrivals follow from the seed:" }
        pre class="command" { (configuration::command(run)) }
        h3 { "The study as it was run" }
        pre { (run.study_text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_explains_a_number_is_folded_and_what_answers_is_not() {
        let of = |system: &str, word: &str| Conclusion::plain("e", word, system.to_owned(), "so much");
        let all = ["a", "b"].map(|system| [of(system, "cost"), of(system, "knee"), of(system, "window")]).concat();
        let told = found_here(&all.iter().collect::<Vec<_>>()).into_string();
        let (open, folded) = told.split_once("<details").expect("a fold");
        assert_eq!(open.matches(">knee<").count(), 2, "{open}");
        assert!(!open.contains(">cost<") && folded.contains("cost, window"), "{folded}");
        assert_eq!(folded.matches(">cost<").count(), 2, "{folded}");
    }
}
