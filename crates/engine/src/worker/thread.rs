//! What a worker's thread asks of the kernel for itself: a core of its own, exact timers, an I/O priority; and threads for what
//! may never come back.

#![allow(unsafe_code)]

use std::io;
use std::sync::mpsc::{Receiver, channel};
use study::{CpuSet, Cpus, Priority, PriorityClass};
use system::machine;

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

/// Keeps the calling thread on the cores that were asked for, or on those that this process may use; a pinned worker on one of
/// them, counted round. Where a node was asked for, what the thread allocates lies in the memory of that node.
///
/// # Errors
/// When nothing else would be an answer to what was asked: none of the cores may be used, or there is no such node.
pub(crate) fn place(asked: Cpus, pinned: Option<u32>) -> io::Result<()> {
    if asked == Cpus::Any && pinned.is_none() {
        return Ok(());
    }
    let allowed = machine::allowed();
    let wanted = match asked {
        Cpus::Any => allowed,
        Cpus::List(list) => list.among(allowed),
        Cpus::Node(node) => {
            bind_memory(node)?;
            machine::of_node(node).unwrap_or_default().among(allowed)
        }
    };
    let own = pinned.map_or(wanted, |worker| wanted.nth(worker));
    match keep_on(own) {
        // A pinned worker may stay where it is: `pin` alone is a wish.
        Err(_) if asked == Cpus::Any => Ok(()),
        kept => kept,
    }
}

fn keep_on(cpus: CpuSet) -> io::Result<()> {
    // SAFETY: plain system calls on a set of this function's own.
    let result = unsafe {
        let mut own: libc::cpu_set_t = std::mem::zeroed();
        cpus.iter().for_each(|cpu| libc::CPU_SET(cpu as usize, &mut own));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &own)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `set_mempolicy(2)`: what this thread touches first lies on that node.
fn bind_memory(node: u32) -> io::Result<()> {
    const MPOL_BIND: libc::c_int = 2;
    let mut mask = [0_u64; 16];
    if let Some(word) = mask.get_mut(node as usize / 64) {
        *word = 1 << (node % 64);
    }
    // SAFETY: the kernel reads as many bits of the mask as it is told, one less than there are.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, MPOL_BIND, mask.as_ptr(), 64 * mask.len()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
pub(crate) fn prioritise(priority: Option<Priority>) -> io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    if priority.is_none() {
        return Ok(());
    }
    // SAFETY: a plain system call without pointers; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_int::from(encode(priority))) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_stays_on_the_processors_that_were_asked_for_and_a_refusal_is_told() {
        let kept = |asked, pinned| {
            let placed = std::thread::spawn(move || {
                place(asked, pinned).map(|()| {
                    let own = rustix::thread::sched_getaffinity(None).unwrap();
                    (0..CpuSet::MAX).filter(|cpu| own.is_set(*cpu as usize)).collect::<CpuSet>()
                })
            });
            placed.join().unwrap().ok()
        };
        let allowed = machine::allowed();
        let (one, none) = (allowed.nth(0), CpuSet::read("1023").unwrap());
        assert_eq!(kept(Cpus::List(one), None), Some(one));
        assert_eq!(kept(Cpus::Any, None), Some(allowed));
        assert_eq!(kept(Cpus::List(allowed), Some(1)), Some(allowed.nth(1)));
        assert_eq!(kept(Cpus::List(none), None), None, "nothing else would be what was asked for");
        assert_eq!(kept(Cpus::Node(999), None), None);
    }

    #[test]
    fn priorities_are_encoded_as_the_kernel_reads_them() {
        assert_eq!(encode(None), 0);
        assert_eq!(encode(Some(Priority { class: PriorityClass::BestEffort, level: 4 })), 0x4004);
        assert_eq!(encode(Some(Priority { class: PriorityClass::Idle, level: 0 })), 0x6000);
    }
}
