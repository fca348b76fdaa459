//! Rows of any text are a table or refused, and every model that ships answers each question of a table or refuses it.

use model::file::{self, Description};
use model::rows::{self, Table};

thread_local! {
    /// Read once, because reading all of them takes a hundred times as long as their answers.
    static MODELS: Vec<Description> = model::models()
        .iter()
        .map(|shipped| file::read(shipped.name, shipped.text).expect("a model that ships can be read"))
        .collect();
}

/// Reads the bytes as rows, and asks the models what the rows ask.
pub fn row_reader(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match rows::read(text) {
        Ok(table) => MODELS.with(|models| models.iter().for_each(|model| ask(model, &table))),
        Err(error) => assert!(!error.to_string().is_empty(), "a refusal without a word"),
    }
}

fn ask(model: &Description, table: &Table) {
    let Some(answer) = model.answer_for(table) else { return };
    // One row after another is asked in the same way.
    for row in table.rows.iter().take(4) {
        for metric in &answer.metrics {
            if let Err(refusal) = model.answer(row, &metric.quantity) {
                assert!(!refusal.to_string().is_empty(), "a refusal without a word");
            }
        }
    }
}
