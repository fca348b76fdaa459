//! The guide to study files states every key with its limits and its default as the program has them.

use study::{Group, Key, Study, Survey, groups, plan};
use workload::Interface;

const TRANSACTIONS: &str = include_str!("../../../../docs/guide/transactions.md");
const LAYOUTS: &str = include_str!("../../../../docs/guide/layouts.md");
const MIRRORS: &str = include_str!("../../../../docs/guide/mirror.md");
const GUIDE: &str = include_str!("../../../../docs/guide/study-file.md");

fn row(key: Key) -> String {
    let default = match key.default().strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(words) => words.to_owned(),
        None => format!("`{}`", key.default()),
    };
    format!("| `{}` | {} | {default} | {} |", key.name(), key.allowed(), key.help())
}

fn table(group: Group) -> String {
    let rows: Vec<String> = group.keys().map(row).collect();
    format!("| key | values | default | what it does |\n|---|---|---|---|\n{}\n", rows.join("\n"))
}

/// So have those of layouts.
fn of_layout(group: &Group) -> bool {
    matches!(group, Group::Placing | Group::Layout)
}

/// So have those of mirrors.
fn of_mirror(group: &Group) -> bool {
    *group == Group::Mirror
}

/// Keys of databases have a chapter of their own.
fn of_database(group: &Group) -> bool {
    match group {
        Group::Session => true,
        Group::Workload(row) => row.interface == Interface::Database,
        _ => false,
    }
}

#[test]
fn every_key_stands_in_the_guide_as_it_is() {
    let tables =
        groups().into_iter().filter(|group| !of_database(group) && !of_layout(group) && !of_mirror(group)).map(table);
    let missing: Vec<String> = tables.filter(|table| !GUIDE.contains(table)).collect();
    assert!(missing.is_empty(), "docs/guide/study-file.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_key_of_a_database_stands_in_its_chapter_as_it_is() {
    let tables = groups().into_iter().filter(of_database).map(table);
    let missing: Vec<String> = tables.filter(|table| !TRANSACTIONS.contains(table)).collect();
    assert!(missing.is_empty(), "docs/guide/transactions.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_key_of_a_layout_stands_in_its_chapter_as_it_is() {
    let missing: Vec<String> =
        groups().into_iter().filter(of_layout).map(table).filter(|table| !LAYOUTS.contains(table)).collect();
    assert!(missing.is_empty(), "docs/guide/layouts.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_key_of_a_mirror_stands_in_its_chapter_as_it_is() {
    let missing: Vec<String> =
        groups().into_iter().filter(of_mirror).map(table).filter(|table| !MIRRORS.contains(table)).collect();
    assert!(missing.is_empty(), "docs/guide/mirror.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_example_of_the_guide_is_a_sound_study() {
    let chapters = [GUIDE, TRANSACTIONS, LAYOUTS].into_iter().flat_map(|text| text.split("```toml\n").skip(1));
    let examples: Vec<&str> = chapters.filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 5);
    for example in examples {
        let study = Study::parse("guide", example).unwrap_or_else(|problems| panic!("{problems}\n{example}"));
        let plan = plan(&study, &Survey::default(), 1).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(!plan.trials.is_empty() || !plan.searches.is_empty());
    }
}
