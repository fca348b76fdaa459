//! What workloads promise, held through their public door.

mod streams;
