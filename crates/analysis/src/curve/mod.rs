//! What a factor does to a point: where throughput bends, how it scales, how service time grows, which rate holds.

mod curves;
mod highest_rate;
mod knee;
mod scaling;
mod service_fit;

pub use curves::curves;
pub use highest_rate::highest_rates;
pub use knee::knee;
pub use scaling::scaling;
pub use service_fit::service_fit;
