//! The configuration file of a private MariaDB: what keeps it private, and the settings of a study.

use crate::DatabaseError;
use crate::server::life::run;
use crate::server::settings::Rules;
use std::path::{Path, PathBuf};

/// Settings that keep the server private and findable; a study may not change them.
const OURS: &str = include_str!("configuration_ours.txt");

/// What our servers have beside a study's settings. Everything that makes a server faster or less safe is the study's.
const SETTINGS: &[(&str, &str)] = &[
    ("character-set-server", "utf8mb4"),
    ("local-infile", "1"),
    ("max-connections", "2000"),
    ("max-prepared-stmt-count", "1000000"),
    ("skip-name-resolve", "1"),
];

const RULES: Rules = Rules {
    ours: OURS,
    settings: SETTINGS,
    spelt: ('_', '-'),
    letters: |byte| byte.is_ascii_alphanumeric() || byte == b'-',
    name: "a name is letters, digits and hyphens",
};

/// The whole file. MySQL's own server wants more switched off.
pub(super) fn text(folder: &Path, settings: &[(String, String)], mysql: bool) -> Result<String, DatabaseError> {
    let all = RULES.checked(settings)?;
    let path = |path: PathBuf| path.display().to_string();
    let mut conf = format!(
        "[mysqld]\nskip-networking\ntmpdir={}\ndatadir={}\nsocket={}\npid-file={}\n",
        path(run(folder)),
        path(folder.join("data")),
        path(run(folder).join("socket")),
        path(run(folder).join("pid")),
    );
    if mysql {
        conf.push_str("mysqlx=OFF\ndisable-log-bin\n");
    }
    conf.extend(all.iter().map(|(key, value)| format!("{key}={value}\n")));
    Ok(conf)
}

/// The setting that a log blames, its value, and what is wrong with it.
pub(super) fn blamed(words: &str) -> Option<(&str, &str, &'static str)> {
    let quoted = |text: &'_ str| text.split('\'').next().map(str::len);
    if let Some(rest) = words.split("unknown variable '").nth(1) {
        let (key, value) = rest[..quoted(rest)?].split_once('=')?;
        return Some((key, value, "does not know it"));
    }
    let rest = words.split("Error while setting value '").nth(1)?;
    let (value, rest) = rest.split_once("' to '")?;
    Some((&rest[..quoted(rest)?], value, "does not take this value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_beginning_of_a_name_that_keeps_the_server_private_passes() {
        let refused = |key: &str| text(Path::new("/s"), &[(key.to_owned(), "1".to_owned())], false).is_err();
        for key in
            ["bind-addres", "skip-grant-table", "loose_skip_grant", "grant-tables", "loose-bind-address", "use", "por"]
        {
            assert!(refused(key), "{key}");
        }
        assert!(!refused("innodb_buffer_pool_size") && !refused("skip-log-bin") && !refused("skip_name_resolve"));
    }

    #[test]
    fn the_setting_that_a_log_blames_is_found() {
        let unknown = "x | [ERROR] mariadbd: unknown variable 'no-such=1' | [ERROR] Aborting";
        assert_eq!(blamed(unknown), Some(("no-such", "1", "does not know it")));
        let bad = "[ERROR] mariadbd: Error while setting value 'abc' to 'innodb-io-capacity' | [ERROR] Aborting";
        assert_eq!(blamed(bad), Some(("innodb-io-capacity", "abc", "does not take this value")));
        assert_eq!(blamed("[ERROR] Aborting"), None);
    }
}
