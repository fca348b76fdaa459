//! Takes private texts out of other texts.
//!
//! The one idea: the same text always gets the same stand-in, so that two systems named by their folders stay two. What
//! is private is collected first (values of private facts, places, targets, values of keys that name a place), and
//! whatever looks like an absolute path, an address or `who@where` is private too, and in sentences whatever looks like a host.
//!
//! What it does not do: it cannot know a host of one word that stands nowhere among the facts.

use crate::recognise::{parts_of_url, private};
use observation::RunFacts;
use std::cell::RefCell;
use std::collections::HashMap;

/// Keys of study files and settings whose values name a place.
const PLACE_KEYS: [&str; 9] = ["dir", "dirs", "path", "paths", "device", "devices", "host", "url", "id"];

/// Keys whose values name the folder of a tier, and may name a device before it.
const TIER_KEYS: [&str; 2] = ["slow", "fast"];

/// What addresses of databases begin with.
const SCHEMES: [&str; 4] = ["postgres", "postgresql", "mysql", "mariadb"];

/// What stands behind the scheme of an address that was taken out, before its number.
const HIDDEN: &str = "//private-";

/// Values of private facts that tell nothing, and would take ordinary words out of every text.
const TELLS_NOTHING: [&str; 6] = ["not observed", "unknown", "none", "yes", "no", "n/a"];

/// What follows a blank and a slash in ordinary texts: units of rates.
const UNITS: [&str; 5] = ["s", "min", "h", "d", "x"];

/// Knows what is private in one run.
#[derive(Debug)]
pub(crate) struct Scrubber {
    /// Longest first, so that a place is taken out whole before a part of it is.
    secrets: Vec<String>,
    /// Users, hosts and databases that are words of the study as well: private in sentences alone, or it could not be read.
    names: Vec<String>,
    stand_ins: RefCell<HashMap<String, usize>>,
}

impl Scrubber {
    pub(crate) fn of(facts: &RunFacts) -> Scrubber {
        let private = facts.systems.iter().flat_map(|system| &system.fingerprint).filter(|fact| fact.private);
        let mut secrets: Vec<String> = private.map(|fact| fact.value.clone()).collect();
        let text = &facts.study_text;
        let (names, parts): (Vec<String>, Vec<String>) =
            named_in(facts).into_iter().partition(|name| is_word_of(text, name));
        secrets.extend(parts);
        let placed = facts.systems.iter().filter(|system| matches!(system.kind.as_str(), "file" | "device"));
        secrets.extend(placed.flat_map(|system| whole_and_parts(&system.place)));
        // A system that the user did not name bears the name of its folder.
        let named = facts.systems.iter().filter(|system| {
            whole_and_parts(&system.place).any(|place| place.rsplit('/').next() == Some(system.name.as_str()))
        });
        secrets.extend(named.map(|system| system.name.clone()));
        secrets.extend(facts.targets.iter().filter_map(|target| place_of(target)).flat_map(whole_and_parts));
        for text in facts.settings.iter().chain([&facts.study_text]) {
            secrets.extend(place_values(text));
        }
        secrets.retain(|secret| {
            secret.chars().count() > 1
                && secret.chars().any(char::is_alphanumeric)
                && !TELLS_NOTHING.contains(&secret.as_str())
        });
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Scrubber { secrets, names, stand_ins: RefCell::default() }
    }

