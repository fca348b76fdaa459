//! The short texts that rows and transactions must agree on, and the few prices of the house that are rules, not rows.
//!
//! What it does not do: it holds no table; the house keeps fees, commissions and levies in tables of their own.

/// Status of a customer, broker, company or security in business.
pub const ACTIVE: &str = "live";
/// Status of a trade that was sent to the market.
pub const SUBMITTED: &str = "sent";
/// Status of a limit order that waits for its price.
pub const PENDING: &str = "wait";
/// What marks an edited text.
pub const MARK: &str = " *";

/// Trades of one lookup.
pub const LOOKUP_TRADES: usize = 20;

/// Status of a trade that was filled.
pub const COMPLETED: &str = "done";
/// Status of a trade that will never be filled.
pub const CANCELLED: &str = "void";

/// Order type: buy at the market's price.
pub const MARKET_BUY: &str = "MB";
/// Order type: sell at the market's price.
pub const MARKET_SELL: &str = "MS";
/// Order type: buy when the price has fallen to the bid.
pub const LIMIT_BUY: &str = "LB";
/// Order type: sell when the price has risen to the bid.
pub const LIMIT_SELL: &str = "LS";
/// Order type: sell when the price has fallen to the bid.
pub const STOP_LOSS: &str = "SL";

/// Kind of a settlement that is paid from the account's cash.
pub const CASH: &str = "cash";
/// Kind of a settlement that is lent to the customer.
pub const MARGIN: &str = "margin";

/// Fee of an order in cents where the data set has no table of fees.
pub const DESK_FEE_CENTS: i64 = 500;
/// Commission in hundredths of a percent of the value where the data set has no table of rates.
pub const DESK_COMMISSION_BP: i64 = 20;
/// Tax on gains in hundredths of a percent where the data set has no table of levies.
pub const DESK_LEVY_BP: i64 = 1_500;

/// Days from a fill to its settlement.
pub const SETTLEMENT_DAYS: i64 = 2;

/// Whether orders of that type sell.
pub fn sells(order_type: &str) -> bool {
    matches!(order_type, MARKET_SELL | LIMIT_SELL | STOP_LOSS)
}

/// Whether orders of that type wait for a price.
pub fn waits(order_type: &str) -> bool {
    matches!(order_type, LIMIT_BUY | LIMIT_SELL | STOP_LOSS)
}

/// A share of an amount, in hundredths of a percent, rounded to the nearest cent; the amount is not negative.
pub fn basis_points(amount: i64, points: i64) -> i64 {
    (amount * points + 5_000) / 10_000
}
