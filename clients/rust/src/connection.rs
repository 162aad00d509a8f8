//! Calls to a server, with the deadline, the retries and the limits that they share.

mod attempts;
mod channels;
mod pages;
mod parts;
mod policy;
mod responses;
pub(crate) mod streams;
mod watching;

use std::future::{self, Future};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint};

use crate::address::Address;
use crate::error::Error;
use crate::options::{ClientOptions, OnUnavailable};
use crate::peer::Peer;
use crate::rpc::Rpc;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::error_reasons;
use crate::values::info::{Limits, ServerInfo};

use channels::{Channels, endpoint};
pub(crate) use parts::{element_bytes, split};

/// Longest deadline; the clock and the header of the call cannot express any.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Deadline of a registration: definitions are compiled.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The calls of one client; its services share it.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    /// Deadline of each call in place of that of the options.
    timeout: Option<Duration>,
}

struct Shared {
    address: Address,
    peer: Arc<Peer>,
    options: ClientOptions,
    endpoint: Endpoint,
    channels: Mutex<Channels>,
    limits: Mutex<Option<Limits>>,
    min_revision: AtomicU64,
    closed: watch::Sender<bool>,
}

impl Connection {
    pub(crate) fn new(text: &str, options: ClientOptions) -> Result<Self, Error> {
        let address = Address::parse(text)?;
        if options.timeout.is_zero() {
            return Err(Error::invalid_argument("timeout must be positive"));
        }
        options.check_token(&address)?;
        let endpoint = endpoint(&address, &options)?;
        let shared = Shared {
            peer: Arc::new(Peer::new(text, &address, &options)),
            address,
            options,
            endpoint,
            channels: Mutex::default(),
            limits: Mutex::new(None),
            min_revision: AtomicU64::new(0),
            closed: watch::Sender::new(false),
        };
        Ok(Self {
            shared: Arc::new(shared),
            timeout: None,
        })
    }

    pub(crate) fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            timeout: Some(timeout),
        }
    }

    /// Deadline of each call.
    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(self.shared.options.timeout)
    }

    /// The connection with the deadline of registrations.
    pub(crate) fn for_registration(&self) -> Self {
        self.with_timeout(self.timeout.unwrap_or(REGISTRATION_TIMEOUT))
    }

    pub(crate) fn protocol_version(&self) -> &str {
        &self.shared.options.protocol_version
    }

    /// The least revision of the registry that requests read.
    pub(crate) fn min_revision(&self) -> u64 {
        self.shared.min_revision.load(Ordering::Relaxed)
    }

    pub(crate) fn set_min_revision(&self, revision: u64) {
        // It guards no other data.
        self.shared.min_revision.store(revision, Ordering::Relaxed);
    }

    pub(crate) fn on_unavailable(&self) -> OnUnavailable {
        self.shared.options.on_unavailable
    }

    pub(crate) fn close(&self) {
        self.shared.closed.send_replace(true);
        *lock(&self.shared.channels) = Channels::default();
    }

    /// The channel of the next address.
    pub(crate) async fn channel(&self) -> Result<Channel, Error> {
        Ok(self.route().await?.channel)
    }

    /// Calls a procedure within the deadline.
    pub(crate) async fn call<R: Rpc>(&self, request: R) -> Result<R::Response, Error> {
        if self.timeout().is_zero() {
            return Err(Error::invalid_argument("timeout must be positive"));
        }
        let credentials = self.shared.options.credentials()?;
        let deadline = Instant::now() + self.timeout().min(LONGEST_TIMEOUT);
        let result = self
            .until_closed(self.retry(request, &credentials, deadline), Some(deadline))
            .await;
        if result
            .as_ref()
            .is_err_and(|error| error.reason() == error_reasons::LIMIT_EXCEEDED)
        {
            // The server may have been replaced by one with lower limits.
            *lock(&self.shared.limits) = None;
        }
        result
    }

    /// Runs a call until it ends, its deadline expires or the client is closed.
    async fn until_closed<T>(
        &self,
        call: impl Future<Output = Result<T, Error>>,
        deadline: Option<Instant>,
    ) -> Result<T, Error> {
        let mut closed = self.shared.closed.subscribe();
        let expired = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => Err(Error::client_closed()),
            result = call => result,
            () = expired => Err(self.shared.peer.deadline_exceeded()),
        }
    }

    /// Fetches the server's version, limits and capabilities.
    pub(crate) async fn info(&self) -> Result<ServerInfo, Error> {
        let response = self.call(pb::GetServerInfoRequest {}).await?;
        let info = ServerInfo::try_from(response)?;
        *lock(&self.shared.limits) = Some(info.limits.clone());
        Ok(info)
    }

    /// The server's limits, which are fetched once.
    pub(crate) async fn limits(&self) -> Result<Limits, Error> {
        let known = lock(&self.shared.limits).clone();
        match known {
            Some(limits) => Ok(limits),
            None => Ok(self.info().await?.limits),
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // No value is left half changed, so they are sound after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
