//! The user that scripts of a study have on a private server.
//!
//! The one idea: a user who has a database of its own, and no privilege on the server as a whole, may do there what it likes;
//! files of the server are for who has the privilege `FILE`. In other databases it reaches rows alone: a column that it could
//! change, a view or a trigger would be worked out with the privileges of whoever writes or reads it next.

use crate::server::SCRIPTS;
use crate::{Failure, Session};
use workload::transaction::Value;

/// The databases that servers bring along, and that of the user.
const OTHERS: &str = "SELECT schema_name FROM information_schema.schemata \
    WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema', 'prony_script')";

/// Makes the user, or leaves it as it is, and lets it at the rows of the tables that are there. Its sessions read what their
/// statements have cost themselves.
///
/// # Errors
/// The failure.
pub(super) fn admit(session: &mut dyn Session) -> Result<(), Failure> {
    let who = format!("'{SCRIPTS}'@'localhost'");
    let own = granted(SCRIPTS);
    session.script(&format!(
        "CREATE DATABASE IF NOT EXISTS {SCRIPTS} CHARACTER SET utf8mb4; CREATE USER IF NOT EXISTS {who}; \
         GRANT ALL ON {own} TO {who}; GRANT SELECT ON performance_schema.* TO {who}"
    ))?;
    for row in session.query(OTHERS)? {
        let Some(name) = row.first().and_then(Value::text) else { continue };
        let rows = "SELECT, INSERT, UPDATE, DELETE, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE";
        session.script(&format!("GRANT {rows} ON {} TO {who}", granted(name)))?;
    }
    Ok(())
}

/// All of a database in a grant, where `_` and `%` of its name would stand for others too.
fn granted(name: &str) -> String {
    let plain = name.replace('`', "``").replace('_', "\\_").replace('%', "\\%");
    format!("`{plain}`.*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_for_one_database_and_for_none_that_is_called_alike() {
        assert_eq!(granted("a_b%c`d"), "`a\\_b\\%c``d`.*");
    }
}
