//! One operation, as drivers carry it out.

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Makes what was written durable.
    Sync,
    /// Gives the bytes back: they read as zeroes until they are written again.
    Trim,
}

/// One operation on one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// Index of the class in the stream's label.
    pub class: u16,
    /// Which module.
    pub module: u16,
    /// Where it starts, in bytes from the start of the module.
    pub offset: u64,
    /// How many bytes it moves, or gives back; 0 for a sync.
    pub bytes: u32,
}
