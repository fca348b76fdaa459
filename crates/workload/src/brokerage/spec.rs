//! What a brokerage workload is, as a study says it.

units::words! {
    /// Which shape of the house.
    #[derive(Default)]
    pub enum Preset {
        #[default]
        Desk = "desk" "12 tables and 6 transactions: fills in seconds.",
        House = "house" "33 tables, ten transactions, maintenance and clean-up.",
    }
}

units::words! {
    /// When the market answers an order.
    #[derive(Default)]
    pub enum Market {
        #[default]
        ByTime = "by-time" "After a time, as a market does.",
        ByCount = "by-count" "After a count of transactions, so that one session does the same on every engine.",
    }
}

/// A brokerage workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The shape.
    pub preset: Preset,
    /// Customers of the data set.
    pub customers: u64,
    /// Days of history.
    pub days: u64,
    /// When the market answers.
    pub market: Market,
    /// Run the once-a-minute maintenance beside the mix.
    pub maintenance: bool,
    /// Carry transactions out as stored procedures, where the engine has them.
    pub procedures: bool,
}
