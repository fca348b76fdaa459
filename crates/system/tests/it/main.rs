//! What needs a real filesystem or a real block device, in one binary.

mod device;
mod loops;
mod scratch;
mod skip;
