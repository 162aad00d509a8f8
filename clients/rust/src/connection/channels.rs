//! Channels to the addresses of a server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::address::Address;
use crate::connection::{Connection, lock};
use crate::error::Error;
use crate::options::ClientOptions;
use crate::peer::Peer;

/// Time for which an address without a server is left out, where there are others.
const PAUSE: Duration = Duration::from_secs(1);

/// Time to connect, as in other gRPC libraries. An address that answers nothing would otherwise
/// hold up a call without a deadline for as long as the system tries: minutes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The channels of a client, which are used in turn. tonic's own balancer prefers channels whose
/// calls end soon, which are those without a server.
#[derive(Default)]
pub(super) struct Channels {
    routes: Vec<Route>,
    next: usize,
    /// Whether the host name is to be looked up again.
    stale: bool,
}

/// The channel to one address.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) channel: Channel,
    pub(super) peer: Arc<Peer>,
    /// Unset for an address that is not looked up.
    address: Option<SocketAddr>,
    health: Health,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Untried,
    /// A server has answered.
    Answered,
    /// No server answered the last call.
    PausedUntil(Instant),
}

impl Channels {
    fn pick(&mut self, is_wanted: impl Fn(Health) -> bool) -> Option<Route> {
        let count = self.routes.len();
        let in_turn = (self.next..self.next + count).map(|index| index % count);
        let mut wanted = in_turn.filter(|index| is_wanted(self.routes[*index].health));
        let index = wanted.next()?;
        self.next = (index + 1) % count;
        Some(self.routes[index].clone())
    }

    fn note(&mut self, route: &Route, health: Health) {
        let mut routes = self.routes.iter_mut();
        if let Some(known) = routes.find(|known| known.address == route.address) {
            known.health = health;
        }
    }
}

impl Connection {
    /// The channel of the next address, for one call. It connects at that call, and belongs to
    /// the current runtime.
    pub(super) async fn route(&self) -> Result<Route, Error> {
        if *self.shared.closed.borrow() {
            return Err(Error::client_closed());
        }
        let is_known = {
            let channels = lock(&self.shared.channels);
            !channels.routes.is_empty() && !channels.stale
        };
        if !is_known {
            self.look_up().await?;
        }
        let now = Instant::now();
        let is_ready = |health| !matches!(health, Health::PausedUntil(time) if now < time);
        let mut channels = lock(&self.shared.channels);
        let route = channels.pick(is_ready).or_else(|| channels.pick(|_| true));
        // There is none if the client was closed meanwhile.
        route.ok_or_else(Error::client_closed)
    }

    /// The channel of the next address where a server has answered, for a call that is not
    /// retried.
    pub(super) async fn answering_route(&self) -> Result<Route, Error> {
        let route = lock(&self.shared.channels).pick(|health| health == Health::Answered);
        match route {
            Some(route) => Ok(route),
            None => self.route().await,
        }
    }

    /// Keeps what an attempt says of an address.
    pub(super) fn note_attempt<T>(&self, route: &Route, result: &Result<T, Error>) {
        if route.address.is_none() {
            return;
        }
        let mut channels = lock(&self.shared.channels);
        match result {
            Err(error) if error.code() == Code::Unavailable => {
                channels.note(route, Health::PausedUntil(Instant::now() + PAUSE));
                // The name may have other addresses by now.
                channels.stale = true;
            }
            Err(error) if error.is_unavailable() => {}
            _ => channels.note(route, Health::Answered),
        }
    }

    async fn look_up(&self) -> Result<(), Error> {
        let addresses = match &self.shared.address {
            Address::AllOfHost(host) => match resolve(host, &self.shared.peer).await {
                Ok(addresses) => addresses.into_iter().map(Some).collect(),
                // The addresses that are known may still have servers.
                Err(_) if !lock(&self.shared.channels).routes.is_empty() => Vec::new(),
                Err(error) => return Err(error),
            },
            Address::Host(_) | Address::Unix(_) => vec![None],
        };
        let mut channels = lock(&self.shared.channels);
        if *self.shared.closed.borrow() {
            return Err(Error::client_closed());
        }
        channels.stale = false;
        if addresses.is_empty() {
            return Ok(());
        }
        let is_first = channels.routes.is_empty();
        let known = std::mem::take(&mut channels.routes);
        for address in addresses {
            let route = match known.iter().find(|route| route.address == address) {
                Some(route) => route.clone(),
                None => Route {
                    channel: self.endpoint_of(address)?.connect_lazy(),
                    peer: Arc::clone(&self.shared.peer),
                    address,
                    health: Health::Untried,
                },
            };
            channels.routes.push(route);
        }
        if is_first {
            // Random, so that clients of one call each do not all call the same server.
            channels.next = fastrand::usize(..channels.routes.len());
        }
        Ok(())
    }

