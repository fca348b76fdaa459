//! No circles between folders.
//!
//! The one idea: in every folder of a crate the entries (folders, and files of their own) are the nodes of a graph, and who
//! names an item of whom are its arrows. A folder that stands in a circle could as well be one with the others in it.
//! Files that know each other inside of one folder are one thing and allowed. Each file beside folders is a node of its own, so
//! that a folder may know `error.rs` while `drive.rs` knows the folder; were they one node, every crate would be a circle.

mod names;
mod tokens;

use crate::tree::{Problem, SourceFile};
use names::Reference;
use std::collections::{BTreeMap, BTreeSet};

/// The arrows between the entries of one folder, each with one place that shows it.
type Graph<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a Reference>>;

/// All circles in the crates of the workspace.
pub fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let mut crates: BTreeMap<&str, Vec<(&str, &SourceFile)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_code()) {
        if let Some((folder, inside)) = file.path.split_once("/src/") {
            crates.entry(folder).or_default().push((inside, file));
        }
    }
    crates.iter().flat_map(|(folder, sources)| circles(folder, &names::references(sources))).collect()
}

/// The circles of one crate.
fn circles(place: &str, references: &[Reference]) -> Vec<Problem> {
    let mut graphs: BTreeMap<&str, Graph<'_>> = BTreeMap::new();
    for reference in references {
        let (folder, from, to) = apart(&reference.from, &reference.to);
        graphs.entry(folder).or_default().entry(from).or_default().entry(to).or_insert(reference);
    }
    let told = |(folder, graph): (&&str, &Graph<'_>)| {
        let place = format!("{place}/src/{folder}");
        members(graph).iter().map(|circle| told(&place, graph, circle)).collect::<Vec<_>>()
    };
    graphs.iter().flat_map(told).collect()
}

/// The folder that two files have in common, and the entries of it that each of them lies in.
fn apart<'a>(from: &'a str, to: &'a str) -> (&'a str, &'a str, &'a str) {
    let same = from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count();
    let common = from[..same].rfind('/').map_or(0, |slash| slash + 1);
    let entry = |path: &'a str| path[common..].split_inclusive('/').next().unwrap_or_default();
    (&from[..common], entry(from), entry(to))
}

/// The sets of entries that all know each other, where one of them is a folder.
fn members<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let mut sets: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (start, known) in graph.keys().map(|start| (*start, reached(graph, start))) {
        let back = known.iter().filter(|other| reached(graph, other).contains(start));
        let set: BTreeSet<&str> = back.copied().chain([start]).collect();
        if set.len() > 1 && set.iter().any(|entry| entry.ends_with('/')) {
            sets.insert(set);
        }
    }
    sets.into_iter().collect()
}

fn reached<'a>(graph: &Graph<'a>, start: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next = vec![start];
    while let Some(entry) = next.pop() {
        let known = graph.get(entry).into_iter().flat_map(|arrows| arrows.keys());
        next.extend(known.filter(|entry| found.insert(**entry)));
    }
    found
}

fn told(place: &str, graph: &Graph<'_>, circle: &BTreeSet<&str>) -> Problem {
    let arrows = graph.iter().filter(|(from, _)| circle.contains(**from)).flat_map(|(_, arrows)| arrows);
    let inside = arrows.filter(|(to, _)| circle.contains(**to));
    let places: Vec<String> =
        inside.map(|(_, one)| format!("\n  {}:{} names {}", one.from, one.line, one.to)).collect();
    let names: Vec<&str> = circle.iter().copied().collect();
    format!(
        "{place}: {} know each other in a circle; move what both need below both:{}",
        names.join(", "),
        places.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong in a crate with these files below `src`.
    fn found(files: &[(&str, &str)]) -> Vec<Problem> {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: format!("crates/load/src/{path}"),
            text: (*text).to_owned(),
        };
        problems(&files.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn folders_that_name_each_other_are_a_circle_and_one_direction_is_none() {
        let root = ("lib.rs", "mod a;\nmod b;\n");
        let (a, b) = (("a/mod.rs", "use crate::b::B;\npub struct A;\n"), ("b/mod.rs", "pub struct B;\n"));
        assert_eq!(found(&[root, a, b]), Vec::<Problem>::new());
        let back = ("b/mod.rs", "pub struct B;\nfn f() -> crate::a::A {}\n");
        assert_eq!(
            found(&[root, a, back]),
            ["crates/load/src/: a/, b/ know each other in a circle; move what both need below both:\
              \n  a/mod.rs:1 names b/mod.rs\n  b/mod.rs:2 names a/mod.rs"]
        );
    }

    #[test]
    fn every_spelling_of_a_path_is_followed() {
        let root = ("lib.rs", "mod a;\nmod b;\npub use b::{B, inner::Other as Renamed};\n");
        let b =
            [("b/mod.rs", "pub mod inner;\npub struct B;\nuse crate::a::A;\n"), ("b/inner.rs", "pub struct Other;\n")];
        for line in [
            "use crate::B;",
            "use crate::Renamed;",
            "use crate::{b::inner::{self}, b};",
            "use super::super::b::B as C;",
            "use super::super::b; fn f() { b::inner::f() }",
            "fn f() { println!(\"{}\", crate::b::inner::X) }",
        ] {
            let a = [("a/mod.rs", "pub mod one;\npub struct A;\n"), ("a/one.rs", line)];
            assert_eq!(found(&[&[root], &a[..], &b[..]].concat()).len(), 1, "{line}");
        }
    }

    #[test]
    fn offering_what_lies_below_is_no_knowledge_and_using_it_is() {
        let root = ("lib.rs", "mod a;\n");
        let child = ("a/deep/mod.rs", "use super::Base;\npub struct Deep;\n");
        let base = ("a/base.rs", "pub struct Base;\n");
        let offering = ("a/mod.rs", "mod base;\nmod deep;\npub use base::Base;\npub use deep::Deep;\n");
        assert_eq!(found(&[root, child, base, offering]), Vec::<Problem>::new());
        let using = ("a/mod.rs", "mod deep;\npub struct Base;\nfn f(deep: deep::Deep) {}\n");
        assert_eq!(found(&[root, child, using]).len(), 1);
    }

    #[test]
    fn what_a_folder_offers_from_elsewhere_is_its_own() {
        let root = ("lib.rs", "mod a;\nmod b;\nmod c;\n");
        let a = ("a/mod.rs", "pub use crate::b::B;\n");
        let (b, c) =
            (("b/mod.rs", "use crate::c::C;\npub struct B;\n"), ("c/mod.rs", "use crate::a::B;\npub struct C;\n"));
        assert_eq!(found(&[root, a, b, c]).len(), 1);
    }

    #[test]
    fn files_of_one_folder_may_know_each_other_and_tests_may_know_all() {
        let root = ("lib.rs", "mod a;\nmod b;\nmod c;\n#[cfg(test)]\nmod d_tests;\n");
        let a = ("a.rs", "use crate::b::B;\n#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}\n");
        let (b, c) = (("b.rs", "use crate::a::A;\n"), ("c/mod.rs", "use crate::a::A;\n"));
        let d = ("d_tests.rs", "use crate::c::C;\n");
        assert_eq!(found(&[root, a, b, c, d]), Vec::<Problem>::new());
    }
}
