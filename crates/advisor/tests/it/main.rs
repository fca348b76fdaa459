//! The advice, held against machines in virtual time.

mod order;
mod world;
