//! What is private does not leave, in any format.

use crate::sample::{distinct, flash};
use report::{Detail, Layout, csv, html, json, redacted, text};

#[test]
fn nothing_private_is_left_in_any_format() {
    let copy = redacted(&distinct());
    let full = Layout { detail: Detail::Full, ..Layout::default() };
    for printed in [html(&copy), text(&copy, full), json(&copy).to_string(), csv(&copy)] {
        for secret in ["secret-host", "SERIAL-0042", "/srv/left", "by-id", "note by the user", "host.name"] {
            assert!(!printed.contains(secret), "{secret}");
        }
    }
}

#[test]
fn a_private_value_is_taken_out_of_caveats_answers_and_the_study_too() {
    let mut findings = flash();
    findings.answer.push("It ran on atlas-17.lab.".into());
    findings.trials[0].caveats.push(analysis::Caveat {
        kind: analysis::CaveatKind::OtherWriters,
        trial: Some(0),
        text: "somebody wrote to /mnt/flash/other".into(),
    });
    let page = html(&redacted(&findings));
    assert!(!page.contains("atlas-17") && !page.contains("/mnt/flash") && !page.contains("S64GNE0R701234"));
    assert!(page.contains("It ran on [redacted]."));
}

#[test]
fn numbers_names_and_what_is_not_private_stay() {
    let (whole, copy) = (json(&distinct()), json(&redacted(&distinct())));
    assert_eq!(whole["trials"], copy["trials"]);
    assert_eq!(whole["points"], copy["points"]);
    assert_eq!(copy["systems"][0]["fingerprint"][0]["value"], "6.1.2");
    assert_eq!(copy["about"]["targets"][0], "file:[redacted]");
}
