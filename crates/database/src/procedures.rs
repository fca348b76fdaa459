//! The stored procedures of a data set, made in its own schema beside its tables.
//!
//! The one idea: the mark of the data set says which version of them is there; another one is replaced, and a data set that
//! has none yet gets them when they are first asked for. They go with the schema.
//!
//! What it does not do: it writes no procedure; their texts come from `workload`.

use crate::mark::TABLE;
use crate::{DataSet, Database, DatabaseError, Failure, Session, Texts};
use study::Sessions;
use workload::dataset::{Language, Procedures};

/// The fact of the mark that holds their version.
const FACT: &str = "procedures";

/// Sees to it that the procedures of a data set, where it has some, are there as this version of Prony writes them; whether any had
/// to be made. The data set must be filled.
///
/// # Errors
/// When the user may not make them, the server is none that understands them, or it refuses.
pub fn see_to(database: &dyn Database, dataset: &DataSet) -> Result<bool, DatabaseError> {
    let Some(language) = database.engine().language() else { return Ok(false) };
    let Some(procedures) = dataset.procedures(language) else { return Ok(false) };
    let facts = database.facts();
    if language == Language::Mariadb && !facts.version.to_lowercase().contains("mariadb") {
        let needed = "MariaDB for stored procedures (or procedures = false)".to_owned();
        return Err(DatabaseError::Version { place: facts.place, needed, found: facts.version });
    }
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default())?;
    let action = "make stored procedures in the schema of the data set";
    let failed = |failure| DatabaseError::statement(&database.place(), action, failure);
    let known = known(&mut *session).map_err(failed)?.as_deref() == Some(procedures.version.as_str());
    if known && !(language == Language::Mariadb && strange(&mut *session).map_err(failed)?) {
        return Ok(false);
    }
    make(&mut *session, &procedures).map_err(failed)?;
    Ok(true)
}

/// The version that the mark knows.
fn known(session: &mut dyn Session) -> Result<Option<String>, Failure> {
    session.text(&format!("SELECT value FROM {TABLE} WHERE fact = '{FACT}'"))
}

/// Whether somebody else made one of them, which would do as he likes with our rights. In PostgreSQL nothing of a schema is touched
/// in which such a one is.
fn strange(session: &mut dyn Session) -> Result<bool, Failure> {
    let sql = "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE() \
               AND security_type = 'INVOKER' AND definer <> CURRENT_USER() LIMIT 1";
    Ok(session.one(sql)?.is_some())
}

/// Makes all of them. The mark loses its word first and gets it last, so that what is cut off in between is made again.
fn make(session: &mut dyn Session, procedures: &Procedures) -> Result<(), Failure> {
    session.script(&format!("DELETE FROM {TABLE} WHERE fact = '{FACT}'"))?;
    for definition in &procedures.definitions {
        session.script(&definition.drop)?;
        session.script(&definition.create)?;
    }
    session.script(&format!("INSERT INTO {TABLE} (fact, value) VALUES ('{FACT}', '{}')", procedures.version))
}
