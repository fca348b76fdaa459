//! Ctrl-C, SIGTERM, SIGHUP and SIGQUIT: the first asks the run to end well, the second ends it at once.
//!
//! The one idea: a signal only sets a flag. The engine looks at it between operations, and the run ends through the same
//! door as always, so that finished intervals are kept and scratch files removed.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What asks a process to end, each of which would leave mounts and scratch files behind by itself.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// A file that may not grow any further (`ulimit -f`) ends the process without a word unless somebody listens; with a handler, the
/// write fails, and what could not be written is told as any other error. Programs that are started get the default back.
pub fn survive_file_limits() {
    // Without the handler everything is as before.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Begins to listen. The flag is set by the first signal; a second one while it is set ends the process.
///
/// # Errors
/// When the kernel takes no handler.
pub fn listen() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        // In this order: the shutdown looks at the flag as it was before this very signal set it.
        flag::register_conditional_shutdown(signal, i32::from(crate::exit::ERROR), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Failure::caused("cannot listen for Ctrl-C", &error))?;
    }
    Ok(stop)
}

/// Begins to listen for as many signals as come: each sets the flag, and none ends the process.
///
/// # Errors
/// When the kernel takes no handler.
pub fn listen_on() -> Result<Arc<AtomicBool>, Failure> {
    let told = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        flag::register(signal, Arc::clone(&told))
            .map_err(|error| Failure::caused("cannot listen for Ctrl-C", &error))?;
    }
    Ok(told)
}
