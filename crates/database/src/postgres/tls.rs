//! TLS by rustls: which roots are trusted, and how much of a certificate is verified.

use super::address::{Connect, Host, Tls};
use super::stream::RawStream;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Agrees on TLS over a stream on which the server said that it can.
pub(super) fn wrap(
    connect: &Connect,
    stream: RawStream,
) -> Result<rustls::StreamOwned<ClientConnection, RawStream>, Problem> {
    let Host::Name(host) = &connect.host else { return Err("a Unix socket has no TLS".into()) };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let verifier = match connect.tls {
        Tls::Disable | Tls::Prefer => Verifier { inner: None, name: false, provider },
        tls => {
            let roots = Arc::new(roots(connect)?);
            let inner = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build()?;
            Verifier { inner: Some(inner), name: tls != Tls::VerifyCa, provider }
        }
    };
    let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    let mut session = ClientConnection::new(Arc::new(config), ServerName::try_from(host.clone())?)?;
    let mut stream = stream;
    while session.is_handshaking() {
        session.complete_io(&mut stream)?;
    }
    Ok(rustls::StreamOwned::new(session, stream))
}

/// The given root certificate alone, or those that the world trusts.
fn roots(connect: &Connect) -> Result<RootCertStore, Problem> {
    let mut roots = RootCertStore::empty();
    let Some(path) = &connect.root else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    };
    let name = |problem: rustls::pki_types::pem::Error| format!("sslrootcert {}: {problem}", path.display());
    for certificate in CertificateDer::pem_file_iter(path).map_err(name)? {
        roots.add(certificate.map_err(name)?)?;
    }
    match roots.is_empty() {
        true => Err(format!("sslrootcert {}: holds no certificate in PEM", path.display()).into()),
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
