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

/// When the market answers an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Market {
    /// After a time, as a market does.
    #[default]
    ByTime,
    /// After a count of transactions, so that one session does the same on every engine.
    ByCount,
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
