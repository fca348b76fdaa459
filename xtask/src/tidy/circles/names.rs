//! Which file of a crate names an item of which other file.
//!
//! The one idea: a path is followed through modules and through `use` to the file that defines what it names. A re-export
//! that leads into the folder of the file that writes it is seen through; one that leads out of it makes the item one of
//! that file.

use super::tokens::{self, Token};
use crate::tree::SourceFile;
use std::collections::{BTreeMap, BTreeSet};

/// One file that names an item of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The file that names, from the folder `src`.
    pub from: String,
    /// Where it does.
    pub line: usize,
    /// The file that defines what is named.
    pub to: String,
}

/// A module that is a file.
struct Module<'a> {
    path: Vec<&'a str>,
    file: &'a str,
    uses: Vec<Use<'a>>,
    paths: Vec<(usize, Vec<&'a str>)>,
}

/// A name that `use` brings into a module.
struct Use<'a> {
    line: usize,
    name: &'a str,
    path: Vec<&'a str>,
    public: bool,
}

/// The modules of a crate by their paths.
struct Modules<'a>(BTreeMap<Vec<&'a str>, Module<'a>>);

/// What a path leads to: a module, and whether it is that itself or something that it defines.
struct Named<'a> {
    module: Vec<&'a str>,
    item: bool,
}

/// All references between the files of one crate; `sources` are its files below `src`.
pub fn references(sources: &[(&str, &SourceFile)]) -> Vec<Reference> {
    let modules = Modules::read(sources);
    let mut found = Vec::new();
    for module in modules.0.values() {
        let uses = module.uses.iter().filter(|entry| !modules.offers(module, entry));
        let paths = module.paths.iter().map(|(line, path)| (*line, path));
        for (line, path) in uses.map(|entry| (entry.line, &entry.path)).chain(paths) {
            let target = modules.named(module, path, 0).and_then(|named| modules.0.get(&named.module));
            found.extend(target.filter(|target| target.file != module.file).map(|target| Reference {
                from: module.file.to_owned(),
                line,
                to: target.file.to_owned(),
            }));
        }
    }
    found
}

impl<'a> Modules<'a> {
    fn read(sources: &[(&'a str, &'a SourceFile)]) -> Self {
        let mut modules = BTreeMap::new();
        let mut tests = BTreeSet::new();
        for (file, source) in sources {
            let (tokens, declared) = tokens::read(&source.text);
            let module = Module::read(file, &tokens);
            tests.extend(declared.iter().map(|name| [&module.path[..], &[name]].concat()));
            modules.insert(module.path.clone(), module);
        }
        modules.retain(|path, _| !(1..=path.len()).any(|end| tests.contains(&path[..end])));
        Self(modules)
    }

    /// Whether a `use` only offers what lies in the folder of a module: that is no knowledge of it.
    fn offers(&self, module: &Module<'a>, entry: &Use<'a>) -> bool {
        entry.public && self.named(module, &entry.path, 0).is_some_and(|named| named.module.starts_with(&module.path))
    }

    /// What a path means that stands in a module. `depth` ends names that lead to each other.
    fn named(&self, module: &Module<'a>, path: &[&'a str], depth: usize) -> Option<Named<'a>> {
        if depth > 16 {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut at = match *first {
            "crate" => Vec::new(),
            "self" => module.path.clone(),
            "super" => parent(&module.path)?,
            name => match self.step(module, name, depth)? {
                Named { module, item: false } => module,
                item => return Some(item),
            },
        };
        while let Some((name, after)) = rest.split_first() {
            rest = after;
            at = match *name {
                "super" => parent(&at)?,
                "self" => at,
                name => match self.step(self.0.get(&at)?, name, depth) {
                    Some(Named { module, item: false }) => module,
                    Some(item) => return Some(item),
                    None => return Some(Named { module: at, item: true }),
                },
            };
        }
        Some(Named { module: at, item: false })
    }

    /// What a name means in a module, if it is a module in it or a name that `use` brought.
    fn step(&self, module: &Module<'a>, name: &'a str, depth: usize) -> Option<Named<'a>> {
        let child = [&module.path[..], &[name]].concat();
        if self.0.contains_key(&child) {
            return Some(Named { module: child, item: false });
        }
        let entry = module.uses.iter().find(|entry| entry.name == name && entry.path != [name])?;
        let named = self.named(module, &entry.path, depth + 1)?;
        let within = !entry.public || named.module.starts_with(&module.path);
        Some(if within { named } else { Named { module: module.path.clone(), item: true } })
    }
}

fn parent<'a>(path: &[&'a str]) -> Option<Vec<&'a str>> {
    path.split_last().map(|(_, parent)| parent.to_vec())
}

impl<'a> Module<'a> {
    fn read(file: &'a str, tokens: &[Token<'a>]) -> Self {
        let stem = file.trim_end_matches(".rs");
        let path = match stem {
            "lib" | "main" => Vec::new(),
            stem => stem.trim_end_matches("/mod").split('/').collect(),
        };
        let mut module = Self { path, file, uses: Vec::new(), paths: Vec::new() };
        let mut at = 0;
        while at < tokens.len() {
            at += match tokens[at].text {
                "use" => {
                    let end = tokens[at..].iter().position(|token| token.text == ";").unwrap_or(tokens.len() - at);
                    let public = tokens[..at].last().is_some_and(|before| ["pub", ")"].contains(&before.text));
                    module.tree(&tokens[at + 1..at + end], &[], public);
                    end
                }
                _ if tokens[at].is_name() => {
                    let path = path_of(&tokens[at..]);
                    let length = 2 * path.len() - 1;
                    if path.len() > 1 {
                        module.paths.push((tokens[at].line, path));
                    }
                    length
                }
                _ => 1,
            };
        }
        module
    }

    /// Reads what stands behind `use` or inside of its braces.
    fn tree(&mut self, tokens: &[Token<'a>], prefix: &[&'a str], public: bool) {
        for part in parts(tokens) {
            let path = path_of(part);
            let whole = [prefix, &path].concat();
            let read = (2 * path.len()).saturating_sub(1);
            match part.get(read..).unwrap_or_default() {
                [colons, brace, inside @ .., _] if colons.text == "::" && brace.text == "{" => {
                    self.tree(inside, &whole, public);
                }
                [brace, inside @ .., _] if brace.text == "{" => self.tree(inside, &whole, public),
                behind => {
                    let own = whole.iter().rev().find(|name| **name != "self").copied();
                    let name = behind.get(1).map(|renamed| renamed.text).or(own).unwrap_or_default();
                    let line = part.first().map_or(0, |token| token.line);
                    self.uses.push(Use { line, name, path: whole, public });
                }
            }
        }
    }
}

/// The names at the beginning that `::` joins.
fn path_of<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let names = tokens.iter().step_by(2).take_while(|token| token.is_name()).count();
    let colons = tokens.iter().skip(1).step_by(2).take_while(|token| token.text == "::").count();
    tokens.iter().step_by(2).take(names.min(colons + 1)).map(|token| token.text).collect()
}

/// What commas outside of braces separate.
fn parts<'s, 'a>(tokens: &'s [Token<'a>]) -> Vec<&'s [Token<'a>]> {
    let mut depth = 0usize;
    let split = tokens.split(|token| {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && token.text == ","
    });
    split.filter(|part| !part.is_empty()).collect()
}
