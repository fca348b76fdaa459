//! Passwords: found in addresses, taken out of everything that is kept or shown, and put into addresses that have none.
//!
//! The one idea: a value of a parameter is shown only when the parameter is known to be harmless, so that a mistyped name
//! shows nothing either.
//!
//! What it does not do: it reads no file and no environment.

use reading::Problems;
use std::fmt::Write as _;

/// What stands in the place of a password. In an address it means that the password was left out.
pub const LEFT_OUT: &str = "***";

/// Parameters of addresses whose values may be shown.
const HARMLESS: &[&str] = &[
    "host",
    "port",
    "user",
    "dbname",
    "sslmode",
    "sslrootcert",
    "connect_timeout",
    "socket",
    "tls",
    "ssl-mode",
    "ssl-ca",
    "cleartext_password",
    "server-public-key-path",
    "get-server-public-key",
];

/// The beginnings of addresses of databases.
const SCHEMES: &[&str] = &["postgres", "postgresql", "mysql", "mariadb"];

/// A password, which nothing prints.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(LEFT_OUT)
    }
}

/// A URL with its password, if it has one, replaced, and every value among its parameters that could be one. What cannot be
/// a URL of a database is hidden rather than shown.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return without_slashes(url) };
    let (base, query) = parts(rest);
    let mut shown = format!("{scheme}://{}", authority_shown(base));
    if let Some(query) = query {
        let database = SCHEMES.iter().any(|known| scheme.ends_with(known));
        let pairs: Vec<String> = query.split('&').map(|pair| pair_shown(pair, database)).collect();
        let _ = write!(shown, "?{}", pairs.join("&"));
    }
    shown
}

/// A URL that shows no password, without the mark in its place: those of one server are equal whether a password was in the URL, came
/// beside it, or is yet to come.
pub(crate) fn left_away(shown: &str) -> String {
    let (base, query) = shown.split_once('?').map_or((shown, None), |(base, query)| (base, Some(query)));
    let base = base.replacen(&format!(":{LEFT_OUT}@"), "@", 1);
    let hidden = format!("password={LEFT_OUT}");
    let kept: Vec<&str> = query.iter().flat_map(|query| query.split('&')).filter(|pair| *pair != hidden).collect();
    if kept.is_empty() { base } else { format!("{base}?{}", kept.join("&")) }
}

/// What was meant to be a URL of a database and lacks a slash or the colon, or a parameter of a connection.
fn without_slashes(text: &str) -> String {
    let meant = |head: &str| SCHEMES.iter().any(|known| head.ends_with(known) || head.contains(&format!("{known}//")));
    if let (Some((head, _)), Some((_, place))) = (text.split_once(':'), text.rsplit_once('@'))
        && meant(head)
    {
        return format!("{head}:{LEFT_OUT}@{place}");
    }
    match text.split_once('=') {
        // That a password may travel in clear text is none.
        Some((key, _)) if HARMLESS.contains(&key) => text.to_owned(),
        Some((key, value)) if !value.is_empty() && (key.ends_with("password") || key.ends_with("pwd")) => {
            // The stop of the sentence in which it stands is none of it.
            let stop = value.strip_suffix([',', ':', ';', '.']).map_or("", |kept| &value[kept.len()..]);
            format!("{key}={LEFT_OUT}{stop}")
        }
        _ => text.to_owned(),
    }
}

/// What stands before the parameters, and the parameters. A password may hold a question mark that nobody encoded: without
/// an `@` before it, but with one behind it and a colon that begins no port, it is none that begins parameters.
fn parts(rest: &str) -> (&str, Option<&str>) {
    match rest.split_once('?') {
        Some((base, query)) if !base.contains('@') && query.contains('@') && secret_in(base).is_some() => (rest, None),
        Some((base, query)) => (base, Some(query)),
        None => (rest, None),
    }
}

/// Host and path as they are; who asks without the password.
fn authority_shown(base: &str) -> String {
    // The last @ ends the authority even when the password holds one.
    let (who, place) = base.rsplit_once('@').map_or((None, base), |(who, place)| (Some(who), place));
    match who {
        Some(who) => match who.split_once(':') {
            Some((user, _)) => format!("{user}:{LEFT_OUT}@{place}"),
            None => format!("{who}@{place}"),
        },
        // Somebody forgot the host: what should be a port is no number.
        None => match secret_in(place) {
            Some((user, path)) => format!("{user}:{LEFT_OUT}{path}"),
            None => place.to_owned(),
        },
    }
}

