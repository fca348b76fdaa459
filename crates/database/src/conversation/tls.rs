//! TLS by rustls: which roots are trusted, and how much of a certificate is verified.

use super::common_name::common_name;
use super::stream::{RawStream, Stream};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io;
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
    let (named, roots) = roots(root)?;
    let inner = match trust {
        Trust::Anybody => None,
        _ => Some(WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()?),
    };
    let verifier = Verifier { inner, named, name: trust == Trust::Host, provider };
    let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    let mut session = ClientConnection::new(Arc::new(config), ServerName::try_from(host.to_owned())?)?;
    let mut stream = stream;
    while session.is_handshaking() {
        session.complete_io(&mut stream).map_err(|error| words(error, host))?;
    }
    Ok(Stream::Tls(Box::new(rustls::StreamOwned::new(session, stream))))
}

/// The certificates that are named, and all that are trusted.
fn roots(root: Option<&Path>) -> Result<(Vec<CertificateDer<'static>>, RootCertStore), Problem> {
    let mut roots = RootCertStore::empty();
    let Some(path) = root else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok((Vec::new(), roots));
    };
    let name = |problem: pem::Error| match problem {
        pem::Error::Io(problem) => format!("the certificates in {} cannot be read: {problem}", path.display()),
        _ => format!("{} holds no certificate in PEM", path.display()),
    };
    let named: Vec<_> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(name)?;
    named.iter().try_for_each(|certificate| roots.add(certificate.clone()))?;
    match roots.is_empty() {
        true => Err(format!("{} holds no certificate in PEM", path.display()).into()),
        false => Ok((named, roots)),
    }
}

/// Why there is no TLS, and what to do where it is for the server's certificate.
fn words(error: io::Error, host: &str) -> Problem {
    use CertificateError::*;
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let Some(rustls::Error::InvalidCertificate(why)) = inner else { return error.into() };
    let why = match why {
        Expired | ExpiredContext { .. } => "has expired; give the server a new one".to_owned(),
        NotValidYet | NotValidYetContext { .. } => "is not valid yet; look at the clocks of both machines".to_owned(),
        UnknownIssuer => {
            "was issued by nobody who is trusted here; name its authority, or the certificate itself, with \
                          sslrootcert=FILE (ssl-ca=FILE for MariaDB)"
                .to_owned()
        }
        NotValidForName | NotValidForNameContext { .. } => format!(
            "is not for `{host}`; connect by a name that it holds, or leave the name out: sslmode=verify-ca (ssl-mode=verify-ca for \
             MariaDB)"
        ),
        other if authority(other) => {
            "is that of an authority, and not the one that is named; name the certificate itself with \
                                      sslrootcert=FILE (ssl-ca=FILE for MariaDB)"
                .to_owned()
        }
        Other(why) => format!("is refused: {}", why.0),
        why => format!("is refused: {why}"),
    };
    format!("the server's certificate {why}").into()
}

/// Whether nothing but this stands against a certificate in what was looked at so far, its time among it: it may issue others. The
/// library names it in this word alone.
fn authority(why: &CertificateError) -> bool {
    matches!(why, CertificateError::Other(why) if why.0.to_string() == "CaUsedAsEndEntity")
}

/// The verification of rustls, of which the name or all but the signature can be left out. A certificate that is named itself is
/// trusted as it is, also one that may issue others: that is what the usual recipe for a server's own makes.
#[derive(Debug)]
struct Verifier {
    inner: Option<Arc<WebPkiServerVerifier>>,
    named: Vec<CertificateDer<'static>>,
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
        let is_named = self.named.contains(certificate);
        let verdict = match inner.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(why)) if is_named && authority(&why) => {
                let parsed = ParsedCertificate::try_from(certificate)?;
                verify_server_name(&parsed, name).map(|()| ServerCertVerified::assertion())
            }
            verdict => verdict,
        };
        let fits = || common_name(certificate).is_some_and(|own| own.eq_ignore_ascii_case(&name.to_str()));
        match verdict {
            // The name is looked at last, when the chain was found good.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) if !self.name => {
                Ok(ServerCertVerified::assertion())
            }
            Err(rustls::Error::InvalidCertificate(NotValidForNameContext { presented, .. }))
                if is_named && presented.is_empty() && fits() =>
            {
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
