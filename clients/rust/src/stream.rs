//! Streams of payloads to validate.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};

use crate::connection::Connection;
use crate::connection::streams::{ItemSender, OutcomeReceiver, Response, StreamRpc};
use crate::error::Error;
use crate::stubs::sidecheck::v1 as pb;
use crate::validation::{Item, decode_outcome};
use crate::values::methods;
use crate::values::verdict::Verdict;

/// Options of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Most items whose outcomes have not been read, 64 by default; sending waits beyond.
    pub outstanding: usize,
    /// Deadline of the stream as a whole; none by default.
    pub timeout: Option<Duration>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            outstanding: 64,
            timeout: None,
        }
    }
}

/// Outcome of one item of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamOutcome {
    /// Id of the item.
    pub id: String,
    /// The verdict, or the error of the item.
    pub outcome: Result<Verdict, Error>,
}

/// The sending half of a stream of payloads; see [`Client::stream`](crate::Client::stream).
///
/// Dropping it ends the items, as [`finish`](Self::finish) does.
pub struct StreamSender {
    items: ItemSender<ValidateStream>,
    protocol_version: String,
}

impl StreamSender {
    /// Sends an item. Its outcome comes with `id`, which need not be unique.
    ///
    /// It waits while too many outcomes have not been read; if it is dropped then, nothing is
    /// sent. An item that is larger than a message has an error as its outcome, in order.
    ///
    /// # Errors
    ///
    /// The stream has ended early; [`StreamOutcomes`] has the same error.
    pub async fn send(&mut self, id: &str, item: impl Into<Item>) -> Result<(), Error> {
        let item = item.into().encode(&self.protocol_version);
        self.items.send(id, stream_item(id, Some(item))).await
    }

    /// Ends the items; [`StreamOutcomes`] ends after the last outcome.
    pub fn finish(self) {}
}

/// The outcomes of a stream of payloads, in the order of the items; see
/// [`Client::stream`](crate::Client::stream).
///
/// It ends after the last outcome once the items have ended, or after the error that ended the
/// stream early: [`ErrorKind::StreamUnavailable`](crate::ErrorKind::StreamUnavailable) if its
/// server stopped, was lost or did not respond in time, and otherwise
/// [`ErrorKind::StreamClosed`](crate::ErrorKind::StreamClosed). Dropping it cancels the call.
#[must_use = "dropping the outcomes cancels the stream"]
pub struct StreamOutcomes {
    outcomes: OutcomeReceiver<ValidateStream>,
}

impl StreamOutcomes {
    /// The next outcome. No outcome is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Result<StreamOutcome, Error>> {
        StreamExt::next(self).await
    }
}

impl Stream for StreamOutcomes {
    type Item = Result<StreamOutcome, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.outcomes.poll_next_unpin(context);
        next.map_ok(|(id, outcome)| StreamOutcome { id, outcome })
    }
}

pub(crate) async fn open(
    connection: &Connection,
    defaults: pb::StreamDefaults,
    options: &StreamOptions,
) -> Result<(StreamSender, StreamOutcomes), Error> {
    use pb::validate_stream_request::Message;
    let opening = pb::ValidateStreamRequest {
        message: Some(Message::Defaults(defaults)),
    };
    let (items, outcomes) = connection
        .open_stream(opening, options.outstanding, options.timeout)
        .await?;
    let protocol_version = connection.protocol_version().to_owned();
    let sender = StreamSender {
        items,
        protocol_version,
    };
    Ok((sender, StreamOutcomes { outcomes }))
}

/// The outcomes of `items`, which are sent while the outcomes are read.
pub(crate) fn feed(
    mut sender: StreamSender,
    mut outcomes: StreamOutcomes,
    items: impl Stream<Item = (String, Item)> + Send,
) -> impl Stream<Item = Result<StreamOutcome, Error>> + Send {
    let mut feeding = Some(Box::pin(async move {
        let mut items = std::pin::pin!(items);
        while let Some((id, item)) = items.next().await {
            if sender.send(&id, item).await.is_err() {
                // The outcomes end with the same error.
                return;
            }
        }
    }));
    stream::poll_fn(move |context| {
        if let Some(future) = &mut feeding
            && future.as_mut().poll(context).is_ready()
        {
            feeding = None;
        }
        outcomes.poll_next_unpin(context)
    })
}

struct ValidateStream;

impl StreamRpc for ValidateStream {
    type Request = pb::ValidateStreamRequest;
    type Response = pb::ValidateStreamResponse;
    type Outcome = Verdict;
    type Summary = std::convert::Infallible;
    const PATH: &'static str = methods::VALIDATE_STREAM;

    fn without_item(id: &str) -> Self::Request {
        stream_item(id, None)
    }

    fn decode(response: Self::Response) -> Response<Self::Outcome, Self::Summary> {
        let outcome = response.outcome.unwrap_or_default();
        let outcome = decode_outcome(outcome, response.registry_revision);
        Response::Item(response.id, outcome)
    }
}

fn stream_item(id: &str, item: Option<pb::ValidateItem>) -> pb::ValidateStreamRequest {
    use pb::validate_stream_request::Message;
    let item = pb::StreamItem {
        id: id.to_owned(),
        item,
    };
    pb::ValidateStreamRequest {
        message: Some(Message::Item(item)),
    }
}
