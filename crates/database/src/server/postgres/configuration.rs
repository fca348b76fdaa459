//! The configuration file of a private server: what keeps it private, and the settings of a study.

use crate::DatabaseError;
use crate::server::life::run;
use crate::server::settings::Rules;
use std::path::Path;

/// Settings that keep the server private and findable; a study may not change them.
const OURS: &str = include_str!("configuration_ours.txt");

/// What our servers have beside a study's settings. Everything that makes a server faster or less safe is the study's.
/// What is left prepared when a run is killed must not keep a server from starting, whatever it is started for next.
const SETTINGS: &[(&str, &str)] =
    &[("max_connections", "1000"), ("max_prepared_transactions", "1000"), ("timezone", "UTC"), ("log_timezone", "UTC")];

const RULES: Rules = Rules {
    ours: OURS,
    settings: SETTINGS,
    spelt: ('-', '_'),
    letters: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'),
    name: "a name is letters, digits, underscores and dots",
};

/// Servers since version 14 say how long they write and flush their log.
const TIMED: (&str, &str) = ("track_wal_io_timing", "on");

/// The whole file.
pub(super) fn text(folder: &Path, settings: &[(String, String)], major: u32) -> Result<String, DatabaseError> {
    let mut all = RULES.checked(settings)?;
    if major >= 14 && !all.iter().any(|(key, _)| *key == TIMED.0) {
        all.push((TIMED.0.into(), TIMED.1));
    }
    let socket = quoted(&format!("\"{}\"", run(folder).display()));
    // A port of the environment would give its socket another name.
    let mut conf = format!(
        "listen_addresses = ''\nport = 5432\nunix_socket_directories = {socket}\nunix_socket_permissions = 0700\n"
    );
    conf.extend(all.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))));
    Ok(conf)
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// The setting that the server's log blames for not having started.
pub(super) fn blamed(log: &str) -> Option<DatabaseError> {
    log.lines().find_map(|line| {
        let (_, said) = line.split_once(": ")?;
        let said = said.trim();
        let signs =
            ["unrecognized configuration parameter", "invalid value for parameter", "is outside the valid range"];
        let needs = said.starts_with("parameter \"") && said.contains("requires");
        if !needs && !signs.iter().any(|sign| said.contains(sign)) {
            return None;
        }
        let mut quoted = said.split('"').skip(1).step_by(2);
        // Beyond a range, the value stands before the name.
        let key =
            said.split("parameter \"").nth(1).and_then(|rest| rest.split('"').next()).or_else(|| quoted.next())?;
        let value = said.split_once("\": \"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
        let (key, value, problem) = (key.to_owned(), value.to_owned(), format!("PostgreSQL says {said}"));
        Some(DatabaseError::Setting { key, value, problem })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &str, value: &str) -> Result<String, DatabaseError> {
        text(Path::new("/a b/c"), &[(key.to_owned(), value.to_owned())], 15)
    }

    #[test]
    fn a_setting_of_the_study_takes_the_place_of_ours() {
        let conf = set("max-connections", "7").unwrap();
        assert!(conf.contains("max_connections = '7'\n") && !conf.contains("max_connections = '1000'"));
        assert!(conf.contains("unix_socket_directories = '\"/a b/c/run\"'\n"));
        assert!(set("auto_explain.log_min_duration", "it's").unwrap().contains("= 'it''s'\n"));
    }

    #[test]
    fn the_log_is_timed_where_the_server_can_and_nobody_says_otherwise() {
        assert!(set("work_mem", "1MB").unwrap().contains("track_wal_io_timing = 'on'\n"));
        assert!(!text(Path::new("/a"), &[], 13).unwrap().contains("track_wal"));
        let off = set("track_wal_io_timing", "off").unwrap();
        assert_eq!(off.matches("track_wal_io_timing").count(), 1, "{off}");
    }

    #[test]
    fn what_would_open_the_server_or_leave_its_line_is_refused() {
        assert!(set("listen_addresses", "*").unwrap_err().to_string().contains("private"));
        assert!(set("a b", "1").unwrap_err().to_string().contains("letters"));
        assert!(set("work_mem", "1\nport = 1").unwrap_err().to_string().contains("one line"));
    }

    #[test]
    fn the_setting_that_the_log_blames_is_named() {
        let blame = |line: &str| blamed(line).map(|error| error.to_string()).unwrap_or_default();
        let log = "2026-01-01 [1] LOG:  unrecognized configuration parameter \"colour\" in file \"/x\" line 4";
        assert!(blame(log).starts_with("setting colour: "));
        let log = "2026-01-01 [1] LOG:  invalid value for parameter \"shared_buffers\": \"much\"";
        assert!(blame(log).starts_with("setting shared_buffers: ") && blame(log).ends_with("got \"much\""));
        let log = "[1] LOG:  1 is outside the valid range for parameter \"port\" (1024 .. 65535)";
        assert!(blame(log).starts_with("setting port: "));
        assert!(blamed("[1] LOG:  starting PostgreSQL 15").is_none());
    }
}
