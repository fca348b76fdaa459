//! The page as a document: well-formed, self-contained, readable without eyes and without colour.

use crate::sample::{distinct, flash, quick, wide};
use observation::{Event, EventKind};
use report::html;
use units::Nanos;

/// Elements that have no end.
const VOID: [&str; 4] = ["meta", "br", "link", "img"];

/// A tag as it stands: its name and the names of its attributes; end tags begin with a slash.
pub fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = without_raw_text(page);
    while let Some(start) = rest.find('<') {
        let inside = &rest[start + 1..];
        let end = end_of_tag(inside);
        tags.push(skeleton(&inside[..end]));
        rest = inside[end + 1..].to_owned();
    }
    tags
}

/// Style and script are raw text: a `<` in them begins no tag.
fn without_raw_text(page: &str) -> String {
    let mut text = page.to_owned();
    for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let (before, rest) = text.split_once(open).expect("the page has it once");
        let (_, after) = rest.split_once(close).expect("it ends");
        text = format!("{before}{open}{close}{after}");
    }
    text
}

/// A `>` inside quotes ends no tag.
fn end_of_tag(inside: &str) -> usize {
    let mut quoted = false;
    inside
        .char_indices()
        .find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '>' && !quoted
        })
        .expect("every tag ends")
        .0
}

fn skeleton(tag: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for c in tag.chars() {
        if c == '"' {
            quoted = !quoted;
        } else if !quoted {
            out.push(c);
        }
    }
    out
}

#[test]
fn every_element_is_closed_in_order() {
    for findings in [distinct(), quick(), flash(), wide()] {
        let mut open: Vec<String> = Vec::new();
        for tag in tags(&html(&findings)) {
            let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or("").to_owned();
            if tag.starts_with('!') || VOID.contains(&name.as_str()) {
                continue;
            }
            if tag.starts_with('/') {
                assert_eq!(open.pop().as_deref(), Some(name.as_str()));
            } else {
                open.push(name);
            }
        }
        assert_eq!(open, Vec::<String>::new());
    }
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    for findings in [distinct(), flash(), wide()] {
        let page = html(&findings);
        for word in ["http:", "https:", "src=", "@import", "url(", "<link", "<img", "<iframe", "fetch(", "XMLHttp"] {
            assert!(!page.contains(word), "{word}");
        }
        let outside = page.split("href=\"").skip(1).filter(|rest| !rest.starts_with('#'));
        assert_eq!(outside.count(), 0);
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn only_the_style_and_the_script_that_came_with_the_page_apply() {
    use base64::Engine as _;
    use sha2::Digest as _;
    for findings in [distinct(), flash(), wide()] {
        let page = html(&findings);
        assert!(!page.contains("unsafe-") && !page.contains("style=\""));
        for (kind, open, close) in [("style", "<style>", "</style>"), ("script", "<script>", "</script>")] {
            let text = page.split_once(open).unwrap().1.split_once(close).unwrap().0;
            let sum = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text.as_bytes()));
            let allowed = format!("{kind}-src 'sha256-{sum}';");
            assert!(page.contains(&allowed), "the policy in html/mod.rs must say {allowed}");
        }
    }
}

#[test]
fn every_link_inside_the_page_leads_somewhere() {
    for findings in [distinct(), flash(), wide()] {
        let page = html(&findings);
        for rest in page.split("href=\"#").skip(1) {
            let target = rest.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        }
    }
}

#[test]
fn every_drawing_has_words_and_every_figure_a_table() {
    for findings in [distinct(), quick(), flash(), wide()] {
        let page = html(&findings);
        for drawing in page.split("<svg class=\"chart").skip(1) {
            let tag = drawing.split('>').next().unwrap();
            assert!(tag.contains("role=\"img\"") && tag.contains("aria-label=\""));
        }
        for figure in page.split("<figure>").skip(1) {
            assert!(figure.split("</figure>").next().unwrap().contains("<table"));
        }
    }
}

