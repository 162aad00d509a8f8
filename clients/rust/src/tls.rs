//! TLS of a connection.

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::error::Error;

/// TLS of a connection; all certificates and keys are in PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// Certificates of the authorities to trust; without them those of the system.
    pub ca_certificates: Option<Vec<u8>>,
    /// Certificate chain of the client, with its private key.
    pub certificate: Option<Vec<u8>>,
    /// Private key of the client.
    pub private_key: Option<Vec<u8>>,
    /// Name that the certificate of the server must have, if not the host's.
    pub server_name: Option<String>,
}

impl Tls {
    pub(crate) fn config(&self) -> Result<ClientTlsConfig, Error> {
        let mut config = ClientTlsConfig::new();
        config = match &self.ca_certificates {
            Some(pem) => config.ca_certificate(Certificate::from_pem(pem)),
            None => config.with_native_roots(),
        };
        config = match (&self.certificate, &self.private_key) {
            (Some(certificate), Some(key)) => config.identity(Identity::from_pem(certificate, key)),
            (None, None) => config,
            _ => {
                let message = "a client certificate and its private key go together";
                return Err(Error::invalid_argument(message));
            }
        };
        Ok(match &self.server_name {
            Some(name) => config.domain_name(name.clone()),
            None => config,
        })
    }
}
