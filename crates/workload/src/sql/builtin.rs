//! The three scripts that everybody knows, in our own text, and the four tables that they need.
//!
//! The one idea: tables and rows are values, like those of the brokerage house, so that `prony db fill` makes them on
//! every engine; they are those that `pgbench -i` makes, so that the scripts run on a data set of pgbench too.
//!
//! What it does not do: numbers are 64 bits wide here, and the moment in the history is a text, because the portable
//! tables know no other types.

use super::program::Script;
use crate::dataset::{Column, Table};
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

const fn text(name: &'static str, most: u16) -> Column {
    Column { null: true, ..Column::text(name, most) }
}

/// The four tables, in the order in which they are filled.
pub fn tables() -> Vec<Table> {
    let branches = [Column::int("bid"), Column::maybe("bbalance"), text("filler", 88)];
    let tellers = [Column::int("tid"), Column::maybe("bid"), Column::maybe("tbalance"), text("filler", 84)];
    let accounts = [Column::int("aid"), Column::maybe("bid"), Column::maybe("abalance"), text("filler", 84)];
    let parties = [Column::maybe("tid"), Column::maybe("bid"), Column::maybe("aid")];
    let moved = [Column::maybe("delta"), text("mtime", 40), text("filler", 22)];
    vec![
        Table::plain("pgbench_branches", branches.to_vec(), &["bid"]),
        Table::plain("pgbench_tellers", tellers.to_vec(), &["tid"]),
        Table::plain("pgbench_accounts", accounts.to_vec(), &["aid"]),
        // It grows with the run and is never looked up: it has no key.
        Table::plain("pgbench_history", [parties, moved].concat(), &[]),
    ]
}

/// The rows of a table at a scale, in the order of its key.
#[derive(Clone, Debug)]
pub struct Rows {
    /// How many rows a branch has.
    share: u64,
    count: u64,
    padded: bool,
    branch: bool,
}

/// The rows of one of the four tables; the history is empty.
pub fn rows(table: &str, scale: u32) -> Option<Rows> {
    let (share, padded) = match table {
        "pgbench_branches" => (1, false),
        "pgbench_tellers" => (TELLERS, false),
        "pgbench_accounts" => (ACCOUNTS, true),
        "pgbench_history" => (0, false),
        _ => return None,
    };
    let branch = table == "pgbench_branches";
    Some(Rows { share, count: share * u64::from(scale), padded, branch })
}

impl Rows {
    /// How many rows there are in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Row `n`, counted from 0, into `row`, which is empty.
    pub fn row(&self, n: u64, row: &mut Vec<Value>) {
        row.push(Value::Int(n as i64 + 1));
        if !self.branch {
            row.push(Value::Int((n / self.share.max(1)) as i64 + 1));
        }
        row.push(Value::Int(0));
        // Accounts are as wide as pgbench makes them; branches and tellers have no filler, so that there is room to grow.
        row.push(if self.padded { Value::Text(" ".repeat(84)) } else { Value::Null });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_a_row_of_its_columns_for_every_key() {
        for table in tables() {
            let rows = rows(&table.name, 2).unwrap();
            for number in (0..rows.count()).step_by(997) {
                let mut row = vec![];
                rows.row(number, &mut row);
                assert_eq!(row.len(), table.columns.len());
                assert_eq!(row[0], Value::Int(number as i64 + 1));
            }
        }
        assert_eq!(rows("pgbench_accounts", 2).unwrap().count(), 200_000);
    }

    #[test]
    fn accounts_and_tellers_belong_to_the_branch_of_their_number() {
        let mut row = vec![];
        rows("pgbench_accounts", 3).unwrap().row(100_000, &mut row);
        assert_eq!(row[..3], [Value::Int(100_001), Value::Int(2), Value::Int(0)]);
        assert_eq!(row[3], Value::Text(" ".repeat(84)));
        row.clear();
        rows("pgbench_tellers", 3).unwrap().row(9, &mut row);
        assert_eq!(row, [Value::Int(10), Value::Int(1), Value::Int(0), Value::Null]);
    }
}
