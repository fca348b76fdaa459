//! Rows of any text are a table or refused, and every model that ships answers each question of a table or refuses it.

use model::file;
use model::rows;

/// Reads the bytes as rows, and asks the models what the rows ask.
pub fn row_reader(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let table = match rows::read(text) {
        Ok(table) => table,
        Err(error) => return assert!(!error.to_string().is_empty(), "a refusal without a word"),
    };
    for shipped in model::models() {
        let model = file::read(shipped.name, shipped.text).expect("a model that ships can be read");
        let Some(answer) = model.answer_for(&table) else { continue };
        // One row after another is asked in the same way.
        for row in table.rows.iter().take(4) {
            for metric in &answer.metrics {
                if let Err(refusal) = model.answer(row, &metric.quantity) {
                    assert!(!refusal.to_string().is_empty(), "a refusal without a word");
                }
            }
        }
    }
}
