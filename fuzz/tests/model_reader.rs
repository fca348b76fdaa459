//! A model file of any text is a model or a list of problems, and a model answers a question or refuses it.

use model::file;
use model::rows::Row;

/// Reads the bytes as a model file, and asks the model for eight of everything.
pub fn model_reader(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let model = match file::read("fuzz", text) {
        Ok(model) => model,
        Err(problems) => return assert!(!problems.to_string().is_empty(), "a refusal without a word"),
    };
    for answer in model.answers.iter().take(4) {
        let cells = answer.inputs.iter().map(|input| (input.clone(), "8".to_owned())).collect();
        let row = Row { cells, ..Row::default() };
        for metric in &answer.metrics {
            let _ = model.answer(&row, &metric.quantity);
        }
    }
    let again = file::write(&model);
    assert!(file::read("fuzz", &again).is_ok(), "what was written is not read back");
}
