//! The null database: answers every call at once with rows that are made up, so that what is measured is the generator.
//!
//! The one idea: behind the same door as the others, in this process or behind a socket with one request and one reply a
//! batch, which is the least that any server can cost a client.
//!
//! What it does not do: it holds no data. A statement gives the rows that its workload says it would give on a real one,
//! whatever its parameters are; those of a workload that says nothing give none. Nothing can be checked afterwards.

mod replies;
mod session;
mod socket;
#[cfg(test)]
mod tests;

use crate::mark::{Found, Mark, State};
use crate::{DataSet, DatabaseError, Facts, Session, Texts};
use replies::Replies;
use session::Answering;
use socket::Socket;
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

    fn session(&self, texts: &Texts, _sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        let refused = |error: std::io::Error| DatabaseError::Refused { place: self.place(), text: error.to_string() };
        Ok(Box::new(match self.socket {
            false => Answering::Here(Replies::new(&texts.samples)),
            true => Answering::There(Socket::open(&texts.samples).map_err(refused)?),
        }))
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
        Ok(Found::Ours(Mark { state: State::Ready, dataset: dataset.clone() }))
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
