//! Settings of private servers that a study may give: those that move performance and can do nothing else.
//!
//! The one idea: a study may come from anybody. A server has settings that run commands, load libraries, write files or open
//! its door, and every version brings new ones, so that the list holds what is allowed, by full name, and nothing else.
//!
//! What it does not do: of a value it knows only that it is one line; the server refuses those that it does not take.

use crate::{At, DatabaseSpec, Engine};

/// The option that lets all others through.
pub const OPTION: &str = "--allow-server-settings";

const POSTGRES: &str = include_str!("server_settings/postgres.txt");
const MARIADB: &str = include_str!("server_settings/mariadb.txt");

/// All that SQLite takes here.
pub const SQLITE: &[&str] = &[
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "wal_autocheckpoint",
    "journal_size_limit",
    "temp_store",
];

/// The same in words.
pub fn sqlite() -> String {
    format!("SQLite's settings here are {}", SQLITE.join(", "))
}

/// Why a study may not give a database this setting; none when it may.
pub fn refusal(spec: &DatabaseSpec, name: &str, value: &str) -> Option<String> {
    match (spec.engine, &spec.at) {
        (Engine::Sqlite, _) => (!SQLITE.contains(&name)).then(|| format!("{}, got `{name}`", sqlite())),
        (engine, At::Local) if !listed(engine, name) => Some(format!(
            "a setting of {} that moves its performance, by its full name, got `{name}`; {OPTION} lets any through",
            engine.word()
        )),
        (_, At::Local) if value.contains(char::is_control) => {
            Some(format!("a value of `{name}` that is one line, got {value:?}"))
        }
        _ => None,
    }
}

fn listed(engine: Engine, name: &str) -> bool {
    let name = name.trim().to_lowercase().replace('-', "_");
    let list = match engine {
        Engine::Postgres => POSTGRES,
        Engine::Mariadb => MARIADB,
        Engine::Sqlite | Engine::Null => return true,
    };
    list.split_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_of_performance_settings_are_listed() {
        for name in ["shared_buffers", "Shared-Buffers", " fsync", "pg_stat_statements.track"] {
            assert!(listed(Engine::Postgres, name), "{name}");
        }
        for name in ["innodb_buffer_pool_size", "innodb-flush-method", "sync_binlog"] {
            assert!(listed(Engine::Mariadb, name), "{name}");
        }
        for name in
            ["bind-addres", "skip-grant-table", "innodb_buffer_pool_siz", "loose-sync_binlog", "plugin_load", ""]
        {
            assert!(!listed(Engine::Mariadb, name), "{name}");
        }
        assert!(!listed(Engine::Postgres, "shared_buffers\nport"));
    }

    /// What the manuals of both servers say runs a command, loads a library, names a file or a place, or opens the door.
    #[test]
    fn nothing_that_could_do_more_than_slow_down_the_server_is_listed() {
        let words = [
            "command",
            "librar",
            "preload_l",
            "path",
            "dir",
            "file_name",
            "filename",
            "plugin",
            "listen",
            "bind",
            "port",
            "socket",
            "ssl",
            "tls",
            "auth",
            "hba",
            "ident",
            "grant",
            "user",
            "init",
            "include",
            "provider",
            "tablespaces",
            "primary",
            "restore",
            "archive",
            "log_output",
            "general_log",
            "slow",
            "proxy",
            "infile",
            "secure",
            "key_file",
            "location",
            "data_home",
            "log_group",
            "roles",
            "host",
            "event_scheduler",
            "unix",
            "krb",
            "gss",
            "role",
        ];
        // Names that hold such a word and are none of these.
        let harmless = [
            "binlog_group_commit_sync_delay",
            "binlog_group_commit_sync_no_delay_count",
            "host_cache_size",
            "innodb_deadlock_report",
            "innodb_extend_and_initialize",
            "innodb_max_dirty_pages_pct",
            "innodb_max_dirty_pages_pct_lwm",
            "innodb_stats_include_delete_marked",
            "innodb_undo_tablespaces",
            "max_user_connections",
            "progress_report_time",
            "superuser_reserved_connections",
            "table_definition_cache",
            "thread_pool_dedicated_listener",
            "vacuum_cost_page_dirty",
            "wal_init_zero",
        ];
        for name in POSTGRES.split_whitespace().chain(MARIADB.split_whitespace()) {
            let found = words.iter().find(|word| name.contains(**word) && !harmless.contains(&name));
            assert_eq!(found, None, "{name}");
        }
    }
}
