//! `docs/reference/` is what the program says of itself.

use crate::program::Program;
use std::path::Path;

/// Holds a page to what the program prints; with `UPDATE` in the environment the page is written anew first.
fn hold(page: &str) {
    let file = format!("docs/reference/{page}.md");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&file);
    // As it came: the page holds examples with the names of runs.
    let ran = Program::new().run(&format!("reference {page}"));
    assert_eq!(ran.code, Some(0), "{ran}");
    let now = ran.raw;
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder of the reference");
        std::fs::write(&path, &now).expect("the reference can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == now, "{file} is old; make it anew with `prony reference {page} > {file}`");
}

#[test]
fn the_reference_of_the_command_line_is_current() {
    hold("cli");
}

#[test]
fn the_reference_of_the_keys_is_current() {
    hold("keys");
}
