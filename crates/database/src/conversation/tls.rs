//! TLS by rustls: which roots are trusted, and how much of a certificate is verified.

use super::stream::{RawStream, Stream};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;

type Problem = Box<dyn std::error::Error + Send + Sync>;

/// How much of a certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing: it protects from nobody who can change what travels.
    Anybody,
    /// That it was issued by a root that is trusted, not the name in it.
    Authority,
    /// That, and the name.
    Host,
}

/// Agrees on TLS over a stream on which the server said that it can. The certificates in `root` are trusted alone, without it those
/// that the world trusts.
pub(crate) fn wrap(stream: RawStream, host: &str, trust: Trust, root: Option<&Path>) -> Result<Stream, Problem> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let inner = match trust {
        Trust::Anybody => None,
        _ => Some(WebPkiServerVerifier::builder_with_provider(Arc::new(roots(root)?), provider.clone()).build()?),
    };
    let verifier = Verifier { inner, name: trust == Trust::Host, provider };
    let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    let mut session = ClientConnection::new(Arc::new(config), ServerName::try_from(host.to_owned())?)?;
    let mut stream = stream;
    while session.is_handshaking() {
        session.complete_io(&mut stream)?;
    }
    Ok(Stream::Tls(Box::new(rustls::StreamOwned::new(session, stream))))
}

fn roots(root: Option<&Path>) -> Result<RootCertStore, Problem> {
    let mut roots = RootCertStore::empty();
    let Some(path) = root else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    };
    let name = |problem| format!("the certificates in {} cannot be read: {problem}", path.display());
    for certificate in CertificateDer::pem_file_iter(path).map_err(name)? {
        roots.add(certificate.map_err(name)?)?;
    }
    match roots.is_empty() {
        true => Err(format!("{} holds no certificate in PEM", path.display()).into()),
        false => Ok(roots),
    }
}

/// The verification of rustls, of which the name or all but the signature can be left out.
#[derive(Debug)]
struct Verifier {
    inner: Option<Arc<WebPkiServerVerifier>>,
    name: bool,
    provider: Arc<rustls::crypto::CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is looked at last, when the chain was found good.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) if !self.name => {
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
