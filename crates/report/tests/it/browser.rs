//! Pages in a real browser: nothing is cut at any width, no words leave their chart, on paper or in the dark, and axe finds nothing to complain of.
//!
//! One headless Chromium holds every page at every width in frames of one harness, measures each frame, runs axe-core in it, and prints what
//! it found. Where Chromium or axe-core is not installed the test says so and is counted as skipped; `./test` installs both.

use crate::sample;
use report::html;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Widths of windows, in CSS pixels.
const WIDTHS: [u32; 4] = [320, 768, 1040, 2560];

/// Letter paper inside the margins of the page, and A4 (688 px) less what the letters of another machine may be wider than those of this one.
const PAPER: [u32; 2] = [630, 710];

/// From here on no table may be wider than its place.
const TABLES_FIT_FROM: u32 = 1024;

fn axe() -> Option<PathBuf> {
    let named = std::env::var_os("PRONY_AXE").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe/package/axe.min.js");
    named.into_iter().chain([beside]).find(|path| path.is_file())
}

fn chromium() -> Option<PathBuf> {
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.is_file())
}

/// The page as it is on paper, on a screen: the rules for paper hold, and what the printer opens is open.
fn on_paper(page: &str) -> String {
    page.replace("@media print", "@media all").replace("<details", "<details open")
}

/// The page without the policy that forbids scripts of others.
fn open(page: &str) -> String {
    let begins = page.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
    let ends = begins + page[begins..].find('>').expect("an end") + 1;
    format!("{}{}", &page[..begins], &page[ends..])
}

const HARNESS: &str = r#"<!DOCTYPE html><html lang="en"><title>harness</title><body><script>
const AXE = __AXE__;
const FRAMES = __FRAMES__;
const found = [];
async function one(frame) {
  const element = document.createElement('iframe');
  element.style.cssText = `width:${frame.width}px;height:900px;border:0`;
  element.srcdoc = frame.page;
  const loaded = new Promise(done => element.onload = done);
  document.body.append(element);
  await loaded;
  const view = element.contentWindow, page = view.document, where = `${frame.name} at ${frame.width}`;
  for (const closed of page.querySelectorAll('details:not([open])')) closed.open = true;
  if (page.documentElement.scrollWidth > view.innerWidth) {
    const wide = [...page.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > view.innerWidth + 1 && !e.closest('.scroll, svg, pre, .panel.full'));
    found.push(`${where}: the page scrolls sideways, ${page.documentElement.scrollWidth} px of ${view.innerWidth}: ${wide.slice(0, 2).map(e => e.outerHTML.slice(0, 90)).join(' | ')}`);
  }
  if (frame.tables) for (const table of page.querySelectorAll('.scroll')) {
    if (table.scrollWidth > table.clientWidth + 1) found.push(`${where}: a table of ${table.scrollWidth} px in ${table.clientWidth}: ${table.querySelector('caption')?.textContent.slice(0, 70)}`);
  }
  for (const text of page.querySelectorAll('svg.chart text')) {
    const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
    if (box.x < 0 || box.x + box.width > view.width) found.push(`${where}: words leave their chart, ${box.x} to ${box.x + box.width} of ${view.width}: ${text.textContent}`);
  }
  if (frame.axe) {
    const script = page.createElement('script'); script.textContent = AXE; page.head.append(script);
    const result = await view.axe.run(page, { resultTypes: ['violations'], iframes: false });
    for (const v of result.violations) found.push(`${where}: axe ${v.id}: ${v.nodes.length} times, ${v.nodes[0].html.slice(0, 110)} ${v.nodes[0].failureSummary.slice(0, 150)}`);
  }
  element.remove();
}
(async () => {
  try { for (const frame of FRAMES) await one(frame); found.push('done'); } catch (error) { found.push(String(error)); }
  document.body.innerHTML = '<pre id=result></pre>';
  document.getElementById('result').textContent = found.join('\n');
})();
</script></body></html>"#;

/// What the browser found on all pages, a line each; the last is `done`.
fn browse(dark: bool, frames: &str, axe: &Path, chromium: &Path) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let script = serde_json::to_string(&std::fs::read_to_string(axe).unwrap()).unwrap().replace("</", "<\\/");
    let harness = HARNESS.replace("__AXE__", &script).replace("__FRAMES__", &frames.replace("</", "<\\/"));
    let path = dir.path().join("harness.html");
    std::fs::write(&path, harness).unwrap();
    let profile = dir.path().join("profile");
    let out = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
        .args(["--virtual-time-budget=600000", "--dump-dom"])
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&out.stdout).into_owned();
    let begins = dom
        .find("<pre id=\"result\">")
        .unwrap_or_else(|| panic!("no result: {}", String::from_utf8_lossy(&out.stderr)));
    let text = &dom[begins + "<pre id=\"result\">".len()..];
    text[..text.find("</pre>").expect("an end")].lines().map(str::to_owned).collect()
}

/// Names, events and letters that need more room than there is.
fn long_names() -> analysis::Findings {
    let mut findings = sample::renamed(&|name| format!("{name} with a name that is longer than any of its neighbours"));
    for trial in &mut findings.trials {
        let end = units::Nanos::from_seconds(trial.timeline.last().map_or(1.0, |last| last.at_s));
        let text = "WWW MMM ledger: 5758 orders are as acknowledged, and all 24 checks of the data hold".to_owned();
        trial.events.push(observation::Event { at: end, kind: observation::EventKind::Note, text });
    }
    findings
}

fn frames(dark: bool) -> String {
    let pages = [
        ("distinct", html(&sample::distinct())),
        ("flash", html(&sample::flash())),
        ("quick", html(&sample::quick())),
        ("house", html(&sample::house())),
        ("wide", html(&sample::wide())),
        ("long names", html(&long_names())),
    ];
    let mut frames = Vec::new();
    for (name, page) in &pages {
        let page = open(page);
        for width in WIDTHS {
            let tables = width >= TABLES_FIT_FROM;
            // Colours and structure do not change with the width.
            let axe = width == 1040;
            frames
                .push(serde_json::json!({ "name": name, "width": width, "page": page, "tables": tables, "axe": axe }));
        }
        for width in PAPER.iter().filter(|_| !dark) {
            let name = format!("{name} on paper");
            frames.push(serde_json::json!({ "name": name, "width": width, "page": on_paper(&page), "tables": true, "axe": false }));
        }
    }
    serde_json::Value::Array(frames).to_string()
}

/// Notes why the test did not run, in the file that `PRONY_SKIPS` names.
fn skip(why: &str) {
    if let Some(path) = std::env::var_os("PRONY_SKIPS") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "skipped: {why}").unwrap();
    }
}

#[test]
fn no_page_is_cut_at_any_width_or_on_paper_and_axe_finds_no_fault_in_light_or_dark() {
    let (Some(axe), Some(chromium)) = (axe(), chromium()) else {
        return skip("pages in a browser: this machine has no Chromium or no axe-core; ./test installs them");
    };
    let mut found = Vec::new();
    for dark in [false, true] {
        let told = browse(dark, &frames(dark), &axe, &chromium);
        assert_eq!(told.last().map(String::as_str), Some("done"), "{told:?}");
        let scheme = if dark { "dark" } else { "light" };
        found.extend(told.iter().filter(|line| *line != "done").map(|line| format!("{scheme}: {line}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
