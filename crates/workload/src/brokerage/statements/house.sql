-- Statements of the large preset alone.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- Who may order, and what it costs.

-- @ OrderGrants trade-order: read access grants
-- gives 1.0 such as T000000013|full|Ben|Moore
select tax_id, rights, first_name, last_name from access_grant where account_id = $1 order by tax_id;

-- @ OrderFee trade-order: read fee
-- gives 1.0 such as 500
select cents from fee where tier = $1 and order_type = $2;

-- @ OrderCommission trade-order: read commission rate
-- gives 1.0 such as 20
select r.basis_points from security s join commission_rate r on r.exchange_id = s.exchange_id
    where r.tier = $1 and r.order_type = $2 and s.symbol = $3 and r.from_quantity <= $4 and r.to_quantity >= $4;

-- @ OrderLevies trade-order: read levies
-- gives 2.0 such as 700
select l.basis_points from customer_levy c join levy l on l.id = c.levy_id
    where c.customer_id = $1 order by l.id;

-- @ FillCommission trade-result: read commission rate
-- gives 1.0 such as 20
select r.basis_points from account a join customer c on c.id = a.customer_id
    join security s on s.symbol = $2 join commission_rate r on r.tier = c.tier and r.exchange_id = s.exchange_id
    where a.id = $1 and r.order_type = $3 and r.from_quantity <= $4 and r.to_quantity >= $4;

-- @ FillLevies trade-result: read levies
-- gives 2.0 such as 700
select l.basis_points from account a join customer_levy c on c.customer_id = a.customer_id
    join levy l on l.id = c.levy_id where a.id = $1 order by l.id;

-- @ InsertLotChange trade-result: insert lot change
insert into lot_change (lot_id, trade_id, quantity_before, quantity_after) values ($1, $2, $3, $4);

-- Reads of the mix.

-- @ StatusTrades trade-status: read trades
-- gives 50.0 such as 1|1700000000000000|completed|market buy|ABCD|400|2500|2500|500|2000|Acme common|North
select t.id, t.at, u.name, o.name, t.symbol, t.quantity, t.bid_cents, t.price_cents, t.fee_cents,
    t.commission_cents, s.name, e.name from trade t join status u on u.id = t.status
    join order_type o on o.id = t.order_type join security s on s.symbol = t.symbol
    join exchange e on e.id = s.exchange_id
    where t.account_id = $1 order by t.at desc, t.id desc limit 50;

-- @ StatusOwner trade-status: read owner
-- gives 1.0 such as Ada|Moore|Hall and Sons
select c.first_name, c.last_name, b.name from account a join customer c on c.id = a.customer_id
    join broker b on b.id = a.broker_id where a.id = $1;

-- @ WatchList market-watch: read watch list
-- gives 100.0 such as ABCD|1000000|2450|2500
select e.symbol, s.shares_out, d.close_cents, q.price_cents from watchlist l
    join watch_entry e on e.watchlist_id = l.id join security s on s.symbol = e.symbol
    join quote q on q.symbol = e.symbol left join daily_price d on d.symbol = e.symbol and d.day = $2
    where l.customer_id = $1 order by e.symbol;

-- @ WatchHoldings market-watch: read holdings
-- gives 10.0 such as ABCD|1000000|2450|2500
select p.symbol, s.shares_out, d.close_cents, q.price_cents from position p
    join security s on s.symbol = p.symbol join quote q on q.symbol = p.symbol
    left join daily_price d on d.symbol = p.symbol and d.day = $2
    where p.account_id = $1 order by p.symbol;

-- @ WatchIndustry market-watch: read industry
-- gives 5.0 such as ABCD|1000000|2450|2500
select s.symbol, s.shares_out, d.close_cents, q.price_cents from company c
    join company n on n.industry_id = c.industry_id join security s on s.company_id = n.id
    join quote q on q.symbol = s.symbol left join daily_price d on d.symbol = s.symbol and d.day = $2
    where c.id = $1 order by s.symbol;

