//! Where what is written first goes, and what stays there.
//!
//! The one idea: the first rule that fits a file decides; a file that none fits begins on the slow tier and goes where its heat says.

use std::str::FromStr;
use units::Bytes;

/// What a rule says of files that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// New extents begin on the fast tier, while there is room.
    Fast,
    /// New extents begin on the slow tier.
    Slow,
    /// Everything of it comes to the fast tier before the heat of others is looked at, and stays there.
    KeepFast,
    /// Nothing of it is moved to the fast tier.
    KeepSlow,
}

/// A rule: `keep-slow:class=temp` or `fast:name=*.idx,size<=64MiB`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    goes: Goes,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Name(String),
    Class(&'static [&'static str]),
    AtMost(u64),
    AtLeast(u64),
    Younger(f64),
    Older(f64),
}

/// What is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRule {
    /// It has another form.
    #[error(
        "a rule is `fast:`, `slow:`, `keep-fast:` or `keep-slow:` and conditions with `,` between: `name=GLOB`, `class=log`, `class=temp` or \
         `class=index`, `size<=SIZE`, `size>=SIZE`, `age<=TIME`, `age>=TIME`; got `{0}`"
    )]
    Form(String),
    /// Its glob has what shells read as a set of characters or of words.
    #[error("GLOB of `name=` has `*` for any text and `?` for any character, and neither sets nor escapes; got `{0}`")]
    Glob(String),
}

/// Names of files that databases use for one thing, by what that is.
const CLASSES: [(&str, &[&str]); 3] = [
    ("log", &["*pg_wal/*", "*ib_logfile*", "*#ib_redo*", "*-wal", "*-journal", "*binlog.*", "*aria_log*"]),
    ("temp", &["*pgsql_tmp*", "*ibtmp*", "*/#sql*", "*.tmp"]),
    ("index", &["*.MYI", "*.MAI", "*.idx", "*_idx*"]),
];

/// A file as rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// From the root of the mount on.
    pub(crate) name: &'a str,
    pub(crate) bytes: u64,
    /// Since it was written last, seconds.
    pub(crate) age_s: f64,
}

impl Rule {
    fn fits(&self, file: Seen<'_>) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::Name(glob) => fits(glob.as_bytes(), file.name.as_bytes()),
            Condition::Class(globs) => globs.iter().any(|glob| fits(glob.as_bytes(), file.name.as_bytes())),
            Condition::AtMost(bytes) => file.bytes <= *bytes,
            Condition::AtLeast(bytes) => file.bytes >= *bytes,
            Condition::Younger(seconds) => file.age_s <= *seconds,
            Condition::Older(seconds) => file.age_s >= *seconds,
        })
    }
}

/// What the first rule that fits says.
pub(crate) fn goes(rules: &[Rule], file: Seen<'_>) -> Option<Goes> {
    rules.iter().find(|rule| rule.fits(file)).map(|rule| rule.goes)
}

/// `*` is any text, `?` any character.
fn fits(glob: &[u8], name: &[u8]) -> bool {
    let (mut g, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match glob.get(g) {
            Some(b'*') => {
                star = Some((g, n));
                g += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => (g, n) = (g + 1, n + 1),
            _ => match star {
                // The last star takes one more.
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (g, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == b'*')
}

impl FromStr for Rule {
    type Err = NoRule;

    fn from_str(text: &str) -> Result<Rule, NoRule> {
        let no = || NoRule::Form(text.to_owned());
        let (word, conditions) = text.split_once(':').ok_or_else(no)?;
        let goes = match word.trim() {
            "fast" => Goes::Fast,
            "slow" => Goes::Slow,
            "keep-fast" => Goes::KeepFast,
            "keep-slow" => Goes::KeepSlow,
            _ => return Err(no()),
        };
        if conditions.split(',').any(|one| one.trim().starts_with("name=") && one.contains(['[', ']', '{', '}', '\\']))
        {
            return Err(NoRule::Glob(text.to_owned()));
        }
        let conditions = conditions.split(',').map(|one| condition(one.trim()).ok_or_else(no));
        Ok(Rule { goes, conditions: conditions.collect::<Result<_, _>>()? })
    }
}

fn condition(text: &str) -> Option<Condition> {
    let size = |text: &str| units::parse_bytes(text).ok().map(|Bytes(bytes)| bytes);
    let time = |text: &str| units::parse_duration(text).ok().map(|time| time.seconds());
    let rest = |before: &str| text.strip_prefix(before);
    if let Some(glob) = rest("name=").filter(|glob| !glob.is_empty()) {
        return Some(Condition::Name(glob.to_owned()));
    }
    if let Some(class) = rest("class=") {
        return CLASSES.iter().find(|(known, _)| *known == class).map(|(_, globs)| Condition::Class(globs));
    }
    None.or_else(|| rest("size<=").and_then(size).map(Condition::AtMost))
        .or_else(|| rest("size>=").and_then(size).map(Condition::AtLeast))
        .or_else(|| rest("age<=").and_then(time).map(Condition::Younger))
        .or_else(|| rest("age>=").and_then(time).map(Condition::Older))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules: Vec<Rule> =
            ["keep-slow:class=temp", "fast:name=*.idx,size<=64MiB", "slow:age>=1h", "keep-fast:class=log"]
                .map(|text| text.parse().unwrap())
                .into();
        let of = |name, bytes, age_s| goes(&rules, Seen { name, bytes, age_s });
        assert_eq!(of("base/pgsql_tmp/1", 0, 0.0), Some(Goes::KeepSlow));
        assert_eq!(of("a.idx", 1 << 20, 0.0), Some(Goes::Fast));
        assert_eq!(of("a.idx", 1 << 30, 7200.0), Some(Goes::Slow));
        assert_eq!(of("data/pg_wal/0001", 1 << 24, 0.0), Some(Goes::KeepFast));
        assert_eq!(of("base/16384/1", 1 << 30, 0.0), None);
        for text in ["", "fast", "fast:", "fast:name=", "warm:name=a", "fast:size<=much", "slow:class=hot"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
        for text in ["fast:name=[", "fast:size>=1KiB,name=a[bc]", "slow:name={a}", "slow:name=a\\*"] {
            assert_eq!(text.parse::<Rule>(), Err(NoRule::Glob(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn globs_fit_whole_names() {
        for (glob, name, wanted) in [
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("*b*", "abc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*aab", "aaaab", true),
        ] {
            assert_eq!(fits(glob.as_bytes(), name.as_bytes()), wanted, "{glob} {name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}", glob in "[a*?]{0,8}", name in "[ab]{0,12}") {
            let _ = text.parse::<Rule>();
            let _ = fits(glob.as_bytes(), name.as_bytes());
        }
    }
}
