//! The claim to a data set on a server that is given by URL: a lock of the server's own.

use super::Database;
use crate::DatabaseError;
use crate::claim::{Claim, myself};
use study::Engine;
use workload::transaction::Value;

/// A claim by a lock of the server's own, which ends with the session that holds it.
pub(super) fn by_server<D: Database + ?Sized>(database: &D, name: &str) -> Result<Claim, DatabaseError> {
    let place = database.place();
    Claim::by_session(&format!("{place} {name}"), || {
        let mut session = database.outside()?;
        let failed = |failure| DatabaseError::statement(&place, "claim the data set", failure);
        let words = match database.engine() {
            Engine::Mariadb => maria(name),
            _ => postgres(name),
        };
        session.script(&words.name).map_err(failed)?;
        if session.one(&words.take).map_err(failed)? == Some(Value::Int(1)) {
            return Ok(session);
        }
        let found = session.one(&words.holder).map_err(failed)?;
        let holder = found.as_ref().and_then(Value::text).unwrap_or("a session that has just ended").to_owned();
        Err(DatabaseError::Claimed { place: place.clone(), name: name.to_owned(), holder })
    })
}

/// What is said to a server.
struct Words {
    /// Lets others see who this is.
    name: String,
    /// Takes the lock, if nobody has it.
    take: String,
    /// Who has it.
    holder: String,
}

fn postgres(name: &str) -> Words {
    let key = number(name);
    // The server keeps the two halves of a number apart.
    let (high, low) = (key >> 32, key & 0xffff_ffff);
    Words {
        name: format!("SET application_name = '{}'", myself().replace('\'', "")),
        take: format!("SELECT pg_try_advisory_lock({})::int", key as i64),
        holder: format!(
            "SELECT coalesce(a.application_name, '') || ' (server process ' || l.pid || ')' FROM pg_locks l \
             LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted \
             AND l.objsubid = 1 AND l.classid = {high}::bigint::oid AND l.objid = {low}::bigint::oid"
        ),
    }
}

fn maria(name: &str) -> Words {
    let lock = format!("prony-{:016x}", number(name));
    Words {
        name: "DO 0".to_owned(),
        take: format!("SELECT GET_LOCK('{lock}', 0)"),
        holder: format!(
            "SELECT CONCAT('connection ', id, ' of ', user, ' from ', host) FROM information_schema.processlist \
             WHERE id = IS_USED_LOCK('{lock}')"
        ),
    }
}

/// A number for a name, by FNV-1a: the same in every version of Prony.
fn number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers_that_differ() {
        assert_eq!(number(""), 0xcbf2_9ce4_8422_2325);
        assert_ne!(number("prony_brokerage_desk_50_1_1"), number("prony_brokerage_desk_50_1_2"));
    }
}
