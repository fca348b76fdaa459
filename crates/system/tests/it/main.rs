//! What needs a real filesystem or a real block device, in one binary.

mod scratch;