-- @ DetailSecurity security-detail: read security
-- gives 1.0 such as Acme common|1000000|9000|9100|1500|3000|2000|100|40|Acme|AA|Ada Moore|3000|A company that makes what others need.|1 High Street|Floor 2|Springfield|North|Home|North|The exchange of the north.|930|1600|700|2 High Street|Hall|Springfield|North|Home
select s.name, s.shares_out, s.issued, s.first_traded, s.pe_x100, s.high52_cents, s.low52_cents,
    s.dividend_cents, s.yield_bp, c.name, c.rating, c.chief, c.founded, c.description,
    ca.line1, ca.line2, cp.town, cp.division, ca.country, e.name, e.description, e.opens, e.closes,
    e.securities, ea.line1, ea.line2, ep.town, ep.division, ea.country
    from security s join company c on c.id = s.company_id join address ca on ca.id = c.address_id
    join postal_area cp on cp.code = ca.postal_code join exchange e on e.id = s.exchange_id
    join address ea on ea.id = e.address_id join postal_area ep on ep.code = ea.postal_code
    where s.symbol = $1;

-- @ DetailRivals security-detail: read competitors
-- gives 3.0 such as Rival|Metals
select n.name, i.name from security s join competitor r on r.company_id = s.company_id
    join company n on n.id = r.rival_id join industry i on i.id = r.industry_id
    where s.symbol = $1 order by n.id, i.id limit 3;

-- @ DetailFinancials security-detail: read financials
-- gives 20.0 such as 2004|1|12418|100000000|9000000|900|880|900|5000000|90000000|40000000|1000000|1020000
select f.year, f.quarter, f.started, f.revenue_cents, f.earnings_cents, f.per_share_cents,
    f.diluted_cents, f.margin_bp, f.inventory_cents, f.assets_cents, f.liabilities_cents, f.shares,
    f.shares_diluted from security s join financial f on f.company_id = s.company_id
    where s.symbol = $1 order by f.year, f.quarter limit 20;

-- @ DetailPrices security-detail: read daily prices
-- gives 12.0 such as 12784|2450|2500|2400|100000
select day, close_cents, high_cents, low_cents, volume from daily_price
    where symbol = $1 and day >= $2 order by day limit $3;

-- @ DetailQuote security-detail: read quote
-- gives 1.0 such as 2500|2450|100000
select price_cents, open_cents, volume from quote where symbol = $1;

-- @ DetailHeadlines security-detail: read headlines
-- gives 2.0 such as 1700000000000000|Wire|Ben Hall|A headline of some length|A summary of an article, of the length that summaries have.
select a.at, a.source, a.author, a.headline, a.summary from security s
    join article_link k on k.company_id = s.company_id join article a on a.id = k.article_id
    where s.symbol = $1 order by a.id limit 2;

-- @ DetailArticles security-detail: read articles
-- gives 2.0 such as 1700000000000000|Wire|Ben Hall|The body of an article.
select a.at, a.source, a.author, a.body from security s
    join article_link k on k.company_id = s.company_id join article a on a.id = k.article_id
    where s.symbol = $1 order by a.id limit 2;

-- @ TradesOfAccount find trades of account
-- gives 20.0 such as 1 / 2 / 3 / 4 / 5 / 6 / 7 / 8 / 9 / 10 / 11 / 12 / 13 / 14 / 15 / 16 / 17 / 18 / 19 / 20
select id from trade where account_id = $1 and at >= $2 order by at, id limit 20;

-- @ TradesOfSymbol find trades of symbol
-- gives 20.0 such as 1 / 2 / 3 / 4 / 5 / 6 / 7 / 8 / 9 / 10 / 11 / 12 / 13 / 14 / 15 / 16 / 17 / 18 / 19 / 20
select id from trade where symbol = $1 and at >= $2 order by at, id limit 20;

-- @ LookupTrades trade-lookup: read trades
-- gives 20.0 such as 1|35|Ada Moore|1|ABCD|400|2500|2500|market buy|cash|12786|-1002500|1700000000000000|-1002500|Bought 400 of Acme common
select t.id, t.account_id, t.placed_by, t.is_cash, t.symbol, t.quantity, t.bid_cents, t.price_cents,
    o.name, s.kind, s.due, s.amount_cents, c.at, c.amount_cents, c.description from trade t
    join order_type o on o.id = t.order_type left join settlement s on s.trade_id = t.id
    left join cash_entry c on c.trade_id = t.id where t.id in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) order by t.id;

