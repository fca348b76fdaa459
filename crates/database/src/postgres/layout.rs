//! What lies in which tablespace of a private PostgreSQL with a layout.
//!
//! The one idea: what lies with the data is in the default tablespace, and the other tier is a tablespace of its name. Whatever lies
//! elsewhere than the layout says is moved, so that it can be asked for again and again.

use super::PostgresSession;
use crate::dialect::quoted;
use crate::server::postgres::Server;
use crate::{Failure, Session};
use study::{Engine, Layout, Tier};
use workload::transaction::Value;

/// Makes the tablespace of the other tier, where the layout has one and the server does not.
///
/// # Errors
/// The failure.
pub(super) fn tablespace(session: &mut PostgresSession, server: &Server) -> Result<(), Failure> {
    let Some((layout, Some(place))) = server.layout() else { return Ok(()) };
    let word = layout.data.other().word();
    if !session.query(&format!("SELECT 1 FROM pg_tablespace WHERE spcname = '{word}'"))?.is_empty() {
        return Ok(());
    }
    let place = place.to_string_lossy().replace('\'', "''");
    session.script(&format!("CREATE TABLESPACE \"{word}\" LOCATION '{place}'"))
}

/// Moves the tables and indexes of a schema to where the layout says that they lie.
///
/// # Errors
/// The failure.
pub(super) fn place(session: &mut PostgresSession, schema: &str, layout: &Layout) -> Result<(), Failure> {
    let lies = format!(
        "SELECT c.relname, c.relkind::text, coalesce(t.spcname::text, '') FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace \
         WHERE n.nspname = '{schema}' AND c.relkind IN ('r', 'i') ORDER BY c.relname"
    );
    for row in session.query(&lies)? {
        let [name, kind, now] = [0, 1, 2].map(|at| row.get(at).and_then(Value::text).unwrap_or_default());
        let (what, tier) =
            if kind == "r" { ("TABLE", layout.of_table(name)) } else { ("INDEX", layout.of_index(name)) };
        let wanted = name_of(tier, layout);
        if wanted.unwrap_or_default() != now {
            let (name, wanted) = (quoted(Engine::Postgres, name), wanted.unwrap_or("pg_default"));
            session.script(&format!("ALTER {what} {schema}.{name} SET TABLESPACE \"{wanted}\""))?;
        }
    }
    Ok(())
}

/// The tablespace of a tier; none for the default one.
fn name_of(tier: Tier, layout: &Layout) -> Option<&'static str> {
    (tier != layout.data).then(|| tier.word())
}