#[test]
fn numbers_from_a_model_are_drawn_and_named_as_such() {
    let page = html(&wide());
    assert!(page.contains("class=\"mark simulated\"") && page.contains("class=\"line simulated\""));
    assert!(page.contains("model (simulated)") && page.contains("files (simulated)"));
}

#[test]
fn no_mark_of_a_chart_lies_outside_its_drawing() {
    for findings in [distinct(), quick(), flash(), wide()] {
        for drawing in html(&findings).split("<svg class=\"chart").skip(1) {
            let view: Vec<f64> = drawing
                .split("viewBox=\"0 0 ")
                .nth(1)
                .unwrap()
                .split(['"', ' '])
                .take(2)
                .map(|n| n.parse().unwrap())
                .collect();
            let drawing = drawing.split("</svg>").next().unwrap();
            for mark in drawing.split("data-x=\"").skip(1) {
                let parts: Vec<&str> = mark.split('"').collect();
                let (x, y): (f64, f64) = (parts[0].parse().unwrap(), parts[2].parse().unwrap());
                assert!((0.0..=view[0]).contains(&x) && (0.0..=view[1]).contains(&y), "{x} {y} {view:?}");
            }
        }
    }
}

#[test]
fn a_doubt_stands_beside_its_number_in_the_table_and_in_the_chart() {
    let page = html(&flash());
    assert!(page.contains("1.23 M<sup><a href=\"#doubt-a\">a</a></sup>"));
    assert!(page.contains("class=\"letters\"") && page.contains(">a</text>"));
    assert!(page.contains("id=\"doubt-a\""));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]

    /// Whatever a number is, no coordinate is not a number, and nothing breaks off.
    #[test]
    fn no_number_however_odd_breaks_a_drawing(values in proptest::collection::vec(proptest::num::f64::ANY, 16)) {
        for mut findings in [distinct(), quick()] {
            for (index, point) in findings.points.iter_mut().enumerate() {
                let at = |k: usize| values[(index * 7 + k) % values.len()];
                let odd = |k| analysis::Estimate { value: at(k), low: at(k + 1), high: at(k + 2), n: 3, confidence: 0.95 };
                (point.throughput_per_s, point.bytes_per_s, point.response_p99_ms) = (odd(0), odd(1), odd(2));
                (point.response_p50_ms, point.service_mean_ms) = (odd(3), odd(4));
            }
            for trial in &mut findings.trials {
                for (index, time) in trial.timeline.iter_mut().enumerate() {
                    time.throughput_per_s.fill(values[index % values.len()]);
                    time.p99_ms.fill(Some(values[(index + 3) % values.len()]));
                }
            }
            let page = html(&findings);
            let (_, body) = page.split_once("<body>").unwrap();
            for attribute in [" d=\"", " x=\"", " y=\"", " cx=\"", " cy=\"", " width=\"", " height=\"", "viewBox=\""] {
                for value in body.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                    proptest::prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{}{}", attribute, value);
                }
            }
        }
    }
}

#[test]
fn a_doubt_about_the_whole_run_is_told_under_the_first_table() {
    let page = html(&wide());
    let (_, short) = page.split_once("id=\"short\"").unwrap();
    assert!(short.split("</section>").next().unwrap().contains("both systems are on nvme0n1"));
}

