//! The three scripts that everybody knows, in our own text, and the four tables that they need.
//!
//! The one idea: tables and rows are values, like those of the brokerage house, so that `prony db fill` makes them on
//! every engine; they are those that `pgbench -i` makes, so that the scripts run on a data set of pgbench too.
//!
//! What it does not do: numbers are 64 bits wide here, and the moment in the history is a text, because the portable
//! tables know no other types.

use super::program::Script;
use crate::dataset::{Table, tables as listed};
use crate::transaction::Value;

/// Accounts of one unit of scale.
pub const ACCOUNTS: u64 = 100_000;
/// Tellers of one unit of scale.
pub const TELLERS: u64 = 10;

/// Moves money of one account, teller and branch, and notes it.
pub const TPCB_LIKE: &str = "\
\\set aid random(1, 100000 * :scale)
\\set tid random(1, 10 * :scale)
\\set bid random(1, 1 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
COMMIT;
";

/// The same without tellers and branches, whose rows sessions wait for.
pub const SIMPLE_UPDATE: &str = "\
\\set aid random(1, 100000 * :scale)
\\set tid random(1, 10 * :scale)
\\set bid random(1, 1 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
COMMIT;
";

/// Looks up one account.
pub const SELECT_ONLY: &str = "\
\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
";

/// The script of that name, with weight 1.
pub fn script(name: &str) -> Option<Script> {
    let text = match name {
        "tpcb-like" => TPCB_LIKE,
        "simple-update" => SIMPLE_UPDATE,
        "select-only" => SELECT_ONLY,
        _ => return None,
    };
    Some(Script { name: name.to_owned(), text: text.to_owned(), weight: 1 })
}

/// The four tables, in the order in which they are filled. The history grows with the run and is never looked up: it has no key.
pub const TABLES: &[Table] = &listed! {
    pgbench_branches (bid int, bbalance maybe, filler maybe_text 88) key (bid);
    pgbench_tellers (tid int, bid maybe, tbalance maybe, filler maybe_text 84) key (tid);
    pgbench_accounts (aid int, bid maybe, abalance maybe, filler maybe_text 84) key (aid);
    pgbench_history (tid maybe, bid maybe, aid maybe, delta maybe, mtime maybe_text 40, filler maybe_text 22) key ();
};

/// How many rows of a table a branch has; the history begins empty, and there are no other tables.
pub fn share(table: &str) -> u64 {
    match table {
        "pgbench_branches" => 1,
        "pgbench_tellers" => TELLERS,
        "pgbench_accounts" => ACCOUNTS,
        _ => 0,
    }
}

/// Row `n`, counted from 0, of a table of which a branch has so many, into `row`, which is empty.
pub fn row(share: u64, n: u64, row: &mut Vec<Value>) {
    let key = Value::Int(n as i64 + 1);
    let branch = (share > 1).then(|| Value::Int((n / share) as i64 + 1));
    // Accounts are as wide as pgbench makes them; branches and tellers have no filler, so that there is room to grow.
    let filler = if share == ACCOUNTS { Value::Text(" ".repeat(84)) } else { Value::Null };
    row.extend([key].into_iter().chain(branch).chain([Value::Int(0), filler]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(table: &str, number: u64) -> Vec<Value> {
        let mut made = Vec::new();
        row(share(table), number, &mut made);
        made
    }

    #[test]
    fn each_table_has_a_row_of_its_columns_for_every_key() {
        for table in TABLES {
            for number in (0..2 * share(&table.name)).step_by(997) {
                let row = made(&table.name, number);
                assert_eq!(row.len(), table.columns.len());
                assert_eq!(row[0], Value::Int(number as i64 + 1));
            }
        }
        assert_eq!((share("pgbench_accounts"), share("pgbench_history"), share("another")), (100_000, 0, 0));
    }

    #[test]
    fn accounts_and_tellers_belong_to_the_branch_of_their_number() {
        let row = made("pgbench_accounts", 100_000);
        assert_eq!(row[..3], [Value::Int(100_001), Value::Int(2), Value::Int(0)]);
        assert_eq!(row[3], Value::Text(" ".repeat(84)));
        assert_eq!(made("pgbench_tellers", 9), [Value::Int(10), Value::Int(1), Value::Int(0), Value::Null]);
    }
}
