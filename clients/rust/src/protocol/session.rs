//! Sessions: the messages of an MCP connection, checked in order with the rules that span them.

use std::time::Duration;

use futures_util::StreamExt;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::connection::streams::{ItemSender, OutcomeReceiver, Response, StreamRpc};
use crate::error::Error;
use crate::json::Json;
use crate::protocol::items::decode_outcome;
use crate::protocol::{
    CheckOptions, CheckResult, Protocol, ProtocolContext, ProtocolMessage, Sender,
};
use crate::stubs::sidecheck::v1 as pb;
use crate::values::methods;

/// Options of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Whether the first message to check is not the first of the session; rules that need the
    /// whole session are then not applied.
    pub continued: bool,
    /// Deadline of the session as a whole; none by default.
    pub timeout: Option<Duration>,
}

/// What a session found in more than one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// Violations that say the same of several messages, in the order of the first ones.
    pub repeated_violations: Vec<RepeatedViolation>,
}

/// A violation that several messages have and the verdict on the first of them reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepeatedViolation {
    /// Code of the violation.
    pub code: String,
    /// Tool that it is about. Empty if it is about a side of the session.
    pub tool: String,
    /// Number of messages that have it.
    pub count: u64,
    /// Index of the first of them among the checked messages, from 0.
    pub first_item: u64,
}

/// One MCP session, with the messages of both sides; see [`Protocol::session`].
///
/// Messages are checked one at a time, in the order of the calls, also against the rules that
/// depend on earlier messages. What is true of many messages is in the verdict on the first of
/// them only; [`finish`](Self::finish) counts the others. Dropping a session cancels the call.
pub struct Session {
    exchange: Mutex<Exchange>,
}

struct Exchange {
    messages: ItemSender<CheckSession>,
    outcomes: OutcomeReceiver<CheckSession>,
    /// Number of the last message.
    last: u64,
    /// Whether the outcome of the last message has not been read.
    unread: bool,
}

impl Protocol {
    /// Opens a session.
    ///
    /// The context is what is known before the first message. Without a protocol version, there
    /// or of the client, the one that the session negotiates applies. Opening fetches the limits
    /// of the server, with the deadline and the retries of any call; the session is not retried.
    ///
    /// ```no_run
    /// use serde_json::json;
    /// use sidecheck::{CheckOptions, Client, Error, ProtocolContext, Sender, SessionOptions};
    ///
    /// # async fn run(client: Client) -> Result<(), Error> {
    /// let (context, options) = (ProtocolContext::default(), CheckOptions::default());
    /// let session = client
    ///     .protocol()
    ///     .session(&context, &options, &SessionOptions::default())
    ///     .await?;
    /// let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    /// let result = session.check(message, Sender::Client, None).await?;
    /// println!("{}", result.verdict.valid);
    /// println!("{:?}", session.finish().await?.repeated_violations);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The session could not be opened.
    pub async fn session(
        &self,
        context: &ProtocolContext,
        options: &CheckOptions,
        session: &SessionOptions,
    ) -> Result<Session, Error> {
        use pb::check_session_request::Message;
        let opening = pb::CheckSessionRequest {
            message: Some(Message::Defaults(pb::SessionDefaults {
                context: self.encode_context(context),
                options: Some(options.encode()),
                from_beginning: Some(!session.continued),
            })),
        };
        let (messages, outcomes) = self
            .connection
            .open_stream(opening, 1, session.timeout)
            .await?;
        Ok(Session {
            exchange: Mutex::new(Exchange {
                messages,
                outcomes,
                last: 0,
                unread: false,
            }),
        })
    }
}

impl Session {
    /// Checks the next message of the session.
    ///
    /// Give the sender: without it, requests of the two sides cannot be told apart. The HTTP
    /// status is that of the response to the message, if it was sent over HTTP: a message of the
    /// client that was rejected (400 or more) takes no part in the session. A call that is
    /// dropped does not affect the others; its message may be checked all the same.
    ///
    /// # Errors
    ///
    /// The message could not be checked, and the session continues; or the session has ended,
    /// with the kind `StreamClosed` or `StreamUnavailable`.
    pub async fn check(
        &self,
        message: impl Into<Json>,
        sender: Sender,
        http_status: Option<u16>,
    ) -> Result<CheckResult, Error> {
        let message = ProtocolMessage::new(message, sender);
        let mut exchange = self.exchange.lock().await;
        // A caller that was dropped has left its outcome.
        exchange.read().await?;
        exchange.last += 1;
        let id = exchange.last.to_string();
        let item = pb::SessionItem {
            id: id.clone(),
            message: Some(message.into()),
            http_status: http_status.unwrap_or_default().into(),
        };
        exchange.messages.send(&id, session_item(item)).await?;
        exchange.unread = true;
        match exchange.read().await? {
            Some(outcome) => outcome,
            None => Err(Error::invalid_response(
                "the server ended the session early",
            )),
        }
    }

    /// Ends the session, and returns what several of its messages have in common.
    ///
    /// # Errors
    ///
    /// The session has ended early.
    pub async fn finish(self) -> Result<SessionSummary, Error> {
        let Exchange {
            messages,
            mut outcomes,
            ..
        } = self.exchange.into_inner();
        drop(messages);
        // There may be the outcome of a caller that was dropped.
        while outcomes.next().await.transpose()?.is_some() {}
        let summary = outcomes.take_summary()?;
        summary.ok_or_else(|| Error::invalid_response("the server sent no summary of the session"))
    }
}

impl Exchange {
    /// Reads the outcome of the last message unless it has been.
    async fn read(&mut self) -> Result<Option<Result<CheckResult, Error>>, Error> {
        if !self.unread {
            return Ok(None);
        }
        let next = self.outcomes.next().await.transpose()?;
        self.unread = false;
        Ok(next.map(|(_, outcome)| outcome))
    }
}

struct CheckSession;

impl StreamRpc for CheckSession {
    type Request = pb::CheckSessionRequest;
    type Response = pb::CheckSessionResponse;
    type Outcome = CheckResult;
    type Summary = SessionSummary;
    const PATH: &'static str = methods::CHECK_SESSION;

    fn without_item(id: &str) -> Self::Request {
        session_item(pb::SessionItem {
            id: id.to_owned(),
            ..Default::default()
        })
    }

    fn decode(response: Self::Response) -> Response<Self::Outcome, Self::Summary> {
        match response.summary {
            Some(summary) => Response::Summary(summary.into()),
            None => {
                let outcome = response.outcome.unwrap_or_default();
                Response::Item(response.id, decode_outcome(outcome))
            }
        }
    }
}

fn session_item(item: pb::SessionItem) -> pb::CheckSessionRequest {
    use pb::check_session_request::Message;
    pb::CheckSessionRequest {
        message: Some(Message::Item(item)),
    }
}

impl From<pb::SessionSummary> for SessionSummary {
    fn from(message: pb::SessionSummary) -> Self {
        let decode = |violation: pb::RepeatedViolation| RepeatedViolation {
            code: violation.code,
            tool: violation.tool,
            count: violation.count,
            first_item: violation.first_item,
        };
        Self {
            repeated_violations: message
                .repeated_violations
                .into_iter()
                .map(decode)
                .collect(),
        }
    }
}