#[test]
fn words_of_events_fit_their_chart_and_stand_whole_in_a_title() {
    let mut findings = quick();
    let trial = &mut findings.trials[0];
    let long = |what: &str| {
        format!("{what}: single operations are carried by pread and pwrite, {}", "which is told. ".repeat(12))
    };
    let end = trial.timeline.last().expect("a timeline").at_s;
    // What was prepared before the load is no event of the chart.
    trial.events = [(0.0, "at the setting up"), (1e-3, "at the start"), (end - 1e-3, "at the end")]
        .map(|(at, what)| Event { at: Nanos::from_seconds(at), kind: EventKind::Note, text: long(what) })
        .to_vec();
    let page = html(&findings);
    let ends = |at: usize| (at + 400..page.len()).find(|end| page.is_char_boundary(*end)).unwrap_or(page.len());
    let words: Vec<&str> = page.match_indices("class=\"word\"").map(|(at, _)| &page[at..ends(at)]).collect();
    let events: Vec<(f64, &str)> = words
        .iter()
        .filter_map(|word| {
            let (_, rest) = word.split_once(" x=\"")?;
            let (x, rest) = rest.split_once('"')?;
            let (text, _) = rest.split_once('>')?.1.split_once('<')?;
            text.starts_with("at the ").then(|| (x.parse().expect("a number"), text))
        })
        .collect();
    assert!(events.len() >= 2, "{words:#?}");
    for (x, text) in &events {
        // A letter takes 5.5 on average, and a chart 992.
        let whole = long(text.split(':').next().expect("its beginning")).starts_with(&format!("{text},"));
        assert!(whole && x + 5.5 * text.chars().count() as f64 <= 992.0, "{x}: {text}");
    }
    assert!(events.iter().any(|(x, text)| *x > 400.0 && text.starts_with("at the end")), "{events:?}");
    for what in ["at the start", "at the end"] {
        assert!(page.contains(&format!("<title>{}</title>", long(what))), "{what}");
    }
    assert!(!page.contains("at the setting up"));
}

#[test]
fn options_stay_whole_and_backticks_are_code() {
    let mut findings = quick();
    findings.answer.push("But run `prony show x` with --set measure=5s.".to_owned());
    let page = html(&findings);
    let told = "But run <code>prony show x</code> with <code class=\"option\">--set measure=5s</code>.";
    assert!(page.contains(told));
}

#[test]
fn what_is_told_in_short_is_not_told_again_below() {
    let page = html(&distinct());
    let (short, below) = page.split_once("id=\"experiment-0\"").expect("an experiment");
    for decides in ["verdict good", "verdict bad", "verdict open"] {
        assert!(short.contains(decides) && !below.contains(decides), "{decides}");
    }
    let plain = "<span class=\"verdict\">";
    assert!(!short.contains(plain) && below.contains(plain), "what was found stands with its experiment");
}

/// The first chart of comparisons.
fn compared(page: &str) -> &str {
    let (_, compared) = page.split_once("id=\"compared\"").expect("comparisons");
    compared.split("</svg>").find(|part| part.contains("class=\"chart ")).expect("a chart")
}

#[test]
fn rows_of_comparisons_stand_in_the_order_of_levels_whatever_is_primary_and_when_it_was_found() {
    let mut findings = wide();
    findings.findings.reverse();
    let page = html(&findings);
    let rows = compared(&page).split(">virtual: files, width ").skip(1);
    let widths: Vec<u32> = rows.map(|rest| rest.split('<').next().unwrap().parse().unwrap_or(0)).collect();
    let mut once: Vec<u32> = widths.into_iter().filter(|width| *width > 0).collect();
    once.dedup();
    assert_eq!(once, [1, 2, 4, 8, 16, 32, 64, 96]);
}

#[test]
fn an_interval_that_tells_nothing_is_not_drawn_beside_a_ratio() {
    let whiskers = |findings: &analysis::Findings| compared(&html(findings)).matches("class=\"whisker\"").count();
    let mut findings = wide();
    let before = whiskers(&findings);
    for finding in &mut findings.findings {
        if let analysis::Finding::Comparison(one) = finding {
            (one.ratio.low, one.ratio.high) = (0.001, 4_000.0);
            break;
        }
    }
    assert_eq!(whiskers(&findings), before - 1);
}

