//! The run file as its users meet it: written by a run, killed, filled up, copied, tampered with.

mod arbitrary;
mod checksums;
mod crash;
mod full_disk;
mod golden;
mod hostile;
mod pages;
mod planted;
mod redaction;
mod round_trip;
mod skip;
