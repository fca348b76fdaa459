//! Reports: the same answers from facts and from each aggregate, and a path for everything on a database that holds nothing.

use super::bench::{Bench, Cut, SPEC, ready};
use crate::kind::Share;
use crate::transaction::{Answers, Batch, Begun, Call, Caused, Ending, Sample, Step, Turn, Value};
use crate::warehouse::Spec;
use std::collections::BTreeSet;
use units::Nanos;

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
fn a_database_that_holds_nothing_answers_users_and_loads_alike() {
    for aggregates in 0..=3 {
        let ready = ready(&Spec { aggregates, ..SPEC });
        let (statements, samples) = (ready.statements(None), ready.samples());
        assert_eq!(statements.len(), samples.len());
        for (statement, sample) in statements.iter().zip(&samples) {
            assert_eq!(statement.rows, sample.is_some(), "{}", statement.name);
        }
        let mut worker =
            ready.business(&Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 9, epoch: 0, half: None });
        let mut turns = vec![Turn::default(); samples.len()];
        let (mut due, mut kinds) = (Vec::<Caused>::new(), BTreeSet::new());
        for n in 0..40 {
            let payload = due.pop().map_or(0, |caused| caused.payload);
            kinds.insert(worker.class(n, payload));
            worker.begin(0, Begun { n, payload, at: Nanos(n) });
            let (mut batch, mut answers) = (Batch::default(), Answers::default());
            let ended = loop {
                match worker.step(0, &answers, &mut batch) {
                    Step::Send => answers.clear(),
                    ended => break ended,
                }
                batch.calls().for_each(|call| said(call, &samples, &mut turns, &mut answers));
                batch.clear();
            };
            assert_eq!(ended, Step::Done { rolled_back: false }, "{aggregates} {payload:x}");
            worker.ended(0, Ending::Done, Nanos(n), &mut due);
        }
        assert!(kinds.contains(&6) && kinds.contains(&7), "{kinds:?}");
    }
}

/// What a database that holds nothing says to a call.
fn said(call: Call<'_>, samples: &[Option<Sample>], turns: &mut [Turn], answers: &mut Answers) {
    if let Call::Statement { statement, .. } = call
        && let Some(sample) = &samples[usize::from(statement)]
    {
        return sample.answer(&mut turns[usize::from(statement)], answers);
    }
    answers.begin(0);
    answers.end(1);
}
