//! Texts that say who somebody is or where a machine stands, by their looks.
//!
//! The one idea: a word is a run of the characters of names and addresses. `who@where`, an address and the host of a URL are
//! private wherever they stand; in sentences also a name with dots, a host with its port, and what is quoted behind `user`, `host`
//! and the like, because servers put them into their errors. Hiding too much is the lesser evil.
//!
//! What it does not do: it cannot know a host of one word that nothing points at.

use std::net::{IpAddr, Ipv6Addr};
use std::ops::Range;

/// Where names end that people give to machines; a name of three parts needs none of these.
const ENDINGS: [&str; 18] = [
    "com", "org", "net", "io", "dev", "cloud", "eu", "de", "uk", "fr", "ch", "at", "us", "local", "internal", "lan",
    "corp", "home",
];

/// What stands before the quoted name of somebody or of a machine.
const POINTS: [&str; 11] =
    ["user", "role", "host", "name", "at", "server", "database", "login", "address", "hostname", "machine"];

/// Names that everybody has, and words of studies: they tell nothing, and a study without them could not be read.
const TELLS_NOTHING: [&str; 11] =
    ["localhost", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "root", "local", "null", "prony", "test"];

/// Stretches of a text that are private, in order and apart; `free` says that it is a sentence.
pub(crate) fn private(text: &str, free: bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(of_name).map(|start| at + start) {
        let length = text[start..].find(|c| !of_name(c)).unwrap_or(text.len() - start);
        let word = trimmed(text, start..start + length);
        if is_private(&text[word.clone()], free) {
            found.push(word);
        }
        at = start + length;
    }
    if free {
        found.extend(quoted(text));
    }
    found.sort_by_key(|range| range.start);
    found.dedup_by(|next, before| {
        let overlap = next.start < before.end;
        before.end = if overlap { before.end.max(next.end) } else { before.end };
        overlap
    });
    found
}

/// The users, hosts and databases in a URL or in `host:port/database`: what its server may speak of.
pub(crate) fn parts_of_url(url: &str) -> Vec<String> {
    let (_, place) = url.split_once("://").unwrap_or(("", url));
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let (who, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = who.split(':').next().unwrap_or_default();
    let host = |host: &str| match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.to_owned(),
        _ => host.to_owned(),
    };
    let named = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = named.filter(|(key, _)| matches!(*key, "host" | "hostaddr" | "user" | "dbname"));
    let parts = hosts.split(',').map(host).chain([user.to_owned(), database.to_owned()]);
    let parts = parts.chain(named.map(|(_, value)| value.to_owned()));
    parts.map(|part| part.trim_matches(['[', ']']).to_owned()).filter(|part| tells(part)).collect()
}

fn tells(name: &str) -> bool {
    name.len() > 1 && !TELLS_NOTHING.contains(&name.to_ascii_lowercase().as_str())
}

/// Characters of names, addresses and what joins them.
fn of_name(c: char) -> bool {
    c.is_alphanumeric() || ".-_:@%+'[]".contains(c)
}

/// A word without the signs of the sentence around it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let word = &text[range.clone()];
    // `'who'@'where'` keeps its quotes.
    let signs: &[char] = if word.contains('@') { &['.', ':', '-', '[', ']'] } else { &['.', ':', '-', '[', ']', '\''] };
    let behind = word.trim_start_matches(|c| c != ':' && signs.contains(&c));
    let start = range.start + word.len() - behind.len();
    let kept = if behind.ends_with("::") { behind } else { behind.trim_end_matches(signs) };
    start..start + kept.len()
}

fn is_private(word: &str, free: bool) -> bool {
    let names = |part: &str| part.chars().any(char::is_alphanumeric) || part.contains('%');
    word.split_once('@').is_some_and(|(who, place)| names(who) && names(place))
        || is_address(word)
        || (free && (is_host(word) || word.rsplit_once(':').is_some_and(|(host, port)| is_port(port) && names(host))))
}

/// An address, with a port, a zone or the size of its net, or without.
fn is_address(word: &str) -> bool {
    let bare = word.split('%').next().unwrap_or(word).trim_matches(['[', ']', '\'']);
    let is_ip = |text: &str| text.parse::<IpAddr>().is_ok();
    let unported = || bare.rsplit_once(':').is_some_and(|(ip, _)| is_ip(ip.trim_matches(['[', ']'])));
    (is_ip(bare) && bare.parse() != Ok(Ipv6Addr::UNSPECIFIED)) || unported()
}