    /// The text without what is private.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.cleaned(text, false)
    }

    /// The same for a sentence, in which a host or a user may stand that nobody named before.
    pub(crate) fn clean_sentence(&self, text: &str) -> String {
        let text = self.cleaned(text, true);
        self.names.iter().fold(text, |text, name| self.replace(&text, name))
    }

    fn cleaned(&self, text: &str, free: bool) -> String {
        let (places, words): (Vec<_>, Vec<_>) = self.secrets.iter().partition(|secret| secret.contains('/'));
        let text = places.into_iter().fold(text.to_owned(), |text, secret| self.replace(&text, secret));
        let text = self.replace_paths(&text);
        let text = self.replace_recognised(&text, free);
        words.into_iter().fold(text, |text, secret| self.replace(&text, secret))
    }

    fn replace_recognised(&self, text: &str, free: bool) -> String {
        let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
        for range in private(text, free) {
            clean.push_str(&text[at..range.start]);
            clean.push_str(&self.stand_in(&text[range.clone()]));
            at = range.end;
        }
        clean + &text[at..]
    }

    fn stand_in(&self, secret: &str) -> String {
        let mut known = self.stand_ins.borrow_mut();
        let next = known.len() + 1;
        let number = known.entry(secret.to_owned()).or_insert(next);
        match secret.split_once("://") {
            // A study in which it stands is read again.
            Some((scheme, _)) if SCHEMES.contains(&scheme) => format!("{scheme}:{HIDDEN}{number}"),
            _ => format!("(private {number})"),
        }
    }

    /// Replaces every occurrence that is not a part of a longer word.
    fn replace(&self, text: &str, secret: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(secret) {
            let (before, found) = rest.split_at(at);
            let behind = &found[secret.len()..];
            clean.push_str(before);
            let inside = joins(clean.chars().next_back(), secret.chars().next())
                || joins(secret.chars().next_back(), behind.chars().next());
            clean.push_str(if inside { secret } else { "" });
            if !inside {
                clean.push_str(&self.stand_in(secret));
            }
            rest = behind;
        }
        clean + rest
    }

    /// Replaces whatever looks like an absolute path, or like the part of a URL behind its scheme.
    fn replace_paths(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('/') {
            let (before, found) = rest.split_at(at);
            clean.push_str(before);
            let end = found.find(ends_path).unwrap_or(found.len());
            let (path, behind) = found.split_at(end);
            let starts =
                !clean.chars().next_back().is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | '.' | '%'));
            let name = path.trim_start_matches('/');
            let hidden = path.strip_prefix(HIDDEN).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
            let is_path = starts && !hidden && name.chars().any(char::is_alphanumeric) && !UNITS.contains(&name);
            clean.push_str(&if is_path { self.stand_in(path) } else { path.to_owned() });
            rest = behind;
        }
        clean + rest
    }
}

/// Users, hosts and databases of all servers.
fn named_in(facts: &RunFacts) -> Vec<String> {
    let servers =
        facts.systems.iter().filter(|system| system.place.contains([':', '@'])).map(|system| system.place.clone());
    let urls = facts.targets.iter().filter_map(|target| place_of(target)).filter(|place| place.contains("://"));
    let texts = facts.settings.iter().chain([&facts.study_text]);
    let written = texts.flat_map(|text| place_values(text)).filter(|value| value.contains("://"));
    let mut names: Vec<String> =
        servers.chain(urls.map(str::to_owned)).chain(written).flat_map(|url| parts_of_url(&url)).collect();
    names.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    names.dedup();
    names
}

/// Whether a name is also a key, a table or a whole value of a study, which would lose its meaning without it.
fn is_word_of(study: &str, name: &str) -> bool {
    study.match_indices(name).any(|(at, _)| {
        let before = study[..at].trim_end_matches([' ', '\t']).chars().next_back().unwrap_or('\n');
        let behind = study[at + name.len()..].trim_start_matches([' ', '\t']).chars().next().unwrap_or('\n');
        let is_key = "\n.[{,".contains(before) && "=.]".contains(behind);
        is_key || ("\"'".contains(before) && before == behind)
    })
}

fn joins(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric)
}

fn ends_path(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | ')' | ']' | '}' | '>' | '|')
}

/// A list of places, and each of them.
fn whole_and_parts(places: &str) -> impl Iterator<Item = String> {
    places.split(',').chain([places]).map(|place| place.trim().to_owned())
}

/// The place in `NAME=KIND:PLACE,PLACE`, of which only the place must be there. Null and scripted systems have none.
fn place_of(target: &str) -> Option<&str> {
    let unnamed = match target.split_once('=') {
        Some((name, rest)) if !name.contains(':') => rest,
        _ => target,
    };
    match unnamed.split_once(':') {
        Some(("file" | "device", place)) => Some(place),
        Some(("null" | "scripted", _)) => None,
        // The name of a model that ships says nothing of anybody; a file of one's own has a path.
        Some(("model", model)) => Some(model).filter(|model| model.contains('/') || model.ends_with(".toml")),
        _ => Some(unnamed).filter(|place| *place != "null"),
    }
}

