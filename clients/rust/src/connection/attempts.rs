//! Attempts of a call, and the delays between them.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use futures_util::{Stream, future, stream};
use http::uri::PathAndQuery;
use prost::Message;
use tokio::time::Instant;
use tonic::Code;
use tonic::client::Grpc;

use crate::codec::CheckedCodec;
use crate::connection::Connection;
use crate::connection::channels::Route;
use crate::connection::responses::CheckedChannel;
use crate::error::Error;
use crate::peer::Peer;
use crate::rpc::Rpc;
use crate::status::call_error;
use crate::token::Credentials;

/// Delays between the attempts of one call, each with up to as much again at random, so that
/// clients that lost the same server do not return together. There are five attempts.
const DELAYS: ExponentialBuilder = ExponentialBuilder::new()
    .with_jitter()
    .with_min_delay(Duration::from_millis(5))
    .with_factor(4.0)
    .with_max_times(4);

impl Connection {
    pub(super) async fn retry<R: Rpc>(
        &self,
        request: R,
        credentials: &Credentials,
        deadline: Instant,
    ) -> Result<R::Response, Error> {
        let attempt = || self.attempt(request.clone(), credentials, deadline);
        loop {
            match attempt.retry(DELAYS).when(is_transient).await {
                // A server at its limit of streams refuses one before any work on it, so that it
                // may be sent again as often as the deadline allows (RFC 9113, section 8.7). It
                // happens to clients that have as many calls as the limit, because a server may
                // count a stream for longer than its client does.
                Err(error) if error.is_refused() && is_transient(&error) => {}
                result => return result,
            }
        }
    }

    async fn attempt<R: Rpc>(
        &self,
        request: R,
        credentials: &Credentials,
        deadline: Instant,
    ) -> Result<R::Response, Error> {
        let route = self.route().await?;
        let result = exchange(&route, request, credentials, deadline).await;
        self.note_attempt(&route, &result);
        result
    }
}

/// Whether a call that ended with `error` may be sent again: only `UNAVAILABLE` is transient and
/// of a call that the server has not processed, and the server may forbid it.
fn is_transient(error: &Error) -> bool {
    error.code() == Code::Unavailable && !error.is_final()
}

async fn exchange<R: Rpc>(
    route: &Route,
    request: R,
    credentials: &Credentials,
    deadline: Instant,
) -> Result<R::Response, Error> {
    let request = stream::once(future::ready(request));
    // As a stream, because tonic reports a response without a message as INTERNAL.
    let mut responses = start(route, R::PATH, request, credentials, Some(deadline)).await?;
    let Some(response) = responses.next().await? else {
        let message = "the call ended without an error and without a response";
        return Err(Error::invalid_response(message));
    };
    // The status comes after the message.
    responses.next().await?;
    Ok(response)
}

/// Starts a call.
pub(super) async fn start<Request: Message + 'static, Response: Message + Default + 'static>(
    route: &Route,
    path: &'static str,
    requests: impl Stream<Item = Request> + Send + 'static,
    credentials: &Credentials,
    deadline: Option<Instant>,
) -> Result<Responses<Response>, Error> {
    let channel = CheckedChannel(route.channel.clone());
    // The server limits what it receives; a limit on responses could only lose them.
    let mut grpc = Grpc::new(channel).max_decoding_message_size(usize::MAX);
    let not_ready = |error| {
        call_error(
            &tonic::Status::from_error(Box::new(error)),
            deadline,
            &route.peer,
        )
    };
    grpc.ready().await.map_err(not_ready)?;
    let mut requests = tonic::Request::new(requests);
    credentials.add_to(requests.metadata_mut());
    if let Some(deadline) = deadline {
        requests.set_timeout(deadline.saturating_duration_since(Instant::now()));
    }
    let path = PathAndQuery::from_static(path);
    let codec = CheckedCodec::<Request, Response>::new();
    match grpc.streaming(requests, path, codec).await {
        Ok(response) => Ok(Responses {
            messages: response.into_inner(),
            deadline,
            peer: Arc::clone(&route.peer),
        }),
        Err(status) => Err(call_error(&status, deadline, &route.peer)),
    }
}

/// The responses of a call.
pub(super) struct Responses<Response> {
    messages: tonic::Streaming<Result<Response, Error>>,
    deadline: Option<Instant>,
    peer: Arc<Peer>,
}

impl<Response> Responses<Response> {
    /// The next response; none at the end of a call without an error.
    pub(super) async fn next(&mut self) -> Result<Option<Response>, Error> {
        match self.messages.message().await {
            Ok(message) => {
                self.peer.note_response();
                message.transpose()
            }
            Err(status) => Err(call_error(&status, self.deadline, &self.peer)),
        }
    }
}
