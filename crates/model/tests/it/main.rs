//! What models promise, held through their public door.

mod agree;
mod bounds;
mod streams;