/// The values behind the keys that name a place: quoted strings up to the end of the line or of the list, or, in a
/// setting, everything behind the equals sign.
fn place_values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    for (at, _) in text.match_indices('=') {
        let key = text[..at].trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
        let tier = key.is_some_and(|key| TIER_KEYS.contains(&key));
        if !tier && !key.is_some_and(|key| PLACE_KEYS.contains(&key)) {
            continue;
        }
        let value = text[at + 1..].trim_start();
        let end = if value.starts_with('[') { value.find(']') } else { value.find('\n') };
        let strings = strings(&value[..end.unwrap_or(value.len())]);
        match tier {
            // Behind the device of a tier stands its folder. One that is called in a word may be called like its tier.
            true => values.extend(
                strings
                    .iter()
                    .filter_map(|one| Some(one.rsplit(':').next()?.to_owned()))
                    .filter(|one| one.contains('/')),
            ),
            false => values.extend(strings),
        }
    }
    values
}

/// The quoted strings of a value, or the bare value when it has none; a string that goes on behind its comma belongs to
/// another key of an inline table, and hiding too much is the lesser evil.
fn strings(value: &str) -> Vec<String> {
    if !value.contains(['"', '\'']) {
        return value.trim_matches(['[', ' ']).split(',').map(|part| part.trim().to_owned()).collect();
    }
    let single = !value.starts_with('[');
    let quoted = value.split(['"', '\'']).skip(1).step_by(2).map(str::to_owned);
    if single { quoted.take(1).collect() } else { quoted.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::{Fact, SystemFacts};

    fn scrubber() -> Scrubber {
        let fact = |key: &str, value: &str, private| Fact { key: key.into(), value: value.into(), private };
        Scrubber::of(&RunFacts {
            targets: vec!["file:scratch/here".into()],
            settings: vec!["target.dir=old place".into()],
            study_text: "[system.a]\ndirs = [\"one dir\", 'two']\nsize = \"4 GiB\"\n\
                         [system]\nb = { kind = \"device\", path = \"disk7\", title = \"kept\" }\n"
                .into(),
            systems: vec![SystemFacts {
                kind: "file".into(),
                place: "/srv/big disk/lab".into(),
                fingerprint: vec![
                    fact("host.name", "gold", true),
                    fact("disk.serial", "S3EVNX0J", true),
                    fact("kernel", "6.1", false),
                    fact("disk.wwn", "not observed", true),
                ],
                ..SystemFacts::default()
            }],
            ..RunFacts::default()
        })
    }

    #[test]
    fn places_hosts_and_serials_go_and_ordinary_words_stay() {
        let scrubber = scrubber();
        let clean =
            scrubber.clean("gold wrote /srv/big disk/lab/x at 12 k/s, 87.2 /s; golden is not observed; S3EVNX0J");
        assert_eq!(
            clean,
            "(private 3) wrote (private 1)/x at 12 k/s, 87.2 /s; golden is not observed; (private 2)"
                .replace("(private 3)", &scrubber.clean("gold"))
                .replace("(private 2)", &scrubber.clean("S3EVNX0J"))
                .replace("(private 1)", &scrubber.clean("/srv/big disk/lab"))
        );
        assert_ne!(scrubber.clean("gold"), scrubber.clean("S3EVNX0J"));
    }

    #[test]
    fn values_of_keys_that_name_a_place_are_private_in_any_spelling() {
        for secret in ["one dir", "two", "disk7", "old place", "scratch/here"] {
            assert!(!scrubber().clean(&format!("it was `{secret}`.")).contains(secret), "{secret}");
        }
        assert_eq!(scrubber().clean("4 GiB, kept, device"), "4 GiB, kept, device");
    }

    #[test]
    fn an_address_of_a_database_stays_one_that_is_read() {
        let url = "postgres://alice@db1.corp.example/shop?sslmode=require";
        let text = format!("[system.db]\nkind = \"postgres\"\nurl = \"{url}\"\n");
        let scrubber = Scrubber::of(&RunFacts { study_text: text.clone(), ..RunFacts::default() });
        assert_eq!(scrubber.clean(&text), text.replace(url, "postgres://private-1"));
        assert_eq!(scrubber.clean("postgres://private-1"), "postgres://private-1");
    }

    #[test]
    fn the_place_of_a_target_is_found_in_any_form() {
        let places =
            ["a=file:x", "file:x", "x", "a=x", "device:x", "null:", "scripted:service=1ms", "a=null:"].map(place_of);
        let x = Some("x");
        assert_eq!(places, [x, x, x, x, x, None, None, None]);
    }

    #[test]
    fn the_same_path_gets_the_same_stand_in_and_another_path_another() {
        let scrubber = scrubber();
        let clean = scrubber.clean("/mnt/a /mnt/b /mnt/a postgres://db.example.org/x");
        assert_eq!(clean, "(private 1) (private 2) (private 1) postgres:(private 3)");
    }
}