-- @ LookupEvents read trade events
-- gives 45.0 such as 1|done|1700000000000000
select trade_id, status, at from trade_event where trade_id in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) order by trade_id, at, status;

-- @ LookupLots trade-lookup: read lot changes
-- gives 3.0 such as 1|1|0|400
select h.lot_id, h.trade_id, h.quantity_before, h.quantity_after from lot_change m
    join lot_change h on h.lot_id = m.lot_id where m.trade_id = $1 order by h.lot_id, h.trade_id limit 20;

-- @ VolumeOfBrokers broker-volume: sum pending orders
-- gives 2.0 such as 7|Hall and Sons|1000000
select b.id, b.name, sum(p.quantity * p.bid_cents) from company x join industry y on y.id = x.industry_id
    join industry i on i.sector_id = y.sector_id join company c on c.industry_id = i.id
    join security s on s.company_id = c.id join pending_order p on p.symbol = s.symbol
    join broker b on b.id = p.broker_id where x.id = $1 and b.id in ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32,
    $33, $34, $35, $36, $37, $38, $39, $40, $41) group by b.id, b.name order by b.id;

-- Edits of old trades.

-- @ UpdateLockTrades trade-update: lock trades
-- gives 20.0 such as 1|Ada Moore
select id, placed_by from trade where id in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) order by id for update;

-- @ UpdateLockSettlements trade-update: lock settlements
-- gives 20.0 such as 1|cash
select trade_id, kind from settlement where trade_id in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) order by trade_id for update;

-- @ UpdateLockCash trade-update: lock cash entries
-- gives 20.0 such as 1|Bought 400 of Acme common
select trade_id, description from cash_entry where trade_id in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) order by trade_id for update;

-- @ UpdatePlacedBy trade-update: update trade
update trade set placed_by = $1 where id = $2;

-- @ UpdateKind trade-update: update settlement
update settlement set kind = $1 where trade_id = $2;

-- @ UpdateDescription trade-update: update cash entry
update cash_entry set description = $1 where trade_id = $2;

-- Maintenance of twelve quiet tables.

-- @ MaintainGrant data-maintenance: update access grant
update access_grant set last_name = $1 where account_id = $2;

-- @ MaintainAddress data-maintenance: update address
update address set line2 = $1 where id = $2;

-- @ MaintainArticle data-maintenance: update article
update article set source = $1 where id = $2;

-- @ MaintainCompany data-maintenance: update company
update company set chief = $1 where id = $2;

-- @ MaintainCustomer data-maintenance: update customer
update customer set email = $1 where id = $2;

-- @ MaintainPrice data-maintenance: update daily price
update daily_price set volume = volume + $1 where symbol = $2 and day = $3;

-- @ MaintainExchange data-maintenance: update exchange
update exchange set description = $1 where id = (select exchange_id from security where symbol = $2);

-- @ MaintainFinancial data-maintenance: update financial
update financial set inventory_cents = inventory_cents + $1 where company_id = $2;

-- @ MaintainLevy data-maintenance: update levy
update levy set name = $1 where id in (select levy_id from customer_levy where customer_id = $2);

-- @ MaintainSecurity data-maintenance: update security
update security set dividend_cents = dividend_cents + $1 where symbol = $2;

-- @ MaintainPostal data-maintenance: update postal area
update postal_area set town = $1 where code = (select postal_code from address where id = $2);

-- @ MaintainWatched data-maintenance: read watch list
-- gives 100.0 such as 1|ABCD
select e.watchlist_id, e.symbol from watchlist l join watch_entry e on e.watchlist_id = l.id
    where l.customer_id = $1 order by e.watchlist_id, e.symbol;

-- @ MaintainWatch data-maintenance: update watch list
update watch_entry set symbol = $1 where watchlist_id = $2 and symbol = $3;
