//! What the wholesaler's transactions say.

use crate::transaction::texts;

texts::list! { Said from 0, SAID in "statements.sql":
    LockDistrict Depot Customer OpenOrders Article Price LockStock NextNumber InsertOrder Queue TakeStock
    InsertLine LockCustomer District LastPayments PayCustomer InsertPayment PayDistrict PayDepot
    FindCustomer LastOrder Lines Oldest Head Unqueue Deliver Charge Last Scarce
}