    fn endpoint_of(&self, address: Option<SocketAddr>) -> Result<Endpoint, Error> {
        let Some(address) = address else {
            return Ok(self.shared.endpoint.clone());
        };
        let origin = self.shared.endpoint.uri().clone();
        let host = Address::Host(address.to_string());
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.shared.options.tls {
            // The certificate has the name, and not the address.
            let name = origin
                .host()
                .map(|host| host.trim_matches(['[', ']']).to_owned());
            let tls = crate::tls::Tls {
                server_name: tls.server_name.clone().or(name),
                ..tls.clone()
            };
            let options = ClientOptions {
                tls: Some(tls),
                ..self.shared.options.clone()
            };
            return Ok(endpoint(&host, &options)?.origin(origin));
        }
        Ok(endpoint(&host, &self.shared.options)?.origin(origin))
    }
}

async fn resolve(host: &str, peer: &Peer) -> Result<Vec<SocketAddr>, Error> {
    let resolved = tokio::net::lookup_host(host).await;
    let mut addresses = Vec::new();
    for address in resolved.map_err(|_| peer.unresolved())? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(peer.unresolved());
    }
    Ok(addresses)
}

pub(super) fn endpoint(address: &Address, options: &ClientOptions) -> Result<Endpoint, Error> {
    let scheme = match options.is_encrypted() {
        true => "https",
        false => "http",
    };
    let uri = match address {
        Address::Host(host) | Address::AllOfHost(host) => format!("{scheme}://{host}"),
        Address::Unix(_) if options.is_encrypted() => {
            let message = "a unix socket has no TLS; expected host:port or dns:///host:port";
            return Err(Error::invalid_argument(message));
        }
        Address::Unix(path) => format!("unix:{path}"),
    };
    let invalid = |error: tonic::transport::Error| Error::invalid_argument(error.to_string());
    let endpoint = Endpoint::from_shared(uri)
        .map_err(invalid)?
        .connect_timeout(CONNECT_TIMEOUT)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The channels to as many addresses, whose ports are their indexes.
    fn channels(count: u16) -> Channels {
        let endpoint = Endpoint::from_static("http://localhost:1");
        let address = Address::parse("localhost:1").unwrap();
        let peer = Arc::new(Peer::new(
            "localhost:1",
            &address,
            &ClientOptions::default(),
        ));
        let route = |port| Route {
            channel: endpoint.connect_lazy(),
            peer: Arc::clone(&peer),
            address: Some(SocketAddr::from(([127, 0, 0, 1], port))),
            health: Health::Untried,
        };
        Channels {
            routes: (0..count).map(route).collect(),
            ..Channels::default()
        }
    }

    fn ports(channels: &mut Channels, is_wanted: fn(Health) -> bool) -> Vec<u16> {
        let picks = (0..4).filter_map(|_| channels.pick(is_wanted));
        picks
            .filter_map(|route| Some(route.address?.port()))
            .collect()
    }

    #[tokio::test]
    async fn channels_are_used_in_turn() {
        assert_eq!(ports(&mut channels(3), |_| true), [0, 1, 2, 0]);
        assert!(channels(0).pick(|_| true).is_none());
    }

    #[tokio::test]
    async fn channels_without_a_server_are_left_out() {
        let mut channels = channels(3);
        let route = channels.routes[1].clone();
        channels.note(&route, Health::PausedUntil(Instant::now()));
        let is_untried = |health| health == Health::Untried;
        assert_eq!(ports(&mut channels, is_untried), [0, 2, 0, 2]);
        channels.note(&route, Health::Answered);
        let has_answered = |health| health == Health::Answered;
        assert_eq!(ports(&mut channels, has_answered), [1, 1, 1, 1]);
    }
}
