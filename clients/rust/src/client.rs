//! The client, with the calls of validation and of the server's description.

mod comparison;
mod registry;

use std::time::Duration;

use futures_util::Stream;
use tonic::transport::Channel;

use crate::connection::Connection;
use crate::conversion::Conversion;
use crate::error::Error;
use crate::inference::Inference;
use crate::json::Json;
use crate::options::{ClientOptions, OnUnavailable};
use crate::protocol::Protocol;
use crate::stream::{self, StreamOptions, StreamOutcome, StreamOutcomes, StreamSender};
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::validation::{Item, Options, Subject, decode_outcome};
use crate::values::info::ServerInfo;
use crate::values::verdict::Verdict;

/// A client of a Sidecheck server. Clones share its connection.
///
/// It connects at the first call, and belongs to the Tokio runtime of that call. A call that is
/// dropped is cancelled. `UNAVAILABLE` is retried four times within the deadline, unless the server
/// forbids it.
#[derive(Clone)]
pub struct Client {
    connection: Connection,
}

impl Client {
    /// Makes a client of the server at `address`: `host:port`, `dns:///host:port` for all
    /// addresses of a host name, `unix:/path` or `unix:path`.
    ///
    /// # Errors
    ///
    /// The address or an option is invalid.
    pub fn new(address: &str, options: ClientOptions) -> Result<Self, Error> {
        Ok(Self {
            connection: Connection::new(address, options)?,
        })
    }

