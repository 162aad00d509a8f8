//! Streams: items are sent, and their outcomes read as they come, in order.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{Stream, StreamExt, future, stream};
use prost::Message;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tonic::Code;

use crate::connection::attempts::start;
use crate::connection::{Connection, lock};
use crate::error::{Error, ErrorKind};

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

/// The sending half of a stream. Dropping it ends the items.
pub(crate) struct ItemSender<R: StreamRpc> {
    shared: Arc<Shared<R>>,
    message_bytes: usize,
}

/// The receiving half of a stream. Dropping it cancels the call.
pub(crate) struct OutcomeReceiver<R: StreamRpc> {
    shared: Arc<Shared<R>>,
    /// Unbounded, because the slots bound it.
    outcomes: mpsc::UnboundedReceiver<(String, Result<R::Outcome, Error>)>,
    call: AbortHandle,
    reported: bool,
}

struct Shared<R: StreamRpc> {
    /// A permit for each further item; closed at the end of the call.
    slots: Semaphore,
    state: Mutex<State<R>>,
}

struct State<R: StreamRpc> {
    /// The requests; unset once the items or the call have ended. The connection would keep a
    /// call that was left for as long as it has requests to expect.
    ///
    /// Unbounded, because the slots bound it.
    requests: Option<mpsc::UnboundedSender<R::Request>>,
    /// The items that have no outcome, in order.
    pending: VecDeque<PendingItem>,
    summary: Option<R::Summary>,
    /// What ended the call.
    end: Option<Result<(), Error>>,
}

/// An item that was sent. If it could not be, only its id was, and the error replaces its
/// outcome: so each item has one response, and responses stay in order.
struct PendingItem {
    id: String,
    error: Option<Error>,
}

impl Connection {
    /// Opens a stream that begins with `opening`.
    pub(crate) async fn open_stream<R: StreamRpc>(
        &self,
        opening: R::Request,
        outstanding: usize,
        timeout: Option<Duration>,
    ) -> Result<(ItemSender<R>, OutcomeReceiver<R>), Error> {
        if outstanding == 0 || outstanding > Semaphore::MAX_PERMITS {
            let message = format!("outstanding must be positive, not {outstanding}");
            return Err(Error::invalid_argument(message));
        }
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let opener = match timeout {
            Some(timeout) => self.with_timeout(self.timeout.min(timeout)),
            None => self.clone(),
        };
        // Fetched for each stream: this call is retried while no server responds, unlike the
        // stream itself.
        let message_bytes = opener.info().await?.limits.message_bytes as usize;
        if opening.encoded_len() > message_bytes {
            return Err(Error::too_large(opening.encoded_len(), message_bytes));
        }
        let (requests, to_send) = mpsc::unbounded_channel();
        let (received, outcomes) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            slots: Semaphore::new(outstanding),
            state: Mutex::new(State {
                requests: Some(requests),
                pending: VecDeque::new(),
                summary: None,
                end: None,
            }),
        });
        let to_send = stream::once(future::ready(opening)).chain(stream::poll_fn({
            let mut to_send = to_send;
            move |context| to_send.poll_recv(context)
        }));
        // A task, because some servers send no headers before the first outcome: opening must
        // not wait for them. It also tells the sender at once when the call has ended.
        let call = tokio::spawn({
            let (connection, shared) = (self.clone(), Arc::clone(&shared));
            async move {
                let exchange = connection.exchange(to_send, &shared, &received, deadline);
                let result = connection.until_closed(exchange, deadline).await;
                shared.end(result);
                // Not before, because the receiver then looks for what ended the call.
                drop(received);
            }
        });
        let sender = ItemSender {
            shared: Arc::clone(&shared),
            message_bytes,
        };
        let receiver = OutcomeReceiver {
            shared,
            outcomes,
            call: call.abort_handle(),
            reported: false,
        };
        Ok((sender, receiver))
    }

    async fn exchange<R: StreamRpc>(
        &self,
        requests: impl Stream<Item = R::Request> + Send + 'static,
        shared: &Shared<R>,
        outcomes: &mpsc::UnboundedSender<(String, Result<R::Outcome, Error>)>,
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let route = self.answering_route().await?;
        let mut responses = start(&route, R::PATH, requests, deadline).await?;
        while let Some(response) = responses.next().await? {
            match R::decode(response) {
                Response::Item(id, outcome) => {
                    // It fails if the receiver was dropped, which aborts this task.
                    let _ = outcomes.send(shared.settle(&id, outcome)?);
                }
                Response::Summary(summary) => lock(&shared.state).summary = Some(summary),
            }
        }
        Ok(())
    }
}

