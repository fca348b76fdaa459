//! What steps and loads ask for, held against what they touch on a real database.

use super::bench::{Bench, Cut, SPEC};
use crate::kind::{Demand, Transactions};
use crate::transaction::Caused;
use crate::warehouse::spec::{Users, Variables};
use crate::warehouse::statements::{periods, source};
use crate::warehouse::walk::Walks;
use crate::warehouse::{Scale, Spec};

fn said(spec: &Spec) -> Vec<Demand> {
    spec.classes().into_iter().filter_map(|class| class.demand).collect()
}

#[test]
fn steps_go_through_as_many_rows_as_they_say() {
    for aggregates in [0, 2] {
        let spec = Spec { aggregates, ..SPEC };
        let (bench, scale) = (Bench::filled(spec), Scale::of(&spec));
        let walks = Walks::new(77, 3, Users::Free, Variables::Differ);
        let mut seen = [(0.0, 0.0); 6];
        for step in (0..1_500).map(|n| walks.step(n)) {
            let cube = crate::warehouse::scale::CUBES[step.cube as usize];
            let level = source(&scale, step.view.rows);
            let (first, last) = periods(level, step.view.from, step.view.quarters);
            let (table, period) =
                level.map_or((cube.to_owned(), "day_id"), |level| (level.table(cube), level.key()[0]));
            let rows = bench.number(&format!("select count(*) from {table} where {period} between {first} and {last}"));
            let (count, sum) = &mut seen[step.made as usize];
            (*count, *sum) = (*count + 1.0, *sum + rows as f64);
        }
        for ((count, sum), said) in seen.into_iter().zip(said(&spec)) {
            let counted = Demand::over_sets(2.0, sum / count, 0.0);
            let off = said.statements / counted.statements - 1.0;
            assert!(off.abs() < 0.1 && said.changes == 0.0, "{said:?}, counted {counted:?}");
        }
    }
}

#[test]
fn changes_and_loads_change_as_many_rows_as_they_say() {
    let mut bench = Bench::filled(SPEC);
    let mut worker = bench.worker();
    let mut due: Vec<Caused> = Vec::new();
    bench.one(&mut *worker, (0, 0), Cut::Never, &mut due);
    let (mut seen, said) = ([(0.0, 0.0); 2], said(&SPEC));
    while seen[1].0 < 30.0 {
        let payload = due.remove(0).payload;
        let class = usize::from(worker.class(0, payload));
        let before = bench.number("select total_changes()");
        bench.one(&mut *worker, (0, payload), Cut::Never, &mut due);
        let (count, sum) = &mut seen[class - 6];
        (*count, *sum) = (*count + 1.0, *sum + (bench.number("select total_changes()") - before) as f64);
    }
    for ((count, sum), said) in seen.into_iter().zip(&said[6..]) {
        assert!((said.changes / (sum / count) - 1.0).abs() < 0.1, "{said:?}, counted {}", sum / count);
    }
}
