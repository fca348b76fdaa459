//! The role that scripts of a study have on a private server.
//!
//! The one idea: a role that owns a schema and nothing else may do there what it likes; commands and files of the server are
//! for superusers. What superusers do in the same database must then call nothing that the role made: it may make nothing in
//! the schemas in which their sessions look for names.

use crate::server::SCRIPTS;
use crate::server::postgres::USER;

/// Any number that nobody else locks: two who make the role at once would stand in each other's way.
const LOCK: u64 = 0x0070_726f_6e79;

/// What makes the role, or leaves it as it is, and lets it at the rows of the tables that are in a schema now. A schema of a
/// data set, and the common one, stay closed to objects of its own: what a superuser calls there must be ours. Triggers are
/// not for it either, since they run as whoever writes a row.
pub(super) fn role(schema: &str) -> String {
    format!(include_str!("scripts_role.sql"), LOCK = LOCK, SCRIPTS = SCRIPTS, USER = USER, schema = schema)
}
