//! What travels over a wire under TLS.
//!
//! The one idea: both ends of the wire stand in the relay, so that what is between them is real TLS 1.3: records are sealed where they
//! enter the wire, travel as such, count as such, and are opened where they leave it. Neither end needs a certificate: the key is
//! made for the relay, and the near end knows it.
//!
//! What it does not do: it hides nothing from whoever may read the relay's own sockets.

use crate::locked;
use crate::path::Way;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{default_provider, sign::any_eddsa_type};
use rustls::crypto::verify_tls13_signature_with_raw_key;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, Error, ServerConfig, ServerConnection,
    SignatureScheme,
};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, OnceLock};

/// What all connections of this process share: a key of its own, and one who knows it.
type Configs = (Arc<ClientConfig>, Arc<ServerConfig>);

/// Both ends of one connection.
pub(crate) struct Sealed {
    ends: [Mutex<Connection>; 2],
}

impl Sealed {
    /// Both ends, which have agreed on their keys. Whoever connects waits for one round trip for that.
    ///
    /// # Errors
    /// What rustls says.
    pub(crate) fn agreed() -> io::Result<Sealed> {
        static CONFIGS: OnceLock<Result<Configs, Error>> = OnceLock::new();
        let (client, server) = CONFIGS.get_or_init(configs).clone().map_err(io::Error::other)?;
        let name = ServerName::try_from("far.end").map_err(io::Error::other)?;
        let mut near = Connection::from(ClientConnection::new(client, name).map_err(io::Error::other)?);
        let mut far = Connection::from(ServerConnection::new(server).map_err(io::Error::other)?);
        while near.is_handshaking() || far.is_handshaking() {
            hand_over(&mut near, &mut far)?;
            hand_over(&mut far, &mut near)?;
        }
        // What is ready behind the handshake (tickets) is handed over too.
        hand_over(&mut far, &mut near)?;
        Ok(Sealed { ends: [Mutex::new(near), Mutex::new(far)] })
    }

    /// Data as they travel that way.
    ///
    /// # Errors
    /// What rustls says.
    pub(crate) fn seal(&self, way: Way, data: &[u8]) -> io::Result<Vec<u8>> {
        let mut end = locked(&self.ends[way as usize]);
        // Data are taken in as far as there is room for their records.
        let (mut sealed, mut rest) = (Vec::with_capacity(data.len() + data.len() / 256 + 64), data);
        while !rest.is_empty() {
            let taken = end.writer().write(rest)?;
            rest = &rest[taken..];
            while end.wants_write() {
                end.write_tls(&mut sealed)?;
            }
        }
        Ok(sealed)
    }

    /// Data as they were before they travelled that way.
    ///
    /// # Errors
    /// What rustls says, also of records that somebody changed.
    pub(crate) fn open(&self, way: Way, sealed: &[u8]) -> io::Result<Vec<u8>> {
        let mut end = locked(&self.ends[1 - way as usize]);
        let (mut data, mut rest) = (Vec::with_capacity(sealed.len()), sealed);
        while !rest.is_empty() {
            end.read_tls(&mut rest)?;
            let state = end.process_new_packets().map_err(io::Error::other)?;
            let from = data.len();
            data.resize(from + state.plaintext_bytes_to_read(), 0);
            end.reader().read_exact(&mut data[from..])?;
        }
        Ok(data)
    }
}

fn hand_over(from: &mut Connection, to: &mut Connection) -> io::Result<()> {
    let mut sent = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut sent)?;
    }
    let mut rest = sent.as_slice();
    while !rest.is_empty() {
        to.read_tls(&mut rest)?;
        to.process_new_packets().map_err(io::Error::other)?;
    }
    Ok(())
}

fn configs() -> Result<Configs, Error> {
    let general = |problem: &str| Error::General(problem.to_owned());
    let provider = Arc::new(default_provider());
    let random = ring::rand::SystemRandom::new();
    let made = ring::signature::Ed25519KeyPair::generate_pkcs8(&random).map_err(|_| general("no random numbers"))?;
    let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(made.as_ref()))?;
    let public = key.public_key().ok_or_else(|| general("a key without its public half"))?;
    let known = Known { public: public.as_ref().to_vec(), provider: provider.clone() };
    let certified = CertifiedKey::new(vec![CertificateDer::from(public.as_ref().to_vec())], key);
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified))));
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(known))
        .with_no_client_auth();
    Ok((Arc::new(client), Arc::new(server)))
}

/// The near end knows the key of the far one.
#[derive(Debug)]
struct Known {
    public: Vec<u8>,
    provider: Arc<rustls::crypto::CryptoProvider>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match shown.as_ref() == self.public {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::General("another key than that of the relay".to_owned())),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 alone is spoken".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "tests/seal.rs"]
mod tests;
