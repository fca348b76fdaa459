//! Any name in a run file, however chosen, stays a name.

use crate::page::tags;
use crate::sample::{distinct, renamed};
use proptest::prelude::*;
use report::{Detail, Layout, csv, html, json, text};

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[<>&\"'`/=a-z ]{1,30}",
        Just("</script><script>alert(1)</script>".to_owned()),
        Just("\"><img src=x onerror=alert(1)>".to_owned()),
        Just("</style></svg></title>]]>--><!--".to_owned()),
        Just("\u{1b}[2J\u{1b}]0;title\u{7}\r\n\u{202e}".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The tags of the page are those of a page with harmless names: no name opens, closes or adds anything.
    #[test]
    fn no_name_changes_the_structure_of_the_page(evil in hostile()) {
        let harmless = tags(&html(&renamed(&|name| format!("x{name}x"))));
        let attacked = tags(&html(&renamed(&|name| format!("{evil}{name}{evil}"))));
        prop_assert_eq!(harmless, attacked);
    }

    #[test]
    fn no_name_moves_the_cursor_or_changes_colours_of_the_terminal(evil in hostile()) {
        let layout = Layout { detail: Detail::Full, ..Layout::default() };
        let text = text(&renamed(&|name| format!("{evil}{name}")), layout);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn no_name_puts_a_character_into_the_page_that_a_terminal_or_a_reader_obeys(evil in hostile()) {
        let page = html(&renamed(&|name| format!("{evil}{name}")));
        prop_assert_eq!(page.chars().find(|c| report::harms(*c)), None);
    }

    #[test]
    fn every_name_comes_back_from_json_as_it_went_in(evil in hostile()) {
        let findings = renamed(&|name| format!("{evil}{name}"));
        let read: serde_json::Value = serde_json::from_str(&json(&findings).to_string()).unwrap();
        prop_assert_eq!(read["study"].as_str(), Some(findings.run.study.as_str()));
        let stream = findings.trials[0].label.streams[0].name.as_str();
        prop_assert_eq!(read["trials"][0]["stream"].as_str(), Some(stream));
    }

    #[test]
    fn csv_keeps_one_row_a_trial_and_stream(evil in hostile()) {
        let text = csv(&renamed(&|name| format!("{evil}{name}")));
        let mut quotes = 0;
        let rows = text.chars().filter(|c| {
            quotes += u32::from(*c == '"');
            *c == '\n' && quotes % 2 == 0
        });
        prop_assert_eq!(rows.count(), 1 + distinct().trials.iter().map(|trial| trial.streams.len()).sum::<usize>());
    }
}
