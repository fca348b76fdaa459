//! The processors of this machine: which of them this process may use, and which lie on a node of memory.

use crate::stack::{children, read_line};
use rustix::thread::{CpuSet as Allowed, sched_getaffinity};
use std::path::Path;
use study::CpuSet;

/// Where the kernel lists the nodes of memory.
const NODES: &str = "/sys/devices/system/node";

/// Those that this process may use, whatever core the calling thread is kept on.
pub fn allowed() -> CpuSet {
    let own = sched_getaffinity(Some(rustix::process::getpid())).unwrap_or_else(|_| Allowed::new());
    (0..CpuSet::MAX.min(Allowed::MAX_CPU as u32)).filter(|cpu| own.is_set(*cpu as usize)).collect()
}

/// Those of a node of memory; none where there is no such node.
pub fn of_node(node: u32) -> Option<CpuSet> {
    let list = read_line(&Path::new(NODES).join(format!("node{node}/cpulist")))?;
    CpuSet::read(&list)
}

/// The numbers of the nodes.
pub fn nodes() -> Vec<u32> {
    let number = |path: std::path::PathBuf| path.file_name()?.to_str()?.strip_prefix("node")?.parse().ok();
    let mut nodes: Vec<u32> = children(Path::new(NODES)).filter_map(number).collect();
    nodes.sort_unstable();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_may_use_a_processor_and_a_node_that_is_listed_can_be_read() {
        assert!(allowed().iter().next().is_some());
        assert!(nodes().into_iter().all(|node| of_node(node).is_some()));
        assert_eq!(of_node(9_999), None);
    }
}
