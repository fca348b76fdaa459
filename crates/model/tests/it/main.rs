//! What models promise, held through their public door.

mod streams;
