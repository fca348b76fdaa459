//! What a worker's thread asks of the kernel for itself: a core of its own, exact timers, an I/O priority; and threads for what
//! may never come back.

#![allow(unsafe_code)]

use std::sync::mpsc::{Receiver, channel};
use study::{Priority, PriorityClass};

/// Does `work` on a thread of its own, which is left behind when nobody waits for it any more. A receiver that is closed without
/// an answer says that there was no thread, or that the work panicked.
pub(crate) fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    // Whoever waits learns from the closed channel that there is no thread.
    let _ = std::thread::Builder::new().name("elsewhere".to_owned()).spawn(move || {
        unpin();
        let _ = sender.send(work());
    });
    receiver
}

/// Lets the calling thread run wherever the process may: the worker that has started it may be kept on one core, which is its own.
fn unpin() {
    // SAFETY: plain system calls on a set of this function's own.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(libc::getpid(), size, &mut allowed) == 0 {
            libc::sched_setaffinity(0, size, &allowed);
        }
    }
}

/// Keeps the calling thread on one core, counted round over the cores that this process may use. A refusal leaves the
/// thread where it is.
pub(crate) fn pin(worker: u32) {
    // SAFETY: plain system calls on a set of this function's own.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &mut allowed) != 0 {
            return;
        }
        let cores: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &allowed)).collect();
        let Some(core) = cores.get(worker as usize % cores.len().max(1)) else { return };
        let mut own: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(*core, &mut own);
        libc::sched_setaffinity(0, size, &own);
    }
}

/// Lets the calling thread's timers fire when they are due: the kernel otherwise joins them within 50 microseconds to
/// save energy, which an open load would see as lateness.
pub(crate) fn exact_timers() {
    switch(libc::PR_SET_TIMERSLACK);
}

/// Keeps the kernel from backing this process with huge pages. Recorders reserve wide histograms of which they touch
/// little; in pieces of 2 MiB that little would become most of the machine's memory. A refusal costs memory only.
pub(crate) fn small_pages() {
    switch(libc::PR_SET_THP_DISABLE);
}

/// Sets something of this thread or process to one. Miri knows no such call.
fn switch(what: libc::c_int) {
    if !cfg!(miri) {
        // SAFETY: a plain system call without pointers.
        unsafe {
            libc::prctl(what, 1u64, 0u64, 0u64, 0u64);
        }
    }
}

/// The kernel's encoding of an I/O priority (`ioprio_set(2)`); 0 is none.
pub(crate) fn encode(priority: Option<Priority>) -> u16 {
    let Some(priority) = priority else { return 0 };
    let class: u16 = match priority.class {
        PriorityClass::RealTime => 1,
        PriorityClass::BestEffort => 2,
        PriorityClass::Idle => 3,
    };
    (class << 13) | u16::from(priority.level)
}

/// Gives the calling thread an I/O priority. A refusal (real time needs privilege) is an error of the trial, because a
/// stream without its priority would be another experiment.
pub(crate) fn prioritise(priority: Option<Priority>) -> std::io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    if priority.is_none() {
        return Ok(());
    }
    // SAFETY: a plain system call without pointers; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_int::from(encode(priority))) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_encoded_as_the_kernel_reads_them() {
        assert_eq!(encode(None), 0);
        assert_eq!(encode(Some(Priority { class: PriorityClass::BestEffort, level: 4 })), 0x4004);
        assert_eq!(encode(Some(Priority { class: PriorityClass::Idle, level: 0 })), 0x6000);
    }
}
