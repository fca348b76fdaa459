//! The guide to study files states every key with its limits and its default as the program has them.

use study::{Group, KEYS, Key, Study, Survey, plan};

const TRANSACTIONS: &str = include_str!("../../../../docs/guide/transactions.md");
const GUIDE: &str = include_str!("../../../../docs/guide/study-file.md");

fn row(key: &Key) -> String {
    let default = match key.default.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(words) => words.to_owned(),
        None => format!("`{}`", key.default),
    };
    format!("| `{}` | {} | {default} | {} |", key.name, key.kind.allowed(), key.help)
}

fn table(group: Group) -> String {
    let rows: Vec<String> = KEYS.iter().filter(|key| key.group == group).map(row).collect();
    format!("| key | values | default | what it does |\n|---|---|---|---|\n{}\n", rows.join("\n"))
}

#[test]
fn every_key_stands_in_the_guide_as_it_is() {
    use Group::{Access, Block, Files, Load, Opening, Phases, State, System};
    let groups = [System, Opening, Block, Files, Access, Load, State, Phases];
    let missing: Vec<String> = groups.map(table).into_iter().filter(|table| !GUIDE.contains(table)).collect();
    assert!(missing.is_empty(), "docs/guide/study-file.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_key_of_a_database_stands_in_its_chapter_as_it_is() {
    let groups = [Group::Brokerage, Group::Sql, Group::Rows, Group::Session];
    let missing: Vec<String> = groups.map(table).into_iter().filter(|table| !TRANSACTIONS.contains(table)).collect();
    assert!(missing.is_empty(), "docs/guide/transactions.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_example_of_the_guide_is_a_sound_study() {
    let chapters = [GUIDE, TRANSACTIONS].into_iter().flat_map(|text| text.split("```toml\n").skip(1));
    let examples: Vec<&str> = chapters.filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 4);
    for example in examples {
        let study = Study::parse("guide", example).unwrap_or_else(|problems| panic!("{problems}\n{example}"));
        let plan = plan(&study, &Survey::default(), 1).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(!plan.trials.is_empty() || !plan.searches.is_empty());
    }
}
