//! Which Prony this is: the version, and the commit it was built from where that is known.

/// The version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit, or `unknown` when it was built from a tarball.
pub const COMMIT: &str = env!("PRONY_COMMIT");
/// Both, for `--version`.
pub const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("PRONY_COMMIT"), ")");
