//! The tables of the brokerage house.
//!
//! The one idea: a table is a value, and every engine's DDL, every bulk load and every check is made from it. Money is whole
//! cents, moments are microseconds since 1970, days are days since 1970, so that all engines hold the same numbers.
//!
//! What it does not do: it writes no SQL.

use super::Preset;

pub use crate::table::{Column, Reference, Type};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Whether the small preset has it too.
    pub desk: bool,
    /// Its columns, in the order of bulk loads.
    pub columns: &'static [Column],
    /// Columns of the primary key.
    pub key: &'static [&'static str],
    /// References to other tables; one to a table that the preset does not have is left out.
    pub references: &'static [Reference],
    /// Columns of further indexes.
    pub indexes: &'static [&'static [&'static str]],
}

const fn int(name: &'static str) -> Column {
    Column { name, kind: Type::Int, null: false }
}

const fn text(name: &'static str, most: u16) -> Column {
    Column { name, kind: Type::Text(most), null: false }
}

const fn to(columns: &'static [&'static str], table: &'static str) -> Reference {
    Reference { columns, table }
}

/// The tables of a preset; a table comes after those that it refers to.
pub fn tables(preset: Preset) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| preset == Preset::House || table.desk)
}

/// The table of that name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// All 33 tables, referred-to ones first.
pub const TABLES: &[Table] = &[
    Table {
        name: "status",
        desk: false,
        columns: &[text("id", 4), text("name", 20)],
        key: &["id"],
        references: &[],
        indexes: &[],
    },
    Table {
        name: "postal_area",
        desk: false,
        columns: &[text("code", 12), text("town", 60), text("division", 60)],
        key: &["code"],
        references: &[],
        indexes: &[],
    },
    Table {
        name: "address",
        desk: false,
        columns: &[int("id"), text("line1", 80), text("line2", 80), text("postal_code", 12), text("country", 40)],
        key: &["id"],
        references: &[to(&["postal_code"], "postal_area")],
        indexes: &[],
    },
    Table {
        name: "levy",
        desk: false,
        columns: &[text("id", 4), text("name", 50), int("basis_points")],
        key: &["id"],
        references: &[],
        indexes: &[],
    },
    Table {
        name: "order_type",
        desk: false,
        columns: &[text("id", 3), text("name", 20), int("sells"), int("at_market")],
        key: &["id"],
        references: &[],
        indexes: &[],
    },
    Table {
        name: "exchange",
        desk: false,
        columns: &[
            text("id", 6),
            text("name", 60),
            int("opens"),
            int("closes"),
            int("securities"),
            text("description", 150),
            int("address_id"),
        ],
        key: &["id"],
        references: &[to(&["address_id"], "address")],
        indexes: &[],
    },
    Table {
        name: "sector",
        desk: false,
        columns: &[text("id", 2), text("name", 30)],
        key: &["id"],
        references: &[],
        indexes: &[&["name"]],
    },
    Table {
        name: "industry",
        desk: false,
        columns: &[text("id", 3), text("name", 50), text("sector_id", 2)],
        key: &["id"],
        references: &[to(&["sector_id"], "sector")],
        indexes: &[&["sector_id"], &["name"]],
    },
    Table {
        name: "fee",
        desk: false,
        columns: &[int("tier"), text("order_type", 3), int("cents")],
        key: &["tier", "order_type"],
        references: &[to(&["order_type"], "order_type")],
        indexes: &[],
    },
    Table {
        name: "commission_rate",
        desk: false,
        columns: &[
            int("tier"),
            text("order_type", 3),
            text("exchange_id", 6),
            int("from_quantity"),
            int("to_quantity"),
            int("basis_points"),
        ],
        key: &["tier", "order_type", "exchange_id", "from_quantity"],
        references: &[to(&["order_type"], "order_type"), to(&["exchange_id"], "exchange")],
        indexes: &[],
    },
    Table {
        name: "company",
        desk: false,
        columns: &[
            int("id"),
            text("name", 60),
            text("status", 4),
            text("industry_id", 3),
            text("rating", 4),
            int("address_id"),
            text("chief", 60),
            int("founded"),
            text("description", 150),
        ],
        key: &["id"],
        references: &[to(&["status"], "status"), to(&["industry_id"], "industry"), to(&["address_id"], "address")],
        indexes: &[&["name"], &["industry_id"]],
    },
    Table {
        name: "competitor",
        desk: false,
        columns: &[int("company_id"), int("rival_id"), text("industry_id", 3)],
        key: &["company_id", "rival_id", "industry_id"],
        references: &[to(&["company_id"], "company"), to(&["rival_id"], "company"), to(&["industry_id"], "industry")],
        indexes: &[],
    },
    Table {
        name: "financial",
        desk: false,
        columns: &[
            int("company_id"),
            int("year"),
            int("quarter"),
            int("started"),
            int("revenue_cents"),
            int("earnings_cents"),
            int("per_share_cents"),
            int("diluted_cents"),
            int("margin_bp"),
            int("inventory_cents"),
            int("assets_cents"),
            int("liabilities_cents"),
            int("shares"),
            int("shares_diluted"),
        ],
        key: &["company_id", "year", "quarter"],
        references: &[to(&["company_id"], "company")],
        indexes: &[],
    },
    Table {
        name: "article",
        desk: false,
        columns: &[
            int("id"),
            text("headline", 80),
            text("summary", 255),
            Column { name: "body", kind: Type::Long, null: false },
            int("at"),
            text("source", 30),
            text("author", 30),
        ],
        key: &["id"],
        references: &[],
        indexes: &[],
    },
    Table {
        name: "article_link",
        desk: false,
        columns: &[int("article_id"), int("company_id")],
        key: &["article_id", "company_id"],
        references: &[to(&["article_id"], "article"), to(&["company_id"], "company")],
        indexes: &[&["company_id"]],
    },
    Table {
        name: "security",
        desk: true,
        columns: &[
            text("symbol", 15),
            text("name", 70),
            text("status", 4),
            text("exchange_id", 6),
            int("company_id"),
            int("shares_out"),
            int("issued"),
            int("first_traded"),
            int("pe_x100"),
            int("high52_cents"),
            int("low52_cents"),
            int("dividend_cents"),
            int("yield_bp"),
        ],
        key: &["symbol"],
        references: &[to(&["status"], "status"), to(&["exchange_id"], "exchange"), to(&["company_id"], "company")],
        indexes: &[&["company_id"]],
    },
    Table {
        name: "quote",
        desk: true,
        columns: &[text("symbol", 15), int("at"), int("price_cents"), int("open_cents"), int("volume")],
        key: &["symbol"],
        references: &[to(&["symbol"], "security")],
        indexes: &[],
    },
    Table {
        name: "daily_price",
        desk: false,
        columns: &[
            text("symbol", 15),
            int("day"),
            int("close_cents"),
            int("high_cents"),
            int("low_cents"),
            int("volume"),
        ],
        key: &["symbol", "day"],
        references: &[to(&["symbol"], "security")],
        indexes: &[],
    },
    Table {
        name: "customer",
        desk: true,
        columns: &[
            int("id"),
            text("tax_id", 20),
            text("status", 4),
            text("last_name", 25),
            text("first_name", 20),
            int("tier"),
            int("born"),
            int("address_id"),
            text("phone", 24),
            text("email", 60),
        ],
        key: &["id"],
        references: &[to(&["status"], "status"), to(&["address_id"], "address")],
        indexes: &[&["tax_id"]],
    },
    Table {
        name: "customer_levy",
        desk: false,
        columns: &[int("customer_id"), text("levy_id", 4)],
        key: &["customer_id", "levy_id"],
        references: &[to(&["customer_id"], "customer"), to(&["levy_id"], "levy")],
        indexes: &[],
    },
    Table {
        name: "broker",
        desk: true,
        columns: &[int("id"), text("status", 4), text("name", 50), int("trades"), int("commission_cents")],
        key: &["id"],
        references: &[to(&["status"], "status")],
        indexes: &[&["name"]],
    },
    Table {
        name: "account",
        desk: true,
        columns: &[
            int("id"),
            int("customer_id"),
            int("broker_id"),
            text("name", 50),
            int("tax_status"),
            int("opening_cents"),
            int("balance_cents"),
        ],
        key: &["id"],
        references: &[to(&["customer_id"], "customer"), to(&["broker_id"], "broker")],
        indexes: &[&["customer_id"], &["broker_id"]],
    },
    Table {
        name: "access_grant",
        desk: false,
        columns: &[
            int("account_id"),
            text("tax_id", 20),
            text("rights", 4),
            text("last_name", 25),
            text("first_name", 20),
        ],
        key: &["account_id", "tax_id"],
        references: &[to(&["account_id"], "account")],
        indexes: &[],
    },
    Table {
        name: "watchlist",
        desk: false,
        columns: &[int("id"), int("customer_id")],
        key: &["id"],
        references: &[to(&["customer_id"], "customer")],
        indexes: &[&["customer_id"]],
    },
    Table {
        name: "watch_entry",
        desk: false,
        columns: &[int("watchlist_id"), text("symbol", 15)],
        key: &["watchlist_id", "symbol"],
        references: &[to(&["watchlist_id"], "watchlist"), to(&["symbol"], "security")],
        indexes: &[],
    },
    Table {
        name: "trade",
        desk: true,
        columns: &[
            int("id"),
            int("at"),
            text("status", 4),
            text("order_type", 3),
            int("is_cash"),
            text("symbol", 15),
            int("quantity"),
            int("bid_cents"),
            int("account_id"),
            text("placed_by", 50),
            Column { name: "price_cents", kind: Type::Int, null: true },
            int("fee_cents"),
            int("commission_cents"),
            int("tax_cents"),
            int("lifo"),
        ],
        key: &["id"],
        references: &[
            to(&["status"], "status"),
            to(&["order_type"], "order_type"),
            to(&["symbol"], "security"),
            to(&["account_id"], "account"),
        ],
        indexes: &[&["account_id", "at"], &["symbol", "at"]],
    },
    Table {
        name: "trade_event",
        desk: true,
        columns: &[int("trade_id"), text("status", 4), int("at")],
        key: &["trade_id", "status"],
        references: &[to(&["trade_id"], "trade"), to(&["status"], "status")],
        indexes: &[],
    },
    Table {
        name: "settlement",
        desk: true,
        columns: &[int("trade_id"), text("kind", 40), int("due"), int("amount_cents")],
        key: &["trade_id"],
        references: &[to(&["trade_id"], "trade")],
        indexes: &[],
    },
    Table {
        name: "cash_entry",
        desk: true,
        columns: &[int("trade_id"), int("at"), int("amount_cents"), text("description", 100)],
        key: &["trade_id"],
        references: &[to(&["trade_id"], "trade")],
        indexes: &[],
    },
    Table {
        name: "pending_order",
        desk: true,
        columns: &[
            int("trade_id"),
            text("order_type", 3),
            text("symbol", 15),
            int("quantity"),
            int("bid_cents"),
            int("broker_id"),
        ],
        key: &["trade_id"],
        references: &[
            to(&["trade_id"], "trade"),
            to(&["order_type"], "order_type"),
            to(&["symbol"], "security"),
            to(&["broker_id"], "broker"),
        ],
        indexes: &[&["symbol"], &["broker_id"]],
    },
    Table {
        name: "position",
        desk: true,
        columns: &[int("account_id"), text("symbol", 15), int("quantity")],
        key: &["account_id", "symbol"],
        references: &[to(&["account_id"], "account"), to(&["symbol"], "security")],
        indexes: &[],
    },
    Table {
        name: "lot",
        desk: true,
        columns: &[
            int("trade_id"),
            int("account_id"),
            text("symbol", 15),
            int("at"),
            int("price_cents"),
            int("quantity"),
        ],
        key: &["trade_id"],
        references: &[to(&["trade_id"], "trade"), to(&["account_id", "symbol"], "position")],
        indexes: &[&["account_id", "symbol", "at"]],
    },
    Table {
        name: "lot_change",
        desk: false,
        columns: &[int("lot_id"), int("trade_id"), int("quantity_before"), int("quantity_after")],
        key: &["lot_id", "trade_id"],
        references: &[to(&["lot_id"], "trade"), to(&["trade_id"], "trade")],
        indexes: &[&["trade_id"]],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_has_33_tables_and_the_desk_12_and_each_refers_only_to_earlier_ones() {
        assert_eq!(tables(Preset::House).count(), 33);
        assert_eq!(tables(Preset::Desk).count(), 12);
        for (place, table) in TABLES.iter().enumerate() {
            let column = |name: &&str| table.columns.iter().any(|column| column.name == *name);
            assert!(table.key.iter().all(column), "{}", table.name);
            assert!(table.indexes.iter().flat_map(|index| index.iter()).all(column), "{}", table.name);
            for reference in table.references {
                assert!(reference.columns.iter().all(column), "{}", table.name);
                let earlier = TABLES[..=place].iter().find(|other| other.name == reference.table);
                let width = earlier.map(|other| other.key.len());
                assert_eq!(width, Some(reference.columns.len()), "{} to {}", table.name, reference.table);
            }
        }
    }
}