impl<R: StreamRpc> ItemSender<R> {
    /// Sends an item, once fewer than the outstanding ones have an outcome that was not read.
    ///
    /// Nothing is sent if the future is dropped.
    pub(crate) async fn send(&mut self, id: &str, mut message: R::Request) -> Result<(), Error> {
        let Ok(slot) = self.shared.slots.acquire().await else {
            return Err(self.shared.end_error());
        };
        let mut error = None;
        let size = message.encoded_len();
        if size > self.message_bytes {
            error = Some(Error::too_large(size, self.message_bytes));
            message = R::without_item(id);
            if message.encoded_len() > self.message_bytes {
                let message = "the id of the item does not fit in a message";
                return Err(Error::invalid_argument(message));
            }
        }
        let mut state = lock(&self.shared.state);
        let Some(requests) = &state.requests else {
            drop(state);
            return Err(self.shared.end_error());
        };
        // It fails if the call has just ended; the item is then listed as unanswered.
        let _ = requests.send(message);
        let id = id.to_owned();
        state.pending.push_back(PendingItem { id, error });
        // The receiver gives it back once the outcome was read.
        slot.forget();
        Ok(())
    }
}

impl<R: StreamRpc> Drop for ItemSender<R> {
    fn drop(&mut self) {
        lock(&self.shared.state).requests = None;
    }
}

impl<R: StreamRpc> OutcomeReceiver<R> {
    /// What the server said of the whole stream, at its end.
    pub(crate) fn take_summary(&mut self) -> Option<R::Summary> {
        lock(&self.shared.state).summary.take()
    }
}

impl<R: StreamRpc> Stream for OutcomeReceiver<R> {
    type Item = Result<(String, Result<R::Outcome, Error>), Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(outcome) = ready!(self.outcomes.poll_recv(context)) {
            self.shared.slots.add_permits(1);
            return Poll::Ready(Some(Ok(outcome)));
        }
        if self.reported {
            return Poll::Ready(None);
        }
        self.reported = true;
        let end = lock(&self.shared.state).end.clone();
        Poll::Ready(match end {
            Some(Ok(())) => None,
            _ => Some(Err(self.shared.end_error())),
        })
    }
}

impl<R: StreamRpc> Drop for OutcomeReceiver<R> {
    fn drop(&mut self) {
        self.call.abort();
        self.shared.end(Err(left()));
    }
}

impl<R: StreamRpc> Shared<R> {
    /// Takes the oldest item, and returns its id and outcome.
    fn settle(
        &self,
        id: &str,
        outcome: Result<R::Outcome, Error>,
    ) -> Result<(String, Result<R::Outcome, Error>), Error> {
        let mut state = lock(&self.state);
        let item = state.pending.front_mut();
        let Some(item) = item.filter(|item| id.is_empty() || id == item.id) else {
            return Err(Error::invalid_response("the server responded out of order"));
        };
        let outcome = match (item.error.take(), outcome) {
            (Some(error), _) => Err(error),
            (None, Err(error)) if error.kind() == &ErrorKind::InvalidResponse => return Err(error),
            (None, outcome) => outcome,
        };
        let id = std::mem::take(&mut item.id);
        state.pending.pop_front();
        Ok((id, outcome))
    }

    /// Keeps what ended the call, and wakes up a sender that waits.
    fn end(&self, result: Result<(), Error>) {
        let mut state = lock(&self.state);
        if state.end.is_none() {
            let is_complete = state.requests.is_none() && state.pending.is_empty();
            state.end = Some(result.and_then(|()| match is_complete {
                true => Ok(()),
                false => Err(Error::invalid_response("the server ended the stream early")),
            }));
        }
        state.requests = None;
        drop(state);
        self.slots.close();
    }

    /// The error of a call that has ended, with the items that have no outcome.
    fn end_error(&self) -> Error {
        let state = lock(&self.state);
        let unanswered = state.pending.iter().map(|item| item.id.clone()).collect();
        let error = match &state.end {
            Some(Err(error)) => error.clone(),
            // The runtime dropped the task, or nothing was left to send for.
            _ => left(),
        };
        error.in_stream(unanswered)
    }
}

fn left() -> Error {
    let message = "the stream was left";
    Error::new(ErrorKind::Request, "CANCELLED", message, Code::Cancelled)
}
