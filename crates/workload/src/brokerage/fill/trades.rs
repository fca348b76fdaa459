//! Rows of trades, of what each one left behind, and of what accounts hold when the history ends.
//!
//! What it does not do: nothing pends; all trades of the history are completed.

use super::Maker;
use crate::brokerage::charges::ORDER_TYPES;
use crate::brokerage::codes::{CASH, COMPLETED, MARGIN, PENDING, SETTLEMENT_DAYS, SUBMITTED};
use crate::brokerage::scale::CALENDAR_DAY_US;
use crate::brokerage::{history::Lot, names};
use crate::dataset::Row;

pub(super) fn trade(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let scale = *maker.history.scale();
    let trade = maker.trade(unit + 1);
    row.number(trade.number).int(trade.entered_us).text(COMPLETED).text(ORDER_TYPES[trade.order_type]);
    row.int(i64::from(trade.is_cash)).build(|to| scale.push_symbol(trade.security, to)).int(trade.quantity);
    row.int(trade.bid_cents).number(trade.account);
    row.build(|to| names::push_person(scale.customer_of(trade.account), to));
    row.int(trade.price_cents).int(trade.fee_cents).int(trade.commission_cents).int(trade.tax_cents);
    row.int(i64::from(trade.lifo)).end()
}

pub(super) fn trade_event(maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
    let trade = maker.trade(unit + 1);
    let (status, at) = match sub + u32::from(!trade.waited) {
        0 => (PENDING, trade.entered_us),
        1 => (SUBMITTED, trade.submitted_us),
        2 => (COMPLETED, trade.completed_us),
        _ => return false,
    };
    row.number(trade.number).text(status).int(at).end()
}

pub(super) fn settlement(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let trade = maker.trade(unit + 1);
    row.number(trade.number).text(if trade.is_cash { CASH } else { MARGIN });
    row.int(trade.completed_us.div_euclid(CALENDAR_DAY_US) + SETTLEMENT_DAYS).int(trade.amount_cents()).end()
}

pub(super) fn cash_entry(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let trade = maker.trade(unit + 1);
    if !trade.is_cash {
        return false;
    }
    row.number(trade.number).int(trade.completed_us).int(trade.amount_cents());
    row.build(|to| {
        to.push_str(if trade.sells { "sold " } else { "bought " });
        names::push_number(trade.quantity as u64, to);
        to.push(' ');
        maker.history.scale().push_symbol(trade.security, to);
    });
    row.end()
}

pub(super) fn lot_change(maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
    let trade = maker.trade(unit + 1);
    match trade.changes().get(sub as usize) {
        Some(change) => row.number(change.lot).number(trade.number).int(change.before).int(change.after).end(),
        None => false,
    }
}

pub(super) fn lot(maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
    if sub == 0 {
        maker.history.lots(unit + 1, &mut maker.lots);
    }
    let Some(lot) = maker.lots.get(sub as usize) else {
        return false;
    };
    row.number(lot.trade).number(lot.account).build(|to| maker.history.scale().push_symbol(lot.security, to));
    row.int(lot.at_us).int(lot.price_cents).int(lot.quantity).end()
}

pub(super) fn position(maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
    if sub == 0 {
        maker.history.lots(unit + 1, &mut maker.lots);
        join(&mut maker.lots);
    }
    let Some(position) = maker.lots.get(sub as usize) else {
        return false;
    };
    row.number(position.account).build(|to| maker.history.scale().push_symbol(position.security, to));
    row.int(position.quantity).end()
}

/// Makes one of all lots of a security.
fn join(lots: &mut Vec<Lot>) {
    lots.sort_unstable_by_key(|lot| lot.security);
    lots.dedup_by(|next, kept| {
        let same = next.security == kept.security;
        kept.quantity += if same { next.quantity } else { 0 };
        same
    });
}
