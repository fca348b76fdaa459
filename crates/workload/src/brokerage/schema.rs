//! The tables of the brokerage house.
//!
//! The one idea: a table is a value, and every engine's DDL, every bulk load and every check is made from it. Money is whole
//! cents, moments are microseconds since 1970, days are days since 1970, so that all engines hold the same numbers.
//!
//! What it does not do: it writes no SQL.

use super::Preset;
use crate::dataset::{Table, tables as listed};

/// All 33 tables, referred-to ones first; a reference to one that the preset does not have is left out.
pub const TABLES: &[Table] = &listed! {
    status (id text 4, name text 20) key (id);
    postal_area (code text 12, town text 60, division text 60) key (code);
    address (id int, line1 text 80, line2 text 80, postal_code text 12, country text 40) key (id)
        refers [postal_area(postal_code)];
    levy (id text 4, name text 50, basis_points int) key (id);
    order_type (id text 3, name text 20, sells int, at_market int) key (id);
    exchange (id text 6, name text 60, opens int, closes int, securities int, description text 150,
        address_id int) key (id) refers [address(address_id)];
    sector (id text 2, name text 30) key (id) indexes [(name)];
    industry (id text 3, name text 50, sector_id text 2) key (id) refers [sector(sector_id)]
        indexes [(sector_id), (name)];
    fee (tier int, order_type text 3, cents int) key (tier, order_type) refers [order_type(order_type)];
    commission_rate (tier int, order_type text 3, exchange_id text 6, from_quantity int, to_quantity int,
        basis_points int) key (tier, order_type, exchange_id, from_quantity)
        refers [order_type(order_type), exchange(exchange_id)];
    company (id int, name text 60, status text 4, industry_id text 3, rating text 4, address_id int,
        chief text 60, founded int, description text 150) key (id)
        refers [status(status), industry(industry_id), address(address_id)] indexes [(name), (industry_id)];
    competitor (company_id int, rival_id int, industry_id text 3) key (company_id, rival_id, industry_id)
        refers [company(company_id), company(rival_id), industry(industry_id)];
    financial (company_id int, year int, quarter int, started int, revenue_cents int, earnings_cents int,
        per_share_cents int, diluted_cents int, margin_bp int, inventory_cents int, assets_cents int,
        liabilities_cents int, shares int, shares_diluted int) key (company_id, year, quarter)
        refers [company(company_id)];
    article (id int, headline text 80, summary text 255, body long, at int, source text 30, author text 30)
        key (id);
    article_link (article_id int, company_id int) key (article_id, company_id)
        refers [article(article_id), company(company_id)] indexes [(company_id)];
    security (symbol text 15, name text 70, status text 4, exchange_id text 6, company_id int, shares_out int,
        issued int, first_traded int, pe_x100 int, high52_cents int, low52_cents int, dividend_cents int,
        yield_bp int) key (symbol) refers [status(status), exchange(exchange_id), company(company_id)]
        indexes [(company_id)];
    quote (symbol text 15, at int, price_cents int, open_cents int, volume int) key (symbol)
        refers [security(symbol)];
    daily_price (symbol text 15, day int, close_cents int, high_cents int, low_cents int, volume int)
        key (symbol, day) refers [security(symbol)];
    customer (id int, tax_id text 20, status text 4, last_name text 25, first_name text 20, tier int, born int,
        address_id int, phone text 24, email text 60) key (id) refers [status(status), address(address_id)]
        indexes [(tax_id)];
    customer_levy (customer_id int, levy_id text 4) key (customer_id, levy_id)
        refers [customer(customer_id), levy(levy_id)];
    broker (id int, status text 4, name text 50, trades int, commission_cents int) key (id)
        refers [status(status)] indexes [(name)];
    account (id int, customer_id int, broker_id int, name text 50, tax_status int, opening_cents int,
        balance_cents int) key (id) refers [customer(customer_id), broker(broker_id)]
        indexes [(customer_id), (broker_id)];
    access_grant (account_id int, tax_id text 20, rights text 4, last_name text 25, first_name text 20)
        key (account_id, tax_id) refers [account(account_id)];
    watchlist (id int, customer_id int) key (id) refers [customer(customer_id)] indexes [(customer_id)];
    watch_entry (watchlist_id int, symbol text 15) key (watchlist_id, symbol)
        refers [watchlist(watchlist_id), security(symbol)];
    trade (id int, at int, status text 4, order_type text 3, is_cash int, symbol text 15, quantity int,
        bid_cents int, account_id int, placed_by text 50, price_cents maybe, fee_cents int, commission_cents int,
        tax_cents int, lifo int) key (id)
        refers [status(status), order_type(order_type), security(symbol), account(account_id)]
        indexes [(account_id, at), (symbol, at)];
    trade_event (trade_id int, status text 4, at int) key (trade_id, status)
        refers [trade(trade_id), status(status)];
    settlement (trade_id int, kind text 40, due int, amount_cents int) key (trade_id) refers [trade(trade_id)];
    cash_entry (trade_id int, at int, amount_cents int, description text 100) key (trade_id)
        refers [trade(trade_id)];
    pending_order (trade_id int, order_type text 3, symbol text 15, quantity int, bid_cents int, broker_id int)
        key (trade_id) refers [trade(trade_id), order_type(order_type), security(symbol), broker(broker_id)]
        indexes [(symbol), (broker_id)];
    position (account_id int, symbol text 15, quantity int) key (account_id, symbol)
        refers [account(account_id), security(symbol)];
    lot (trade_id int, account_id int, symbol text 15, at int, price_cents int, quantity int) key (trade_id)
        refers [trade(trade_id), position(account_id, symbol)] indexes [(account_id, symbol, at)];
    lot_change (lot_id int, trade_id int, quantity_before int, quantity_after int) key (lot_id, trade_id)
        refers [trade(lot_id), trade(trade_id)] indexes [(trade_id)];
};

/// Those that the small preset has too.
const DESK: &str =
    "security quote customer broker account trade trade_event settlement cash_entry pending_order position lot";

/// The tables of a preset; a table comes after those that it refers to.
pub fn tables(preset: Preset) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| preset == Preset::House || DESK.split(' ').any(|name| table.name == name))
}

/// The table of that name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

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
