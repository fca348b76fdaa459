//! The page counters of a SQLite connection.
//!
//! The one idea: SQLite counts pages for each connection, and only its C interface tells; that call is here because unsafe
//! code is here.

#![allow(unsafe_code)]

use database::Pages;
use database::sqlite::rusqlite::{Connection, ffi};

/// What the connection did with pages since it was opened.
pub(crate) fn pages(connection: &Connection) -> Pages {
    let counter = |which: i32| -> u32 {
        let (mut now, mut most) = (0, 0);
        // SAFETY: the handle belongs to a connection that is borrowed here and so is open; both places are written to and
        // outlive the call, and the last argument asks to reset nothing.
        let answer = unsafe { ffi::sqlite3_db_status(connection.handle(), which, &raw mut now, &raw mut most, 0) };
        if answer == ffi::SQLITE_OK { now.cast_unsigned() } else { 0 }
    };
    Pages {
        hits: counter(ffi::SQLITE_DBSTATUS_CACHE_HIT),
        misses: counter(ffi::SQLITE_DBSTATUS_CACHE_MISS),
        writes: counter(ffi::SQLITE_DBSTATUS_CACHE_WRITE),
    }
}
