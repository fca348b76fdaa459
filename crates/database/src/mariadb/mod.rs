//! Sessions and data sets on this engine: not built yet.
use crate::{Database, DatabaseError, OpenOptions};
use study::DatabaseSpec;
/// Opens it.
///
/// # Errors
/// Always.
pub fn open(spec: &DatabaseSpec, _options: &OpenOptions) -> Result<Box<dyn Database>, DatabaseError> {
    Err(DatabaseError::Address { place: spec.shown(), problem: "this engine is not built yet".to_owned() })
}
