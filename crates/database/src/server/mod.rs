//! Private servers: started from installed packages in the cache folder, found again, ended, copied.
//!
//! The one idea: a server's whole being is one folder that only its user may enter; whoever looks at the folder later knows
//! whether it runs, crashed or was never there.
//!
//! What it does not do: it speaks no SQL, and it touches no server that it did not start.

mod folder;
pub mod mariadb;
mod owner;
pub mod postgres;
mod process;
mod program;
mod reach;
