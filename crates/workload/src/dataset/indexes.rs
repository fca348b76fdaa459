//! How many indexes the tables of a data set have beside their keys.

units::words! {
    /// Indexes beside keys.
    #[derive(Default)]
    pub enum Indexes {
        Few = "few" "None.",
        #[default]
        Usual = "usual" "Those that a user would make.",
        More = "more" "Further ones, which reports and searches would like.",
    }
}
