//! Calls to a server, with the deadline, the retries and the limits that they share.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{future, stream};
use http::uri::PathAndQuery;
use prost::Message;
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};

use crate::address::Address;
use crate::client::{ClientOptions, OnUnavailable};
use crate::codec::CheckedCodec;
use crate::error::Error;
use crate::info::{Limits, ServerInfo};
use crate::rpc::Rpc;
use crate::status::call_error;
use crate::stubs::sidecheck::v1 as pb;
use crate::verdict::{Severity, Verdict, Violation};

/// Attempts of one call. Only `UNAVAILABLE` is retried: it is transient, and the server has not
/// processed the call.
const ATTEMPTS: u32 = 5;
const FIRST_DELAY: Duration = Duration::from_millis(10);
const LONGEST_DELAY: Duration = Duration::from_secs(1);
const DELAY_FACTOR: u32 = 4;

/// Deadline that stands for none, where a longer one overflows the clock.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Overhead of an element of a repeated field: its tag and at most five bytes of length.
const ELEMENT_OVERHEAD: usize = 6;

/// The calls of one client; its services share it.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    timeout: Duration,
}

struct Shared {
    address: Address,
    options: ClientOptions,
    endpoint: Endpoint,
    channel: Mutex<Option<Channel>>,
    limits: Mutex<Option<Limits>>,
    closed: watch::Sender<bool>,
}

impl Connection {
    pub(crate) fn new(address: &str, options: ClientOptions) -> Result<Self, Error> {
        let address = Address::parse(address)?;
        if options.timeout.is_zero() {
            return Err(Error::invalid_argument("timeout must be positive"));
        }
        let timeout = options.timeout;
        let endpoint = endpoint(&address, &options)?;
        let shared = Shared {
            address,
            options,
            endpoint,
            channel: Mutex::new(None),
            limits: Mutex::new(None),
            closed: watch::Sender::new(false),
        };
        Ok(Self {
            shared: Arc::new(shared),
            timeout,
        })
    }

