//! Proves to the server who we are, by what it asks for: nothing, a password in clear text, md5 or SCRAM-SHA-256.
//!
//! The one idea: a server that began to prove that it knows the password must end that proof before it is believed, and none
//! is told the password itself where nothing verified protects it on its way.

use super::connect::Opening;
use crate::DatabaseError;
use crate::conversation::Fields;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;

/// Answers until the server says that it is satisfied.
pub(super) fn authenticate(opening: &mut Opening) -> Result<(), DatabaseError> {
    let mut scram = None;
    let mut proved = true;
    loop {
        let body = opening.expect(b'R')?;
        let mut fields = Fields(&body);
        match fields.i32() {
            Some(0) if proved => return Ok(()),
            Some(0) => return Err(unproved(opening)),
            Some(3) if !opening.protects() => return Err(unprotected(opening)),
            Some(3) => {
                let password = password(opening)?;
                opening.say(|out| frontend::password_message(password.as_bytes(), out))?;
            }
            Some(5) => {
                let salt = fields.take(4).and_then(|salt| salt.try_into().ok());
                let salt = salt.ok_or_else(|| opening.broke(io::ErrorKind::InvalidData.into()))?;
                let hash = md5_hash(opening.connect.user.as_bytes(), password(opening)?.as_bytes(), salt);
                opening.say(|out| frontend::password_message(hash.as_bytes(), out))?;
            }
            Some(10) => (scram, proved) = (Some(first(opening, fields.0)?), false),
            Some(11) => {
                let proof = scram.as_mut().ok_or_else(|| io::ErrorKind::InvalidData.into());
                let proof = proof.and_then(|scram: &mut ScramSha256| scram.update(fields.0).map(|()| scram.message()));
                let proof = proof.map_err(|problem| opening.broke(problem))?.to_vec();
                opening.say(|out| frontend::sasl_response(&proof, out))?;
            }
            Some(12) => {
                let proof = scram.as_mut().ok_or_else(|| io::ErrorKind::InvalidData.into());
                // A server that does not know the password cannot end this.
                proof
                    .and_then(|scram: &mut ScramSha256| scram.finish(fields.0))
                    .map_err(|problem| opening.broke(problem))?;
                proved = true;
            }
            other => return Err(unknown(opening, other)),
        }
    }
}

fn first(opening: &mut Opening, mechanisms: &[u8]) -> Result<ScramSha256, DatabaseError> {
    if !mechanisms.split(|byte| *byte == 0).any(|name| name == SCRAM_SHA_256.as_bytes()) {
        return Err(unknown(opening, Some(10)));
    }
    let scram = ScramSha256::new(password(opening)?.as_bytes(), ChannelBinding::unsupported());
    opening.say(|out| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out))?;
    Ok(scram)
}

fn password(opening: &Opening) -> Result<String, DatabaseError> {
    let connect = opening.connect;
    let text = || format!("it wants a password for {} and there is none", connect.user);
    let password = connect.password.as_ref().map(|secret| secret.0.clone());
    password.ok_or_else(|| DatabaseError::Password { place: connect.place(), text: text() })
}

fn unproved(opening: &Opening) -> DatabaseError {
    let text = "the server says that we are in before it proved that it knows the password; it may be another one";
    DatabaseError::Secure { place: opening.connect.place(), text: text.to_owned() }
}

fn unprotected(opening: &Opening) -> DatabaseError {
    let text = "the server wants the password itself, and nothing verified protects it on its way; ask for \
                sslmode=verify-full, or allow it in the address with cleartext_password=true";
    DatabaseError::Secure { place: opening.connect.place(), text: text.to_owned() }
}

fn unknown(opening: &Opening, method: Option<i32>) -> DatabaseError {
    let method = match method {
        Some(2) => "Kerberos 5".to_owned(),
        Some(7..=9) => "GSSAPI or SSPI".to_owned(),
        Some(10) => "a SASL mechanism other than SCRAM-SHA-256".to_owned(),
        other => format!("method {}", other.unwrap_or(-1)),
    };
    let text = format!("it authenticates by {method}; Prony knows passwords (SCRAM-SHA-256, md5, clear text)");
    DatabaseError::Password { place: opening.connect.place(), text }
}