/// Of `USER:PASSWORD/PATH`, which has no host, what stands around the password; nothing when it is `HOST:PORT/PATH`.
fn secret_in(place: &str) -> Option<(&str, &str)> {
    if place.starts_with('[') {
        return None;
    }
    let (user, rest) = place.split_once(':')?;
    let (port, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (!port.bytes().all(|byte| byte.is_ascii_digit()) && !user.contains('/')).then_some((user, path))
}

fn pair_shown(pair: &str, database: bool) -> String {
    let named = |key: &str| ["pass", "pwd", "secret", "token", "key"].iter().any(|word| key.contains(word));
    match pair.split_once('=') {
        Some((key, _)) if HARMLESS.contains(&key) => pair.to_owned(),
        Some((key, _)) if key.contains('@') => LEFT_OUT.to_owned(),
        // What follows a password that was left out already belongs to the sentence.
        Some((_, value)) if value.strip_prefix(LEFT_OUT).is_some_and(|rest| matches!(rest, "," | ":" | ";" | ".")) => {
            pair.to_owned()
        }
        Some((key, _)) if database || named(&key.to_lowercase()) => format!("{key}={LEFT_OUT}"),
        None if database => LEFT_OUT.to_owned(),
        _ => pair.to_owned(),
    }
}

/// Any text with the passwords of all URLs in it replaced. A URL ends at a blank, a quotation mark or a bracket.
pub fn without_passwords(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\');
    let word = |word: &str| {
        let end = word.chars().next_back().filter(|c| ends(*c)).map_or(0, char::len_utf8);
        let (word, end) = word.split_at(word.len() - end);
        format!("{}{end}", word_without_password(word))
    };
    text.split_inclusive(ends).map(word).collect()
}

/// The same of one word.
fn word_without_password(word: &str) -> String {
    let letter = |c: char| c.is_ascii_alphanumeric();
    let slashes = word.find("://");
    let after = |mark: &str| SCHEMES.iter().find_map(|known| Some(word.find(&format!("{known}{mark}"))? + known.len()));
    let Some(at) = slashes.or_else(|| after(":")).or_else(|| after("//")) else { return without_slashes(word) };
    let scheme = word[..at].trim_end_matches(letter).len();
    format!("{}{}", &word[..scheme], without_password(&word[scheme..]))
}

/// The text of a study as it may be kept: every value that is a URL loses its password, however the text spells it, and so
/// does every URL in a comment.
pub fn kept_text(text: &str) -> String {
    let changed = |value: &str| {
        let shown = without_passwords(value);
        // A value that is a URL itself ends where the value ends.
        let whole = if is_url(value) { without_password(value) } else { shown };
        (whole != value).then_some(whole)
    };
    without_passwords(&reading::rewritten(text, changed))
}

fn is_url(value: &str) -> bool {
    value.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(char::is_whitespace))
}

/// Problems often repeat what was given, and any of it may be a URL.
pub(crate) fn hidden(mut problems: Problems) -> Problems {
    for problem in &mut problems.list {
        let hint = problem.hint.iter_mut();
        for text in [&mut problem.source, &mut problem.key, &mut problem.message].into_iter().chain(hint) {
            *text = without_passwords(text);
        }
    }
    problems
}

/// Whether a URL says a password.
pub fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let (base, query) = parts(rest);
    let said = |password: &str| !password.is_empty() && password != LEFT_OUT;
    let who = base.rsplit_once('@').and_then(|(who, _)| who.split_once(':')).is_some_and(|(_, word)| said(word));
    let named = |pair: &str| pair.strip_prefix("password=").is_some_and(said);
    who || query.is_some_and(|query| query.split('&').any(named))
}