fn is_port(text: &str) -> bool {
    (4..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_host(word: &str) -> bool {
    let name = word.split(':').next().unwrap_or(word);
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let Some(last) = labels.last().filter(|_| labels.len() > 1 && labels.iter().all(is_label)) else {
        return false;
    };
    let ends = last.chars().all(char::is_alphabetic) && last.len() > 1;
    ends && (labels.len() > 2 || ENDINGS.contains(&last.to_ascii_lowercase().as_str()))
}

/// Quoted names behind a word that points at them, and what stands behind `user=` and `host=`.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, sign) in text.match_indices(['"', '\'', '`', '=']) {
        let before = text[..at].trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !POINTS.contains(&before.to_ascii_lowercase().as_str()) {
            continue;
        }
        let start = at + 1;
        let rest = &text[start..];
        let end = if sign == "=" { rest.find(|c| !of_name(c)).or(Some(rest.len())) } else { rest.find(sign) };
        if let Some(length) = end.filter(|length| tells(&rest[..*length])) {
            found.push(start..start + length);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, free: bool) -> Vec<&str> {
        private(text, free).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn who_and_where_are_found_in_errors_of_servers() {
        let cases: [(&str, &[&str]); 9] = [
            ("password authentication failed for user \"alice\"", &["alice"]),
            ("Access denied for user 'bob'@'10.1.2.%' (using password: YES)", &["'bob'@'10.1.2.%'"]),
            ("connection to server at \"db1\" (10.0.0.5), port 5432 failed", &["db1", "10.0.0.5"]),
            (
                "no pg_hba.conf entry for host \"fe80::1%eth0\", user \"carol\", database \"ledger\"",
                &["fe80::1%eth0", "carol", "ledger"],
            ),
            ("could not translate host name \"vault.acme.example\" to address", &["vault.acme.example"]),
            (
                "lost db7:5432; [2001:db8::7]:6543 is left, and 192.0.2.9:80.",
                &["db7:5432", "2001:db8::7]:6543", "192.0.2.9:80"],
            ),
            ("mail dave@acme.example, or ask host=build4 user=eve", &["dave@acme.example", "build4", "eve"]),
            ("moved to cellar.acme.com.", &["cellar.acme.com"]),
            ("server \"10.0.0.5\" is gone", &["10.0.0.5"]),
        ];
        for (text, private) in cases {
            assert_eq!(found(text, true), private, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_private_stretches_in_order(text in "[a-z0-9.:@%'\"=\\[\\] äuserhost]{0,60}", free: bool) {
            let found = private(&text, free);
            for range in &found {
                proptest::prop_assert!(text.get(range.clone()).is_some());
            }
            for pair in found.windows(2) {
                proptest::prop_assert!(pair[0].end <= pair[1].start);
            }
        }
    }

    #[test]
    fn ordinary_words_and_numbers_stay() {
        for text in [
            "p99 rose from 1.5 ms to 12.25 ms at 10:30:45; run.prony, module-0.dat, postgresql.conf",
            "io_uring took 4 KiB, e.g. 3.1 k/s :: 0.5, i.e. what user and host saw",
            "kernel 6.12.0-1, std::io, PostgreSQL 15.18, user postgres, `localhost`, 12:30",
        ] {
            assert_eq!(found(text, true), [""; 0], "{text}");
        }
        assert_eq!(found("[system.a.b]\nkind = \"x\"\nclass.name.of = 1", false), [""; 0]);
    }

    #[test]
    fn a_url_tells_its_hosts_its_user_and_its_database() {
        let parts = parts_of_url("postgres://alice:pw@db1:5432,db2/ledger?user=bob&sslmode=require&host=db3");
        assert_eq!(parts, ["db1", "db2", "alice", "ledger", "bob", "db3"]);
        assert_eq!(parts_of_url("postgres://postgres@localhost/test"), [""; 0]);
        assert_eq!(parts_of_url("db.example:6543"), ["db.example"]);
    }
}
