//! The two languages that procedures are written in, and where they differ.
//!
//! The one idea: everything that is not SQL of a statement (assignments, loops, arithmetic on texts) has one spelling for
//! each language here, so that the course of a transaction is written once.

use crate::dataset::Language;

/// What a variable or a parameter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole number of 64 bits.
    Int,
    /// A text of up to 255 letters.
    Text,
    /// A text without a bound.
    Long,
}

impl Language {
    /// Of two spellings the one of this language.
    pub(super) fn of<T>(self, postgres: T, mariadb: T) -> T {
        match self {
            Language::Postgres => postgres,
            Language::Mariadb => mariadb,
        }
    }

    /// The name of a type.
    pub(super) fn kind(self, kind: Kind) -> &'static str {
        match kind {
            Kind::Int => "bigint",
            // As the columns are, so that texts compare by their bytes.
            Kind::Text => self.of("text", "varchar(255) character set utf8mb4 collate utf8mb4_bin"),
            Kind::Long => self.of("text", "longtext character set utf8mb4 collate utf8mb4_bin"),
        }
    }

    /// A constant text between the fields of a row.
    pub(super) fn between_fields(self) -> &'static str {
        self.of("E'\\x1f'", "char(31 using utf8mb4)")
    }

    /// A constant text behind each row.
    pub(super) fn behind_row(self) -> &'static str {
        self.of("E'\\x1e'", "char(30 using utf8mb4)")
    }

    /// A value as a text, also when there is none.
    pub(super) fn shown(self, value: &str) -> String {
        let (value, none) = self.of((format!("({value})::text"), "E'\\x1a'"), (value.into(), "char(26 using utf8mb4)"));
        format!("coalesce({value}, {none})")
    }

    /// A whole number as a text.
    pub(super) fn text(self, value: &str) -> String {
        self.of(format!("({value})::text"), format!("cast({value} as char)"))
    }

    /// A text as a whole number.
    pub(super) fn int(self, value: &str) -> String {
        self.of(format!("({value})::bigint"), format!("cast({value} as signed)"))
    }

    /// So many letters of a text, from a place that is counted from 0.
    pub(super) fn part(self, text: &str, from: &str, count: &str) -> String {
        let postgres = format!("substr({text}, ({from} + 1)::int, ({count})::int)");
        self.of(postgres, format!("substr({text}, {from} + 1, {count})"))
    }

    /// A quotient without its fraction, as Rust divides.
    pub(super) fn divided(self, dividend: &str, divisor: &str) -> String {
        format!("(({dividend}) {} ({divisor}))", self.of("/", "div"))
    }

    /// A share of an amount, as [`basis_points`](super::super::codes::basis_points) rounds it.
    pub(super) fn basis_points(self, amount: &str, points: &str) -> String {
        self.divided(&format!("({amount}) * {points} + 5000"), "10000")
    }
}
