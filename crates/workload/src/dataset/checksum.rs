//! Checksums of tables that every engine computes alike.
//!
//! The one idea: each column is brought to a small whole number a row (a remainder, or the length of a text with weights
//! for a few letters), so that no sum overflows and no engine's type of a sum matters. One more number mixes all
//! columns of a row, so that values that changed rows are seen.
//!
//! What it does not do: it is no cryptographic digest. It takes texts to be of single bytes. Clocks are part of the rows; runs that must agree have to agree on time.

use super::{Column, Table, Type};

/// A prime; remainders by it fit a sum of a thousand million rows.
const MODULUS: u32 = 1_000_003;

/// The name of a table and a query for one row of whole numbers: the count of rows, one sum a column in their order, and one
/// sum over all columns of each row together.
pub(crate) fn checksum(table: &Table) -> (String, String) {
    let terms: Vec<String> = table.columns.iter().map(term).collect();
    let mixed: Vec<String> = terms.iter().zip(1..).map(|(term, place)| format!("{} * {term}", place * 7 + 3)).collect();
    let mixed = mixed.join(" + ");
    let mixed = format!("(({mixed}) % {MODULUS}) * (({mixed}) % 997)");
    let sums: Vec<String> = terms.iter().chain([&mixed]).map(|term| sum(term)).collect();
    (table.name.to_string(), format!("SELECT COUNT(*), {} FROM {}", sums.join(", "), table.name))
}

/// A sum as a small whole number: some engines give sums of whole numbers as decimals.
fn sum(term: &str) -> String {
    format!("CAST(COALESCE(SUM({term}), 0) % {MODULUS} AS INTEGER)")
}

/// A row's value as a whole number below [`MODULUS`] in size. Codes of a few letters are told apart by their letters,
/// longer texts by their lengths.
fn term(column: &Column) -> String {
    let name = column.name;
    match column.kind {
        Type::Int if column.null => format!("(COALESCE({name}, -1) % {MODULUS})"),
        Type::Int => format!("({name} % {MODULUS})"),
        Type::Text(most) if most <= 15 => {
            let letters = ["A", "B", "C", "L", "M", "N", "S", "T"];
            let weighed = letters
                .iter()
                .zip(1..)
                .map(|(letter, place)| format!("{} * LENGTH(REPLACE({name}, '{letter}', ''))", place * place + 1));
            format!("(LENGTH({name}) + {})", weighed.collect::<Vec<_>>().join(" + "))
        }
        Type::Text(_) | Type::Long => format!("LENGTH({name})"),
    }
}
