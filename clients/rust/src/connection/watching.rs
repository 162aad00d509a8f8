//! Watches of registered tools, which go on after a lost connection.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use futures_util::{Stream, future, stream};
use tokio::time::Instant;
use tonic::Code;

use crate::connection::Connection;
use crate::connection::attempts::{Responses, start};
use crate::connection::channels::Route;
use crate::error::{Error, ErrorKind};
use crate::stubs::sidecheck::v1 as pb;
use crate::values::methods::WATCH_TOOLS;
use crate::watching::{WatchDecoder, WatchEvent};

/// Pauses between two attempts to connect, each with up to as much again at random, so that
/// clients that lost the same server do not return together.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_jitter()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_millis(2500))
    .without_max_times();

impl Connection {
    /// The events after those that `request` names; see `Client::watch`.
    pub(crate) fn watch(
        &self,
        request: pb::WatchToolsRequest,
        patience: Duration,
    ) -> impl Stream<Item = Result<WatchEvent, Error>> + Send + use<> {
        let watch = Watch {
            connection: self.clone(),
            request,
            patience,
            call: None,
        };
        stream::unfold(Some(watch), |watch| async {
            let mut watch = watch?;
            let connection = watch.connection.clone();
            let result = connection.until_closed(watch.next(), None).await;
            let rest = result.is_ok().then_some(watch);
            Some((result, rest))
        })
    }

    async fn start_watch(&self, request: pb::WatchToolsRequest) -> Result<Call, Error> {
        let credentials = self.shared.options.credentials()?;
        let route = self.route().await?;
        let request = stream::once(future::ready(request));
        let result = start(&route, WATCH_TOOLS, request, &credentials, None).await;
        self.note_attempt(&route, &result);
        Ok(Call {
            route,
            responses: result?,
            decoder: WatchDecoder::default(),
        })
    }
}

struct Watch {
    connection: Connection,
    /// Request for the events that were not returned yet.
    request: pb::WatchToolsRequest,
    patience: Duration,
    call: Option<Call>,
}

/// A call of a watch. Dropping it cancels it.
struct Call {
    route: Route,
    responses: Responses<pb::WatchToolsResponse>,
    decoder: WatchDecoder,
}

impl Watch {
    async fn next(&mut self) -> Result<WatchEvent, Error> {
        if self.patience.is_zero() {
            return Err(Error::invalid_argument("patience must be positive"));
        }
        // From here on: the time that a caller takes for an event is no silence of the server.
        let heard = Instant::now();
        let mut pauses = PAUSES.build();
        loop {
            let error = match self.read().await {
                Ok(event) => {
                    let position = event.checkpoint();
                    self.request.after_revision = Some(position.revision);
                    self.request.after_id = position.id;
                    return Ok(event);
                }
                Err(error) => error,
            };
            // With a change of which only a part was received.
            self.call = None;
            let requested = error.retry_after().unwrap_or_default();
            let pause = pauses.next().unwrap_or_default().max(requested);
            if !is_lost(&error) || heard.elapsed().saturating_add(pause) > self.patience {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Reads an event, of a new call if there is none.
    async fn read(&mut self) -> Result<WatchEvent, Error> {
        let call = match &mut self.call {
            Some(call) => call,
            call => call.insert(self.connection.start_watch(self.request.clone()).await?),
        };
        let result = call.read().await;
        self.connection.note_attempt(&call.route, &result);
        result
    }
}

impl Call {
    async fn read(&mut self) -> Result<WatchEvent, Error> {
        while let Some(response) = self.responses.next().await? {
            if let Some(event) = self.decoder.decode(response)? {
                return Ok(event);
            }
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            "UNAVAILABLE",
            "the server ended the stream",
            Code::Unavailable,
        ))
    }
}

/// Whether another attempt may end otherwise than with `error`.
fn is_lost(error: &Error) -> bool {
    let is_lasting = matches!(
        error.code(),
        Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented
    );
    error.is_unavailable() && !is_lasting
}
