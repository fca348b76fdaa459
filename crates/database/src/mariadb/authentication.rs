//! Proves to the server that we know the password, by the two plugins that both servers have.
//!
//! The one idea: what is sent is the hash of the password, hidden by what the server alone drew and by a hash that it keeps.
//!
//! What it does not do: it encrypts no password with a key that the server names: whoever answers there could read it.

use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

observation::words! {
    /// How a server wants a password proved: one that does not remember the password wants `Caching` told the password itself.
    pub(super) enum Plugin {
        Native = "mysql_native_password",
        Caching = "caching_sha2_password",
    }
}

impl Plugin {
    pub(super) const NAMES: &str = "mysql_native_password, caching_sha2_password";

    pub(super) fn named(name: &[u8]) -> Option<Plugin> {
        Plugin::of_word(str::from_utf8(name).ok()?)
    }

    /// The proof; an empty one for no password.
    pub(super) fn proof(self, password: &str, salt: &[u8]) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        let (algorithm, salt_first) = match self {
            Plugin::Native => (&SHA1_FOR_LEGACY_USE_ONLY, true),
            Plugin::Caching => (&SHA256, false),
        };
        let once = hash(algorithm, &[password.as_bytes()]);
        let twice = hash(algorithm, &[&once]);
        let drawn = hash(algorithm, &if salt_first { [salt, &twice] } else { [&twice, salt] });
        once.iter().zip(drawn).map(|(kept, drawn)| kept ^ drawn).collect()
    }
}

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(algorithm);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed once by another program.
    #[test]
    fn proofs_are_those_that_the_servers_compute() {
        let salt: Vec<u8> = (1..=20).collect();
        let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(Plugin::Native.proof("s3cret", &salt)), "f66fdd3ff855d9349a0ddb50c4a1a535fb412465");
        let caching = "3f3a9a7786fd9be9a006eed686b4e6b76484fdc06dc15685df5f8793574b84fc";
        assert_eq!(hex(Plugin::Caching.proof("s3cret", &salt)), caching);
        for plugin in [Plugin::Native, Plugin::Caching] {
            assert_eq!(plugin.proof("", &salt), b"");
            assert_eq!(Plugin::named(plugin.word().as_bytes()), Some(plugin));
        }
    }
}
