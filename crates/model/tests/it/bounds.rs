//! Rows and model files with numbers that nobody measures: every question has an answer or a refusal, and soon.

use model::file::{self, Description};
use model::judge::judge;
use model::rows::{self, Row, Table};

const ODD: [&str; 10] = ["-1", "0", "1e-300", "0.3", "4095.5", "65537", "100000", "1e9", "1e18", "1e300"];

fn shipped() -> impl Iterator<Item = Description> {
    model::models().iter().map(|shipped| file::read(shipped.name, shipped.text).unwrap())
}

/// A row for each form that a model answers: the first of the tables that ship, or eight of everything.
fn questions(model: &Description) -> Vec<Table> {
    let tables = model::tables().iter().map(|shipped| rows::read(shipped.text).unwrap());
    let mut found: Vec<Table> = tables.filter(|table| model.answer_for(table).is_some()).collect();
    found.iter_mut().for_each(|table| table.rows.truncate(1));
    found.extend(model.answers.iter().map(|answer| {
        let columns: Vec<String> =
            answer.inputs.iter().cloned().chain(answer.metrics.iter().map(|metric| metric.column.clone())).collect();
        let cells = answer.inputs.iter().map(|input| (input.clone(), "8".to_owned())).collect();
        Table { columns, rows: vec![Row { id: "eight".to_owned(), line: 2, cells }] }
    }));
    found
}

#[test]
fn a_row_with_any_number_in_it_is_answered_or_refused() {
    for model in shipped() {
        for table in questions(&model) {
            for column in table.columns.clone() {
                // So many outstanding at a device with a host in front of it are answered, but not within a test.
                let slow = model.kind.word() == "queue-device" && column == "outstanding";
                for odd in ODD.into_iter().filter(|odd| !slow || *odd != "4095.5") {
                    let mut asked = table.clone();
                    asked.rows[0].cells.insert(column.clone(), odd.to_owned());
                    let _ = judge(&model, &asked, &[]);
                }
            }
        }
    }
}

#[test]
fn a_model_with_any_number_in_it_answers_or_refuses() {
    for model in shipped() {
        for asked in model.kind.asks() {
            for number in [asked.low, asked.high] {
                let Ok(changed) = model.changed(&[(asked.name.to_owned(), number.to_string())]) else { continue };
                for table in questions(&changed) {
                    let _ = judge(&changed, &table, &[]);
                }
            }
        }
    }
}

#[test]
fn so_many_threads_that_nobody_waits_for_the_answer_are_refused_with_the_limit() {
    let model = shipped().find(|model| model.name == "s824-fs840").unwrap();
    let text = "row_id,config_id,customers,threads,throughput_tps,response_ms\nx,s000-s824-fs840,6000,1e18,1000,7\n";
    let judgement = judge(&model, &rows::read(text).unwrap(), &[]).unwrap();
    assert!(judgement.rows.is_empty());
    assert_eq!(judgement.unanswered[0].1, "the column `threads` holds `1e18`; at most 65536 is answered");
}
