//! Stored procedures that belong to a data set.

/// The language of a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// PL/pgSQL: functions that give back rows.
    Postgres,
    /// MariaDB's SQL/PSM: procedures that give back one set of rows after the other.
    Mariadb,
}

/// A procedure in the text of its language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name, in the schema of the data set.
    pub name: String,
    /// Drops it, if it is there.
    pub drop: String,
    /// Makes it. One statement, with semicolons inside.
    pub create: String,
}

/// All procedures of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedures {
    /// A word that changes when a procedure does.
    pub version: String,
    /// The procedures.
    pub definitions: Vec<Definition>,
}
