//! One trial reduced to figures: each file is one question to its observations.

mod books;
mod cut;
mod doubts;
mod latency;
mod machine;
mod steady;
mod summarise;
mod sustained;
mod timeline;
mod uncertainty;

pub use summarise::summarise;
