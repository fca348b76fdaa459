//! What models promise, held through their public door.

mod bounds;
mod streams;
