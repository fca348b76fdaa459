//! The user's own transactions, in the script language of pgbench.