#[test]
fn what_is_said_of_lines_and_keys_of_comparisons_is_said_where_they_are_drawn() {
    let of = |change: &dyn Fn(&mut analysis::Comparison)| {
        let mut findings = wide();
        for finding in &mut findings.findings {
            if let analysis::Finding::Comparison(one) = finding {
                change(one);
            }
        }
        let page = html(&findings);
        let (_, after) = page.split_once("id=\"compared\"").expect("comparisons");
        after.split_once("</figure>").expect("its end").0.to_owned()
    };
    let (line, few) = ("Each line is the interval", "without an interval: too few pairs were measured");
    let drawn = of(&|_| {});
    assert!(drawn.contains(line) && !drawn.contains(few) && drawn.contains("</svg>primary</li>"), "{drawn}");
    assert!(drawn.contains("so they can differ from the quotient of the values above"));
    let bare = of(&|one| (one.ratio.low, one.ratio.high, one.ratio.n) = (f64::NAN, f64::NAN, 1));
    assert!(!bare.contains(line) && bare.contains(few) && !bare.contains("differ from the quotient"), "{bare}");
    let wide = of(&|one| (one.ratio.low, one.ratio.high) = (0.001, 4_000.0));
    assert!(!wide.contains(line) && wide.contains("an interval that is too wide to draw"), "{wide}");
    let explored = of(&|one| one.primary = false);
    assert!(!explored.contains("</svg>primary</li>") && explored.contains("</svg>exploratory</li>"), "{explored}");
}

#[test]
fn a_card_counts_the_notes_that_stand_below_it_but_for_the_doubt_that_it_tells() {
    for mut findings in [flash(), wide(), quick(), distinct()] {
        let page = html(&findings);
        let listed = page.matches("<dt id=\"doubt-").count();
        let told = page.matches("The run is not finished</dt>").count() + usize::from(findings.doubted.is_some());
        let more = if findings.doubts.is_empty() { "" } else { "more " };
        let count = |notes: usize| format!("{notes} {more}note{} on this page</a>", if notes == 1 { "" } else { "s" });
        assert!(page.contains(&count(listed - told)), "{listed} {told}");
        let few = analysis::Caveat { kind: analysis::CaveatKind::FewReplicates, trial: None, text: "two".to_owned() };
        findings.caveats.retain(|caveat| caveat.kind != few.kind);
        let without = html(&findings).matches("<dt id=\"doubt-").count();
        findings.caveats.push(few);
        assert!(html(&findings).contains(&count(without + 1 - told)), "a folded detail counts, too");
    }
}

#[test]
fn streams_have_scales_of_their_own_where_there_are_several() {
    let told = |findings: &analysis::Findings| {
        let page = html(findings);
        let figure = page.split("<figure").find(|figure| figure.contains("what proportion to")).expect("how it grows");
        (figure.matches("class=\"panel ").count(), figure.contains("Each workload has its own scale"))
    };
    let mut findings = flash();
    let (panels, own) = told(&findings);
    assert!(panels > 1 && own, "{panels}");
    let first = findings.points[0].at.stream.clone();
    findings.points.retain(|point| point.at.stream == first);
    assert_eq!(told(&findings), (1, false));
}

#[test]
fn a_bound_and_what_was_seen_are_explained_where_there_is_one() {
    let mut findings = flash();
    let explained = |findings: &analysis::Findings| html(findings).contains("≥ and “at least”: at least so much");
    for point in &mut findings.points {
        point.response_p99_ms.high = f64::INFINITY;
    }
    assert!(explained(&findings));
    for point in &mut findings.points {
        point.response_p99_ms.high = 2.0 * point.response_p99_ms.value;
        point.throughput_per_s.high = 2.0 * point.throughput_per_s.value;
    }
    assert!(!explained(&findings));
}

#[test]
fn links_of_the_contents_lead_inside_of_what_they_open() {
    let page = html(&quick());
    let contents = page.split("<nav").nth(1).and_then(|rest| rest.split("</nav>").next()).expect("contents");
    let links: Vec<&str> = contents.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() >= 4, "{links:?}");
    for id in links {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "{id} is on what is closed itself");
    }
}
