//! A transaction of a pair under way, and what happens in a pair.

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A job has thought.
    Start {
        slot: u32,
    },
    /// A delay, or a way over the link, is over.
    Next {
        who: u32,
    },
    /// A disk is done.
    Disk {
        node: u32,
        disk: u32,
        slot: u32,
    },
    /// A log write at a node is down.
    Written {
        node: u32,
    },
    /// The nodes lose each other, and find each other again.
    Suspend,
    Resume,
    /// Rows may be sent again.
    Send,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It computes.
    #[default]
    Work,
    /// It waits for storage.
    Storage,
    /// Its change is on its way to the other node,
    Out,
    /// is carried out there,
    Target,
    /// in the log there,
    Log,
    /// answered,
    Answer,
    /// and on its way back.
    Back,
}

/// A transaction under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    pub node: u32,
    pub stage: Stage,
    /// Pieces that are still to be done, this one included.
    pub pieces: u32,
    /// How often this one is done again, because of locks of the other node.
    pub again: u32,
    pub mirrored: bool,
    pub work_ns: f64,
    pub wait_ns: f64,
    pub submitted: u64,
    pub began: u64,
}