/// A URL with that password, unless it says one itself.
pub(crate) fn with_password(url: &str, Secret(password): &Secret) -> String {
    if has_password(url) {
        return url.to_owned();
    }
    let mut with = format!("{url}{}password=", if url.contains('?') { '&' } else { '?' });
    for byte in password.bytes() {
        let _ = if byte.is_ascii_alphanumeric() {
            write!(with, "{}", char::from(byte))
        } else {
            write!(with, "%{byte:02X}")
        };
    }
    with
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_never_leaves_a_url() {
        for (url, shown) in [
            ("postgres://me:s3@cret@host:5432/db", "postgres://me:***@host:5432/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://host:5432/db", "postgres://host:5432/db"),
            ("mysql://[::1]:4000/db", "mysql://[::1]:4000/db"),
            ("mysql://host/db?password=x&tls=true", "mysql://host/db?password=***&tls=true"),
            ("a=postgres://me:x@h/db", "a=postgres://me:***@h/db"),
            // A password that should have been encoded, a host that was forgotten, names that were mistyped.
            ("postgres://me:s3?cret@host/db", "postgres://me:***@host/db"),
            ("postgres://me:s3/cret@host/db", "postgres://me:***@host/db"),
            ("postgres://me:s3cret/db", "postgres://me:***/db"),
            ("mysql://h/d?pasword=s3cret&s3cret", "mysql://h/d?pasword=***&***"),
            ("mysql://h/d?pass%77ord=s3cret", "mysql://h/d?pass%77ord=***"),
            ("a=postgres:/me:s3@cret@h/d", "a=postgres:***@h/d"),
            ("mysql:me:s3cret@h/d", "mysql:***@h/d"),
            ("postgres//me:s3cret@h/d", "postgres//me:***@h/d"),
            ("password=s3cret", "password=***"),
        ] {
            assert_eq!(without_password(url), shown);
            assert_eq!(without_password(shown), shown, "a second look changes it");
        }
    }

    #[test]
    fn urls_in_a_text_lose_their_passwords_and_the_text_stays() {
        let text = "# was postgres://me:s3cret@old/db, see https://a.example/page?id=7\nü://x dir = \"/srv/a\"";
        let kept = "# was postgres://me:***@old/db, see https://a.example/page?id=7\nü://x dir = \"/srv/a\"";
        assert_eq!(without_passwords(text), kept);
    }

    #[test]
    fn a_slip_in_an_address_shows_no_password() {
        let text = "look at `postgres//me:s3cret@h/d`, host=h user=me password=s3cret, and dir=/srv/a at 10:30@noon";
        let kept = "look at `postgres//me:***@h/d`, host=h user=me password=***, and dir=/srv/a at 10:30@noon";
        assert_eq!(without_passwords(text), kept);
        let advice = "with password=s3cret: no connection; allow it in the address with cleartext_password=true";
        let kept = "with password=***: no connection; allow it in the address with cleartext_password=true";
        assert_eq!(without_passwords(advice), kept);
        let told = "postgres://me:***@h/d?foo=***&password=***: it has the parameter foo";
        assert_eq!(without_passwords(told), told, "the colon is of the sentence");
        assert!(!without_passwords("mysql://me@h/d?password=***:s3cret").contains("s3cret"));
    }

    #[test]
    fn a_study_keeps_no_password_however_its_text_spells_the_url() {
        for url in [
            r#""postgres://me:s3cret@h/d""#,
            r"'postgres://me:s3cret@h/d'",
            r#""postgres:\u002F/me:s3\u0063ret@h/d""#,
            "\"\"\"postgres://me:s3\\\n   cret@h/d\"\"\"",
            r#""postgres://me:s3 cret@h/d""#,
            r#""postgres://me:s3\"cret@h/d""#,
            r#""postgres://me@h/d?password=s3cret""#,
        ] {
            let text =
                format!("title = \"t\"\n# mysql://me:s3cret@h/d\n[system.a]\nkind = \"postgres\"\nurl = {url} # x\n");
            let kept = kept_text(&text);
            assert!(!kept.contains("s3") && !kept.contains("cret") && !kept.contains("u0063"), "{kept}");
            assert!(kept.starts_with("title = \"t\"\n# mysql://me:***@h/d\n[system.a]\n"), "{kept}");
            assert!(kept.ends_with(" # x\n"), "{kept}");
            assert_eq!(kept_text(&kept), kept);
        }
        let plain = "title = \"no URL\"\n[system.a]\nurl = \"postgres://me@h:1/d?sslmode=disable\"\n";
        assert_eq!(kept_text(plain), plain);
    }

    #[test]
    fn a_url_without_a_password_is_given_one() {
        let secret = Secret("p@s&s".into());
        assert_eq!(with_password("mysql://me@h/d", &secret), "mysql://me@h/d?password=p%40s%26s");
        assert_eq!(
            with_password("mysql://me:***@h/d?tls=true", &secret),
            "mysql://me:***@h/d?tls=true&password=p%40s%26s"
        );
        for own in ["mysql://me:own@h/d", "mysql://me@h/d?password=own"] {
            assert_eq!(with_password(own, &secret), own);
        }
        assert_eq!(format!("{secret:?}"), "***");
    }
}
