//! Work on whole modules, one thread each, in large pieces.

use crate::TrialError;
use system::Module;

/// Large enough to reach the rate of the device, small enough to stop soon.
pub(super) const PIECE_BYTES: u64 = 1 << 20;

/// Does the same with all modules at once; the first that fails in their order says why.
pub(super) fn each<T: Send>(
    modules: &[Module],
    work: impl Fn(usize, &Module) -> Result<T, TrialError> + Sync,
) -> Result<Vec<T>, TrialError> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            modules.iter().enumerate().map(|(index, module)| scope.spawn(move || work(index, module))).collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        results.into_iter().map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
