//! Reports: the same answers from facts and from each aggregate.

use super::bench::{Bench, Cut, SPEC};
use crate::kind::{Around, Transactions};
use crate::transaction::{Ending, Value};
use crate::warehouse::Spec;

/// All rows that so many steps are answered with.
fn answered(spec: Spec, steps: u64) -> Vec<Vec<Vec<Value>>> {
    let mut bench = Bench::filled(spec);
    let mut worker = bench.worker();
    let mut step = |n| {
        let (ending, answers) = bench.one(&mut *worker, (n, 0), Cut::Never, &mut Vec::new());
        assert_eq!((ending, &bench.complaints), (Ending::Done, &Vec::new()));
        answers.last().rows().map(<[Value]>::to_vec).collect()
    };
    (0..steps).map(&mut step).collect()
}

#[test]
fn every_aggregate_answers_as_the_facts_do() {
    let plain = answered(Spec { aggregates: 0, ..SPEC }, 400);
    assert!(plain.iter().filter(|rows| !rows.is_empty()).count() > 300);
    assert!(plain.iter().any(|rows| rows.len() >= 40), "reports have tens of rows");
    for aggregates in 1..=3 {
        let other = answered(Spec { aggregates, ..SPEC }, 400);
        for (step, (one, other)) in plain.iter().zip(&other).enumerate() {
            assert_eq!(one, other, "step {step} with {aggregates} aggregates");
        }
    }
}

#[test]
fn a_database_that_holds_nothing_has_an_answer_to_every_report_and_none_to_a_change() {
    let around = Around { textual: false, sessions: 1, file: &|_| Ok(String::new()) };
    for aggregates in 0..=3 {
        let ready = Transactions::ready(&Spec { aggregates, ..SPEC }, &around).unwrap();
        let (statements, samples) = (ready.statements(None), ready.samples());
        assert_eq!(statements.len(), samples.len());
        for (statement, sample) in statements.iter().zip(&samples) {
            assert_eq!(statement.rows, sample.is_some(), "{}", statement.name);
        }
    }
}
