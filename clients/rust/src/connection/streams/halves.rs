//! The two halves of a stream, and what they share with the task of its call.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use prost::Message;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tonic::Code;

use crate::connection::lock;
use crate::connection::streams::StreamRpc;
use crate::error::{Error, ErrorKind};

/// The sending half of a stream. Dropping it ends the items.
pub(crate) struct ItemSender<R: StreamRpc> {
    shared: Arc<Shared<R>>,
    message_bytes: usize,
}

/// The receiving half of a stream. Dropping it cancels the call.
pub(crate) struct OutcomeReceiver<R: StreamRpc> {
    shared: Arc<Shared<R>>,
    /// Unbounded, because the slots bound it.
    outcomes: mpsc::UnboundedReceiver<Settled<R>>,
    call: AbortHandle,
    reported: bool,
}

/// What both halves and the task of the call share.
pub(super) struct Shared<R: StreamRpc> {
    /// A permit for each further item; closed at the end of the call.
    slots: Semaphore,
    state: Mutex<State<R>>,
}

/// The id of an item, and its outcome.
pub(super) type Settled<R> = (String, Result<<R as StreamRpc>::Outcome, Error>);

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

impl<R: StreamRpc> ItemSender<R> {
    pub(super) fn new(shared: Arc<Shared<R>>, message_bytes: usize) -> Self {
        Self {
            shared,
            message_bytes,
        }
    }

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
    pub(super) fn new(
        shared: Arc<Shared<R>>,
        outcomes: mpsc::UnboundedReceiver<Settled<R>>,
        call: AbortHandle,
    ) -> Self {
        Self {
            shared,
            outcomes,
            call,
            reported: false,
        }
    }

    /// What the server said of the whole stream, once it has ended.
    pub(crate) fn take_summary(&mut self) -> Result<Option<R::Summary>, Error> {
        let mut state = lock(&self.shared.state);
        match &state.end {
            Some(Ok(())) => Ok(state.summary.take()),
            _ => {
                drop(state);
                Err(self.shared.end_error())
            }
        }
    }
}

impl<R: StreamRpc> Stream for OutcomeReceiver<R> {
    type Item = Result<Settled<R>, Error>;

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
    pub(super) fn new(requests: mpsc::UnboundedSender<R::Request>, outstanding: usize) -> Self {
        Self {
            slots: Semaphore::new(outstanding.min(Semaphore::MAX_PERMITS)),
            state: Mutex::new(State {
                requests: Some(requests),
                pending: VecDeque::new(),
                summary: None,
                end: None,
            }),
        }
    }

    /// Takes the oldest item, and returns its id and outcome.
    pub(super) fn settle(
        &self,
        id: &str,
        outcome: Result<R::Outcome, Error>,
    ) -> Result<Settled<R>, Error> {
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

    pub(super) fn keep_summary(&self, summary: R::Summary) {
        lock(&self.state).summary = Some(summary);
    }

    /// Keeps what ended the call, and wakes up a sender that waits.
    pub(super) fn end(&self, result: Result<(), Error>) {
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
