//! The models that come with Prony, and the rows that they were fitted on.
//!
//! The one idea: they are files like any other, compiled in so that one binary is enough.

/// A file that comes with Prony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name without folder and ending.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! files {
    ($folder:literal, $ending:literal: $($name:literal),* $(,)?) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../../../../", $folder, "/", $name, $ending)) }),*]
    };
}

/// The models, in the order in which they are listed.
pub fn models() -> &'static [Shipped] {
    files!("models", ".toml":
        "f5100",
        "s824-fs840",
        "power770-san",
        "small-server",
        "mirror-case1",
        "mirror-case2",
        "mirror-case3",
        "mirror-link",
        "mirror-clients",
        "nand-device",
        "disk-15k",
        "tiered",
        "disk-array",
        "flash-array-2d",
        "this-machine",
        "z-ds8300",
        "power550-mixed",
        "power550-bw",
    )
}

/// The tables of rows: published ones, and those that were measured here.
pub fn tables() -> &'static [Shipped] {
    files!("models/rows", ".csv":
        "flash_rates",
        "flash_service_time",
        "brokerage_flash_threads",
        "brokerage_san_threads",
        "brokerage_customers_io",
        "mirror_case1",
        "mirror_case2",
        "mirror_case3",
        "mirror_link_share",
        "mirror_link_traffic",
        "mirror_clients",
        "mirror_distance",
        "this_machine_depth",
        "bank_posting",
        "warehouse_bi_mxl",
        "warehouse_bw",
    )
}

#[cfg(test)]
mod tests;