    /// The same client with another deadline for each call, which must be positive.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            connection: self.connection.with_timeout(timeout),
        }
    }

    /// Policy for validations that no server answers.
    pub fn on_unavailable(&self) -> OnUnavailable {
        self.connection.on_unavailable()
    }

    /// The least revision of the registry that requests read.
    pub fn min_revision(&self) -> u64 {
        self.connection.min_revision()
    }

    /// Sets the least revision of the registry that later requests of this client and its clones
    /// read; 0, the default, is any.
    ///
    /// Several servers may share a registry, and follow it. Given the revision that a registration
    /// or deletion returned, through whatever client, a request waits until its server has it. It
    /// fails with `REVISION_NOT_REACHED` if the server does not have it after 5 s, and by the
    /// deadline if that is earlier.
    pub fn set_min_revision(&self, revision: u64) {
        self.connection.set_min_revision(revision);
    }

    /// Checks of messages against the rules of the protocol.
    pub fn protocol(&self) -> Protocol {
        Protocol::new(self.connection.clone())
    }

    /// Conversions between MCP and the APIs of model providers.
    pub fn conversion(&self) -> Conversion {
        Conversion::new(self.connection.clone())
    }

    /// Inference of tool definitions, and their adaptation to protocol versions.
    pub fn inference(&self) -> Inference {
        Inference::new(self.connection.clone())
    }

    /// The connection, for the generated clients in [`stubs`](crate::stubs); of a host with
    /// several addresses, that to the next one. It adds no token to their calls.
    ///
    /// # Errors
    ///
    /// The client is closed, or the host name has no address.
    pub async fn channel(&self) -> Result<Channel, Error> {
        self.connection.channel().await
    }

    /// Closes the connection for this client and its clones; pending calls fail with
    /// `CLIENT_CLOSED`.
    pub fn close(&self) {
        self.connection.close();
    }

    /// Validates the arguments of a tool call.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn validate(
        &self,
        target: impl Into<Target>,
        arguments: impl Into<Json>,
        options: &Options,
    ) -> Result<Verdict, Error> {
        self.validate_subject(target.into(), Subject::Arguments(arguments.into()), options)
            .await
    }

    /// Validates structured content, or its absence; otherwise as [`Client::validate`].
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn validate_structured_content(
        &self,
        target: impl Into<Target>,
        content: Option<Json>,
        options: &Options,
    ) -> Result<Verdict, Error> {
        self.validate_subject(target.into(), Subject::StructuredContent(content), options)
            .await
    }

    /// Validates the complete `params` of a `tools/call`; otherwise as [`Client::validate`].
    ///
    /// # Errors
    ///
    /// No verdict was possible. For an unknown tool, [`Error::json_rpc_error`] is what to send.
    pub async fn validate_call(
        &self,
        target: impl Into<Target>,
        params: impl Into<Json>,
        options: &Options,
    ) -> Result<Verdict, Error> {
        self.validate_subject(target.into(), Subject::CallParams(params.into()), options)
            .await
    }

    /// Validates a complete `CallToolResult`; otherwise as [`Client::validate`].
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn validate_call_result(
        &self,
        target: impl Into<Target>,
        result: impl Into<Json>,
        options: &Options,
    ) -> Result<Verdict, Error> {
        self.validate_subject(target.into(), Subject::CallResult(result.into()), options)
            .await
    }

    pub(crate) async fn validate_subject(
        &self,
        target: Target,
        subject: Subject,
        options: &Options,
    ) -> Result<Verdict, Error> {
        let request = pb::ValidateRequest {
            target: Some(target.into()),
            subject: Some(subject.into()),
            options: Some(options.encode(self.connection.protocol_version())),
            min_revision: self.connection.min_revision(),
        };
        let result = self.connection.call(request).await.and_then(|response| {
            let verdict = response.verdict.map(Verdict::try_from).transpose()?;
            let verdict = verdict.ok_or_else(|| Error::missing("ValidateResponse.verdict"))?;
            Ok(verdict.at_revision(response.registry_revision))
        });
        self.connection.settle(result, |verdict| verdict)
    }

    /// Returns the verdict that stands in for one, or the error.
    #[cfg(feature = "rmcp")]
    pub(crate) fn settle(&self, error: Error) -> Result<Verdict, Error> {
        self.connection.settle(Err(error), |verdict| verdict)
    }

    /// Validates many payloads and returns their outcomes in order.
    ///
    /// The target and the options apply to items without their own. A batch beyond the server's
    /// limits is sent in several calls, each with the deadline. If no server answers one, the
    /// rest of the items are settled by the policy for unavailable servers.
    ///
    /// # Errors
    ///
    /// The batch as a whole failed.
    pub async fn validate_batch(
        &self,
        items: impl IntoIterator<Item = Item>,
        target: Option<&Target>,
        options: &Options,
    ) -> Result<Vec<Result<Verdict, Error>>, Error> {
        let version = self.connection.protocol_version();
        let items = items.into_iter().map(|item| item.encode(version)).collect();
        let encode = |items| pb::ValidateBatchRequest {
            target: target.map(|target| target.clone().into()),
            options: Some(options.encode(version)),
            items,
            min_revision: self.connection.min_revision(),
        };
        let decode = |response: pb::ValidateBatchResponse| {
            let revision = response.registry_revision;
            let outcomes = response.outcomes.into_iter();
            outcomes
                .map(|outcome| decode_outcome(outcome, revision))
                .collect()
        };
        self.connection
            .call_in_parts(items, encode, decode, |verdict| verdict)
            .await
    }

    /// Opens a stream of payloads, which are validated as they come.
    ///
    /// The target and the options apply to items without their own. Send and read concurrently,
    /// as [`Client::validate_stream`] does: sending waits while as many items as
    /// [`StreamOptions::outstanding`] have outcomes that were not read. Opening fetches the
    /// limits of the server, with the deadline and the retries of any call; the stream itself is
    /// not retried. The policy for unavailable servers does not apply.
    ///
    /// # Errors
    ///
    /// The stream could not be opened.
    pub async fn stream(
        &self,
        target: Option<&Target>,
        options: &Options,
        stream: &StreamOptions,
    ) -> Result<(StreamSender, StreamOutcomes), Error> {
        let defaults = pb::StreamDefaults {
            target: target.cloned().map(Into::into),
            options: Some(options.encode(self.connection.protocol_version())),
            min_revision: self.connection.min_revision(),
        };
        stream::open(&self.connection, defaults, stream).await
    }

    /// Validates payloads as they come, and returns the stream of their outcomes, in order.
    ///
    /// Items are pairs of an id, which need not be unique, and an item. They are taken while the
    /// outcomes are read, at most [`StreamOptions::outstanding`] ahead. An error ends the stream,
    /// and dropping it cancels the call; otherwise as [`Client::stream`].
    ///
    /// ```no_run
    /// use futures_util::{StreamExt, stream};
    /// use serde_json::json;
    /// use sidecheck::{Client, Error, Item, Options, RegisteredTool, StreamOptions, Subject};
    ///
    /// # async fn run(client: Client) -> Result<(), Error> {
    /// let target = RegisteredTool::new("weather", "get_forecast").into();
    /// let items = stream::iter(["Oslo", "Rome"]).map(|city| {
    ///     let arguments = Subject::Arguments(json!({"city": city}).into());
    ///     (city.to_owned(), Item::from(arguments))
    /// });
    /// let (options, stream_options) = (Options::default(), StreamOptions::default());
    /// let mut outcomes = client
    ///     .validate_stream(items, Some(&target), &options, &stream_options)
    ///     .await?;
    /// while let Some(outcome) = outcomes.next().await.transpose()? {
    ///     println!("{} {}", outcome.id, outcome.outcome?.valid);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The stream could not be opened.
    pub async fn validate_stream<S>(
        &self,
        items: S,
        target: Option<&Target>,
        options: &Options,
        stream: &StreamOptions,
    ) -> Result<impl Stream<Item = Result<StreamOutcome, Error>> + Send + use<S>, Error>
    where
        S: Stream<Item = (String, Item)> + Send,
    {
        let (sender, outcomes) = self.stream(target, options, stream).await?;
        Ok(stream::feed(sender, outcomes, items))
    }

    /// Returns the server's version, limits and capabilities.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn info(&self) -> Result<ServerInfo, Error> {
        self.connection.info().await
    }
}
