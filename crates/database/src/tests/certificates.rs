//! Certificates for tests: an authority of one's own, and a server's certificate for `localhost` that it signed.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

/// Makes `NAME.crt` and `NAME.key` in a folder; signed by itself, or by an authority that was made there before.
fn make(folder: &Path, name: &str, more: &[&str]) -> bool {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.crt")])
        .args(more)
        .current_dir(folder)
        .output();
    made.is_ok_and(|made| made.status.success())
}

/// An authority of this name; false where openssl is not installed.
pub(crate) fn authority(folder: &Path, name: &str) -> bool {
    let subject = format!("/CN=Authority {name}");
    make(folder, name, &["-subj", &subject, "-addext", "basicConstraints=critical,CA:TRUE"])
}

/// A certificate for `localhost` that an authority signed; false where openssl is missing or too old.
pub(crate) fn signed(folder: &Path, name: &str, authority: &str) -> bool {
    let (certificate, key) = (format!("{authority}.crt"), format!("{authority}.key"));
    let names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    let signer = ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", &certificate, "-CAkey", &key];
    make(folder, name, &[&names[..], &signer[..]].concat())
}

/// Gives a file to the owner of a folder, and to nobody else.
pub(crate) fn own(folder: &Path, file: &Path) {
    let owner = std::fs::metadata(folder).unwrap();
    std::os::unix::fs::chown(file, Some(owner.uid()), Some(owner.gid())).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}
