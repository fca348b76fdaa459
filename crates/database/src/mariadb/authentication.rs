//! Proves to the server that we know the password, by the two plugins that both servers have.
//!
//! The one idea: what is sent is the hash of the password, hidden by what the server alone drew and by a hash that it keeps.
//!
//! What it does not do: it encrypts no password with a key that the server names: whoever answers there could read it.

use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

/// How a server wants a password proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plugin {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`: a server that does not remember the password wants itself told it.
    Caching,
}

impl Plugin {
    pub(super) const NAMES: &str = "mysql_native_password, caching_sha2_password";

    pub(super) fn named(name: &[u8]) -> Option<Plugin> {
        [Plugin::Native, Plugin::Caching].into_iter().find(|plugin| plugin.name().as_bytes() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Plugin::Native => "mysql_native_password",
            Plugin::Caching => "caching_sha2_password",
        }
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
            assert_eq!(Plugin::named(plugin.name().as_bytes()), Some(plugin));
        }
    }
}