    pub(crate) fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            timeout,
        }
    }

    pub(crate) fn protocol_version(&self) -> &str {
        &self.shared.options.protocol_version
    }

    pub(crate) fn on_unavailable(&self) -> OnUnavailable {
        self.shared.options.on_unavailable
    }

    pub(crate) fn close(&self) {
        self.shared.closed.send_replace(true);
        *lock(&self.shared.channel) = None;
    }

    /// The channel, which connects at its first call. It belongs to the current runtime.
    pub(crate) async fn channel(&self) -> Result<Channel, Error> {
        if *self.shared.closed.borrow() {
            return Err(Error::client_closed());
        }
        if let Some(channel) = &*lock(&self.shared.channel) {
            return Ok(channel.clone());
        }
        let channel = match &self.shared.address {
            Address::AllOfHost(host) => self.balanced(host).await?,
            _ => self.shared.endpoint.connect_lazy(),
        };
        // Another call may have made one meanwhile.
        Ok(lock(&self.shared.channel).get_or_insert(channel).clone())
    }

    async fn balanced(&self, host: &str) -> Result<Channel, Error> {
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

    /// Calls a procedure within the deadline.
    pub(crate) async fn call<R: Rpc>(&self, request: R) -> Result<R::Response, Error> {
        let now = Instant::now();
        let deadline = now
            .checked_add(self.timeout)
            .unwrap_or(now + LONGEST_TIMEOUT);
        let mut closed = self.shared.closed.subscribe();
        let result = tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => Err(Error::client_closed()),
            result = tokio::time::timeout_at(deadline, self.retry(request, deadline)) => {
                result.unwrap_or_else(|_| Err(Error::deadline_exceeded()))
            }
        };
        if result
            .as_ref()
            .is_err_and(|error| error.reason() == "LIMIT_EXCEEDED")
        {
            // The server may have been replaced by one with lower limits.
            *lock(&self.shared.limits) = None;
        }
        result
    }

    async fn retry<R: Rpc>(&self, request: R, deadline: Instant) -> Result<R::Response, Error> {
        let mut delay = FIRST_DELAY;
        let mut attempt = 1;
        loop {
            match self.attempt(request.clone(), deadline).await {
                Err(error) if error.code() == Code::Unavailable && attempt < ATTEMPTS => {
                    if matches!(self.shared.address, Address::AllOfHost(_)) {
                        // The name may have other addresses by now.
                        *lock(&self.shared.channel) = None;
                    }
                }
                result => return result,
            }
            // Random, so that clients that lost the same server do not return together.
            tokio::time::sleep(delay.mul_f64(random_fraction())).await;
            delay = LONGEST_DELAY.min(delay * DELAY_FACTOR);
            attempt += 1;
        }
    }

    async fn attempt<R: Rpc>(&self, request: R, deadline: Instant) -> Result<R::Response, Error> {
        // The server limits what it receives; a limit on responses could only lose them.
        let mut grpc = Grpc::new(self.channel().await?).max_decoding_message_size(usize::MAX);
        let not_ready = |error| call_error(&tonic::Status::from_error(Box::new(error)));
        grpc.ready().await.map_err(not_ready)?;
        let mut request = Request::new(stream::once(future::ready(request)));
        request.set_timeout(deadline.saturating_duration_since(Instant::now()));
        let path = PathAndQuery::from_static(R::PATH);
        // As a stream, because tonic reports a response without a message as INTERNAL.
        let codec = CheckedCodec::<R, R::Response>::new();
        let response = grpc.streaming(request, path, codec).await;
        let mut messages = response.map_err(|status| call_error(&status))?.into_inner();
        let first = messages
            .message()
            .await
            .map_err(|status| call_error(&status))?;
        let Some(first) = first else {
            let message = "the call ended without an error and without a response";
            return Err(Error::invalid_response(message));
        };
        // The status comes after the message.
        messages
            .message()
            .await
            .map_err(|status| call_error(&status))?;
        first
    }

    /// Fetches the server's version, limits and capabilities.
    pub(crate) async fn info(&self) -> Result<ServerInfo, Error> {
        let info = ServerInfo::try_from(self.call(pb::GetServerInfoRequest {}).await?)?;
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

    /// Applies the policy for unavailable servers to the result of a validation.
    pub(crate) fn settle<T>(
        &self,
        result: Result<T, Error>,
        fallback: impl FnOnce(Verdict) -> T,
    ) -> Result<T, Error> {
        let error = match result {
            Err(error) if error.is_unavailable() => error,
            result => return result,
        };
        let allowed = match self.on_unavailable() {
            OnUnavailable::Error => return Err(error),
            OnUnavailable::Allow => true,
            OnUnavailable::Deny => false,
        };
        let text = "This could not be validated and was rejected. Try again later.";
        Ok(fallback(Verdict {
            valid: allowed,
            violations: vec![Violation {
                code: "SIDECHECK_UNAVAILABLE".to_owned(),
                severity: if allowed {
                    Severity::Warning
                } else {
                    Severity::Error
                },
                message: format!("not validated: {error}"),
                ..Violation::default()
            }],
            tool_error_text: if allowed {
                String::new()
            } else {
                text.to_owned()
            },
            enforced: true,
            ..Verdict::default()
        }))
    }

    /// Sends items in as many requests as the limits of the server require.
    pub(crate) async fn call_in_parts<M: Message + Clone, R: Rpc, T>(
        &self,
        items: Vec<M>,
        encode: impl Fn(Vec<M>) -> R,
        decode: impl Fn(R::Response) -> Vec<Result<T, Error>>,
        fallback: impl Fn(Verdict) -> T,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let mut outcomes = Vec::with_capacity(items.len());
        if items.is_empty() {
            return Ok(outcomes);
        }
        match self
            .send_parts(&items, encode, decode, &fallback, &mut outcomes)
            .await
        {
            // The remaining parts are not tried: each would cost another deadline.
            Err(error) if error.is_unavailable() => {
                while outcomes.len() < items.len() {
                    outcomes.push(self.settle(Err(error.clone()), &fallback));
                }
                Ok(outcomes)
            }
            Err(error) => Err(error),
            Ok(()) => Ok(outcomes),
        }
    }

    async fn send_parts<M: Message + Clone, R: Rpc, T>(
        &self,
        items: &[M],
        encode: impl Fn(Vec<M>) -> R,
        decode: impl Fn(R::Response) -> Vec<Result<T, Error>>,
        fallback: &impl Fn(Verdict) -> T,
        outcomes: &mut Vec<Result<T, Error>>,
    ) -> Result<(), Error> {
        let limits = self.limits().await?;
        let limit = limits.message_bytes as usize;
        let room = limit.saturating_sub(encode(Vec::new()).encoded_len());
        let sizes: Vec<_> = items.iter().map(element_bytes).collect();
        for part in split(&sizes, room, limits.batch_items as usize) {
            if sizes[part.start] > room {
                outcomes.push(Err(Error::too_large(sizes[part.start], limit)));
                continue;
            }
            let count = part.len();
            let decoded = decode(self.call(encode(items[part].to_vec())).await?);
            if decoded.len() != count {
                let found = decoded.len();
                let message = format!("the response has {found} outcomes for {count} items");
                return Err(Error::invalid_response(message));
            }
            outcomes.extend(
                decoded
                    .into_iter()
                    .map(|outcome| self.settle(outcome, fallback)),
            );
        }
        Ok(())
    }
}

/// The bytes that a message takes as an element of a repeated field, at most.
pub(crate) fn element_bytes<M: Message>(message: &M) -> usize {
    message.encoded_len() + ELEMENT_OVERHEAD
}

/// Ranges of `sizes` within both limits; a size over `room` gets its own.
pub(crate) fn split(
    sizes: &[usize],
    room: usize,
    most_items: usize,
) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut total) = (0, 0);
    for (index, size) in sizes.iter().enumerate() {
        if index > start && (total + size > room || index - start >= most_items) {
            parts.push(start..index);
            (start, total) = (index, 0);
        }
        total += size;
    }
    if !sizes.is_empty() {
        parts.push(start..sizes.len());
    }
    parts
}

fn endpoint(address: &Address, options: &ClientOptions) -> Result<Endpoint, Error> {
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

/// A number from 0 to 1; each hasher of the standard library has random keys.
fn random_fraction() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // The values are replaced as a whole, so they are sound after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn parts_keep_both_limits() {
        assert_eq!(split(&[], 10, 2), []);
        assert_eq!(split(&[5, 5, 5], 10, 9), [0..2, 2..3]);
        assert_eq!(split(&[1, 1, 1], 10, 2), [0..2, 2..3]);
        assert_eq!(split(&[1, 11, 1], 10, 9), [0..1, 1..2, 2..3]);
    }
}
