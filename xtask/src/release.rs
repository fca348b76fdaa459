//! One binary that needs nothing from the machine it is copied to.

use crate::tree::output;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds the binary with the C library inside, checks that it asks for no loader, runs it once, and says how large it is.
///
/// # Errors
/// What went wrong, in words.
pub fn run(root: &Path) -> Result<String, String> {
    let host = host()?;
    let built = Command::new("cargo")
        .current_dir(root)
        .args(["build", "--profile", "heavy", "--locked", "--package", "prony", "--target", &host])
        // A folder of its own: other flags would make every later plain build start from nothing.
        .args(["--target-dir", "target/static"])
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        // Names for a profiler are four fifths of the file; who profiles builds without this chore.
        .env("CARGO_PROFILE_HEAVY_STRIP", "symbols")
        .status()
        .map_err(|error| format!("cannot run cargo: {error}\n"))?;
    if !built.success() {
        return Err("the release did not build\n".to_owned());
    }
    let made = root.join("target/static").join(&host).join("heavy/prony");
    let folder = root.join("target/release-static");
    let binary = folder.join("prony");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}\n", folder.display()))?;
    fs::copy(&made, &binary).map_err(|error| format!("cannot copy {}: {error}\n", made.display()))?;
    describe(&binary)
}

fn describe(binary: &Path) -> Result<String, String> {
    let bytes = fs::read(binary).map_err(|error| format!("cannot read {}: {error}\n", binary.display()))?;
    if !is_static(&bytes) {
        return Err(format!("{} asks for a loader: it is not static\n", binary.display()));
    }
    let version = output(Command::new(binary).arg("--version"))?;
    let megabytes = bytes.len() as f64 / 1e6;
    Ok(format!("target/release-static/prony: {}, static, {megabytes:.1} MB\n", version.trim()))
}

fn host() -> Result<String, String> {
    let verbose = output(Command::new("rustc").arg("-vV"))?;
    let host = verbose.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say for which machine it builds\n".to_owned())
}

/// Whether a 64-bit little-endian ELF file has no program header of kind 3, which names the loader that would have to
/// find shared libraries for it.
fn is_static(elf: &[u8]) -> bool {
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = elf.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let headers = || -> Option<Vec<u64>> {
        let (table, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
        (0..count).map(|i| number((table + i * size) as usize, 4)).collect()
    };
    elf.starts_with(b"\x7fELF\x02\x01") && headers().is_some_and(|kinds| !kinds.contains(&3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[0x20] = 64;
        bytes[0x36] = 56;
        bytes[0x38] = kinds.len() as u8;
        for kind in kinds {
            bytes.extend(kind.to_le_bytes());
            bytes.extend([0; 52]);
        }
        bytes
    }

    #[test]
    fn a_binary_that_names_a_loader_is_not_static() {
        assert!(is_static(&elf(&[1, 2, 7])));
        assert!(!is_static(&elf(&[1, 3, 2])));
    }

    #[test]
    fn what_is_no_binary_or_a_cut_one_is_not_static() {
        assert!(!is_static(b"#!/bin/sh\n"));
        assert!(!is_static(&elf(&[1, 2])[..100]));
    }

    #[test]
    fn the_test_itself_needs_a_loader() {
        // Tests are built without the static flag, so this very program is a known dynamic one.
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(is_static(&own), cfg!(target_feature = "crt-static"));
    }
}
