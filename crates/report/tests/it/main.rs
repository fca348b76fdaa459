//! Reports from hand-made findings: golden files, places of values, schemas, and names that try to break out.

mod browser;
mod escaping;
mod formats;
mod page;
mod sample;
mod schemas;
mod transactions;
