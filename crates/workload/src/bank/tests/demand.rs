//! What the pieces of a night ask for, held against what they touch on a real database.

use super::{Bench, SCALE, data};
use crate::bank::night::{Spec, statements};
use crate::kind::{Around, Demand, Share, Transactions};
use crate::transaction::{Begun, Ending};
use units::Nanos;

#[test]
fn the_pieces_of_a_night_ask_for_what_they_say() {
    let spec = Spec { scale: SCALE, commit_every: 100 };
    let mut bench = Bench::filled(&data(), statements());
    let ready = spec.ready(&Around { textual: false, sessions: 1, file: &|_| unreachable!("no file") }).ok().unwrap();
    let mut business =
        ready.business(&Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 5, epoch: 0, half: None });
    let (mut pieces, mut changed) = ([0.0; 3], [0.0; 3]);
    for n in 0..spec.work().unwrap() {
        let class = usize::from(business.class(n, 0));
        let before = bench.number("select total_changes()");
        bench.carry(&mut *business, 0, Begun { n, payload: 0, at: Nanos::ZERO }).unwrap();
        business.ended(0, Ending::Done, Nanos::ZERO, &mut Vec::new());
        pieces[class] += 1.0;
        changed[class] += (bench.number("select total_changes()") - before) as f64;
    }
    let balances = bench.number("select count(*) from balance where account_id <= 1000 and value_day < 20454") as f64;
    let items =
        bench.number("select count(*) from item where account_id <= 1000 and kind not in ('interest', 'charge')");
    let ledger = bench.number("select count(*) from ledger") as f64;
    let read = [balances + items as f64, items as f64, 1_000.0 + ledger];
    let said = spec.classes().into_iter().map(|class| class.demand.expect("what it asks for"));
    for (class, (said, statements)) in said.zip([13.0, 4.0, 2.0]).enumerate() {
        let over = if class == 2 { Demand::over_counted } else { Demand::over_sets };
        let counted = over(statements, read[class] / pieces[class], changed[class] / pieces[class]);
        let near = |said: f64, counted: f64| (said / counted - 1.0).abs() < 0.1;
        let all =
            [(said.statements, counted.statements), (said.lookups, counted.lookups), (said.changes, counted.changes)];
        assert!(all.into_iter().all(|(said, counted)| near(said, counted)), "{class}: {said:?}, counted {counted:?}");
    }
}
