//! Streams: items are sent, and their outcomes read as they come, in order.

mod halves;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt, future, stream};
use prost::Message;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::connection::attempts::start;
use crate::connection::{Connection, LONGEST_TIMEOUT};
use crate::error::Error;
use crate::token::Credentials;

pub(crate) use halves::{ItemSender, OutcomeReceiver};
use halves::{Settled, Shared};

/// A procedure whose requests and responses are streams: after the first request, which has
/// none, each has one response.
pub(crate) trait StreamRpc: 'static {
    /// Message for an item.
    type Request: Message + 'static;
    /// Message for the outcome of an item.
    type Response: Message + Default + 'static;
    /// What an item has unless it has an error.
    type Outcome: Send + 'static;
    /// What the last response says of the whole stream.
    type Summary: Send + 'static;
    /// Path of the procedure.
    const PATH: &'static str;

    /// The message for an item that cannot be sent.
    fn without_item(id: &str) -> Self::Request;

    /// Decodes a response.
    fn decode(response: Self::Response) -> Response<Self::Outcome, Self::Summary>;
}

/// A response in a stream.
pub(crate) enum Response<Outcome, Summary> {
    /// To the item with an id, which is empty where the server could not read it.
    Item(String, Result<Outcome, Error>),
    /// To no item.
    Summary(Summary),
}

impl Connection {
    /// Opens a stream that begins with `opening`.
    pub(crate) async fn open_stream<R: StreamRpc>(
        &self,
        opening: R::Request,
        outstanding: usize,
        timeout: Option<Duration>,
    ) -> Result<(ItemSender<R>, OutcomeReceiver<R>), Error> {
        if outstanding == 0 {
            return Err(Error::invalid_argument("outstanding must be positive"));
        }
        let deadline = timeout.map(|timeout| Instant::now() + timeout.min(LONGEST_TIMEOUT));
        let opener = match timeout {
            Some(timeout) => self.with_timeout(self.timeout().min(timeout)),
            None => self.clone(),
        };
        // Fetched for each stream: this call is retried while no server responds, unlike the
        // stream itself.
        let message_bytes = opener.info().await?.limits.message_bytes as usize;
        if opening.encoded_len() > message_bytes {
            return Err(Error::too_large(opening.encoded_len(), message_bytes));
        }
        let credentials = self.shared.options.credentials()?;
        let (requests, to_send) = mpsc::unbounded_channel();
        let (received, outcomes) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::new(requests, outstanding));
        let to_send = stream::once(future::ready(opening)).chain(stream::poll_fn({
            let mut to_send = to_send;
            move |context| to_send.poll_recv(context)
        }));
        // A task, because some servers send no headers before the first outcome: opening must
        // not wait for them. It also tells the sender at once when the call has ended.
        let call = tokio::spawn({
            let (connection, shared) = (self.clone(), Arc::clone(&shared));
            async move {
                let exchange =
                    connection.exchange(to_send, &credentials, &shared, &received, deadline);
                let result = connection.until_closed(exchange, deadline).await;
                shared.end(result);
                // Not before, because the receiver then looks for what ended the call.
                drop(received);
            }
        });
        let sender = ItemSender::new(Arc::clone(&shared), message_bytes);
        let receiver = OutcomeReceiver::new(shared, outcomes, call.abort_handle());
        Ok((sender, receiver))
    }

    async fn exchange<R: StreamRpc>(
        &self,
        requests: impl Stream<Item = R::Request> + Send + 'static,
        credentials: &Credentials,
        shared: &Shared<R>,
        outcomes: &mpsc::UnboundedSender<Settled<R>>,
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let route = self.answering_route().await?;
        let result = async {
            let mut responses = start(&route, R::PATH, requests, credentials, deadline).await?;
            while let Some(response) = responses.next().await? {
                match R::decode(response) {
                    Response::Item(id, outcome) => {
                        // It fails if the receiver was dropped, which aborts this task.
                        let _ = outcomes.send(shared.settle(&id, outcome)?);
                    }
                    Response::Summary(summary) => shared.keep_summary(summary),
                }
            }
            Ok(())
        };
        let result = result.await;
        self.note_attempt(&route, &result);
        result
    }
}
