//! The null database: answers every call at once with nothing, so that what is measured is the generator.
//!
//! The one idea: behind the same door as the others, in this process or behind a socket with one request and one reply a
//! batch, which is the least that any server can cost a client.
//!
//! What it does not do: it holds no data. Steps that read a row see 0 and empty texts.

mod session;
mod socket;

use crate::dataset::{Found, Mark, State};
use crate::{DataSet, DatabaseError, Facts, Session, Texts};
use session::Silent;
use socket::Socketed;
use study::{At, DatabaseSpec, Engine, Sessions};

/// A database that answers at once.
#[derive(Clone, Debug)]
pub struct Database {
    place: String,
    socket: bool,
}

impl Database {
    /// The null database of a spec.
    pub fn of(spec: &DatabaseSpec) -> Database {
        Database { place: spec.shown(), socket: spec.at == (At::Nowhere { socket: true }) }
    }
}

impl crate::Database for Database {
    fn engine(&self) -> Engine {
        Engine::Null
    }

    fn session(&self, _texts: &Texts, _sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        if !self.socket {
            return Ok(Box::new(Silent));
        }
        let opened = Socketed::open();
        Ok(Box::new(
            opened.map_err(|error| DatabaseError::Refused { place: self.place.clone(), text: error.to_string() })?,
        ))
    }

    fn facts(&self) -> Facts {
        let (place, version) = (self.place.clone(), env!("CARGO_PKG_VERSION").to_owned());
        Facts { engine: Engine::Null, version, place, settings: Vec::new() }
    }

    fn claim(&self, _dataset: &DataSet) -> Result<crate::Claim, DatabaseError> {
        Ok(crate::Claim::nothing())
    }

    // Whatever data set is asked for is there: it would hold nothing.
    fn find(&self, dataset: &DataSet) -> Result<Found, DatabaseError> {
        Ok(Found::Ours(Mark { state: State::Ready, dataset: Some(dataset.clone()) }))
    }

    fn make(&self, _dataset: &DataSet) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn clear(&self, _dataset: &DataSet) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn keep_copy(&self, _dataset: &DataSet) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn restore(&self, _dataset: &DataSet) -> Result<(), DatabaseError> {
        Ok(())
    }
}
