//! One self-contained HTML page.

use crate::view::{Table, report};
use analysis::Findings;
use maud::{DOCTYPE, Markup, html as page};

/// The report as one page that needs nothing else: no network, no fonts, no other file.
pub fn html(findings: &Findings) -> String {
    let report = report(findings);
    page! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (findings.run.title) } }
            body {
                h1 { (findings.run.title) }
                @for line in &findings.answer { p { (line) } }
                (table(&report.headline))
                @for section in &report.sections { h2 { (section.title) } (table(&section.table)) }
            }
        }
    }
    .into_string()
}

fn table(table: &Table) -> Markup {
    page! {
        table {
            caption { (table.caption) }
            thead { tr { @for column in &table.columns { th { (column.title) } } } }
            tbody {
                @for row in &table.rows { tr { @for cell in row { td { (cell.text()) } } } }
            }
        }
    }
}
