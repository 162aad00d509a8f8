//! Channels to the addresses of a server.

use std::time::Duration;

use tonic::transport::{Channel, Endpoint};

use crate::address::Address;
use crate::connection::Connection;
use crate::error::Error;
use crate::options::ClientOptions;
use crate::status::call_error;

impl Connection {
    pub(super) async fn balanced(&self, host: &str) -> Result<Channel, Error> {
        let resolved = tokio::net::lookup_host(host).await;
        let unresolved =
            |why: String| call_error(&tonic::Status::unavailable(format!("{host}: {why}")));
        let addresses = resolved.map_err(|error| unresolved(error.to_string()))?;
        let mut endpoints = Vec::new();
        for address in addresses {
            let host = Address::Host(address.to_string());
            let endpoint = endpoint(&host, &self.shared.options)?;
            endpoints.push(endpoint.origin(self.shared.endpoint.uri().clone()));
        }
        if endpoints.is_empty() {
            return Err(unresolved("the name has no address".to_owned()));
        }
        Ok(Channel::balance_list(endpoints.into_iter()))
    }
}

pub(super) fn endpoint(address: &Address, options: &ClientOptions) -> Result<Endpoint, Error> {
    let scheme = if options.is_encrypted() {
        "https"
    } else {
        "http"
    };
    let uri = match address {
        Address::Host(host) | Address::AllOfHost(host) => format!("{scheme}://{host}"),
        Address::Unix(path) => format!("unix:{path}"),
    };
    let invalid = |error: tonic::transport::Error| Error::invalid_argument(error.to_string());
    let endpoint = Endpoint::from_shared(uri)
        .map_err(invalid)?
        .http2_keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(10))
        .keep_alive_while_idle(false)
        .tcp_nodelay(true);
    #[cfg(feature = "tls")]
    if let Some(tls) = &options.tls {
        return endpoint.tls_config(tls.config()?).map_err(invalid);
    }
    Ok(endpoint)
}
