//! The client, with the calls of validation, of the registry and of the server's description.

use std::time::Duration;

use futures_util::{Stream, stream};
use tonic::transport::Channel;

use crate::connection::{Connection, element_bytes, split};
use crate::error::Error;
use crate::info::ServerInfo;
use crate::json::Json;
use crate::protocol::Protocol;
use crate::registry::{Deletion, RegisterOptions, Registration, Tool};
use crate::stubs::sidecheck::v1 as pb;
use crate::target::{Target, ToolDefinition};
use crate::validation::{Item, Options, Subject, decode_outcome, version_or};
use crate::verdict::Verdict;

/// Policy for validations that no server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnavailable {
    /// The error is returned.
    #[default]
    Error,
    /// The verdict is valid, with a warning of the code `SIDECHECK_UNAVAILABLE`.
    Allow,
    /// The verdict is invalid, with an error of the code `SIDECHECK_UNAVAILABLE`.
    Deny,
}

/// Options of a client.
#[derive(Clone)]
pub struct ClientOptions {
    /// Deadline of each call, retries included; 2 s by default. Must be positive.
    pub timeout: Duration,
    /// Policy for validations that no server answers.
    pub on_unavailable: OnUnavailable,
    /// MCP protocol version of all requests that name none, for example `2025-11-25`. Empty
    /// leaves it to the server.
    pub protocol_version: String,
    /// TLS of the connection; without it, the connection is in plain text.
    #[cfg(feature = "tls")]
    pub tls: Option<crate::tls::Tls>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            on_unavailable: OnUnavailable::default(),
            protocol_version: String::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl ClientOptions {
    pub(crate) fn is_encrypted(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }
}

/// A client of a Sidecheck server. Clones share its connection.
///
/// It connects at the first call, and belongs to the Tokio runtime of that call. A call that is
/// dropped is cancelled. `UNAVAILABLE` is retried four times within the deadline.
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

    /// The same client with another deadline for each call.
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

    /// Checks of messages against the rules of the protocol.
    pub fn protocol(&self) -> Protocol {
        Protocol::new(self.connection.clone())
    }

    /// The connection, for the generated clients in [`stubs`](crate::stubs).
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

    async fn validate_subject(
        &self,
        target: Target,
        subject: Subject,
        options: &Options,
    ) -> Result<Verdict, Error> {
        let request = pb::ValidateRequest {
            target: Some(target.into()),
            subject: Some(subject.into()),
            options: Some(options.encode(self.connection.protocol_version())),
        };
        let result = self.connection.call(request).await.and_then(|response| {
            let verdict = response.verdict.map(Verdict::from);
            let verdict = verdict.ok_or_else(|| Error::missing("ValidateResponse.verdict"))?;
            Ok(verdict.at_revision(response.registry_revision))
        });
        self.connection.settle(result, |verdict| verdict)
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

    /// Registers the tools of `server`. Those without an error are registered, whatever becomes
    /// of the others.
    ///
    /// Tools that do not fit in one message are sent in several, each with the deadline; if one
    /// fails, the tools of earlier ones stay registered.
    ///
    /// # Errors
    ///
    /// A tool was rejected, unless the options ask for the outcomes; a tool, or a replacement
    /// as a whole, does not fit in a message; or the call failed.
    pub async fn register(
        &self,
        server: &str,
        tools: impl IntoIterator<Item = ToolDefinition>,
        options: &RegisterOptions,
    ) -> Result<Registration, Error> {
        let version = self.connection.protocol_version();
        let encode = |tools| pb::RegisterToolsRequest {
            server: server.to_owned(),
            tools,
            mode: match options.replace {
                true => pb::RegistrationMode::Replace.into(),
                false => pb::RegistrationMode::Upsert.into(),
            },
            change_policy: options.change_policy.into(),
            validate_only: options.validate_only,
            protocol_version: version_or(&options.protocol_version, version),
        };
        let tools: Vec<pb::InlineTool> = tools.into_iter().map(Into::into).collect();
        let limit = self.connection.limits().await?.message_bytes as usize;
        let room = limit.saturating_sub(prost::Message::encoded_len(&encode(Vec::new())));
        let sizes: Vec<_> = tools.iter().map(element_bytes).collect();
        if let Some(index) = sizes.iter().position(|size| *size > room) {
            let size = sizes[index];
            return Err(Error::invalid_argument(format!(
                "tool {index} takes {size} bytes and one message holds {room}"
            )));
        }
        let mut parts = split(&sizes, room, usize::MAX);
        if options.replace && parts.len() > 1 {
            return Err(Error::invalid_argument(format!(
                "the tools take more bytes than one message holds ({room}); a replacement cannot \
                 be split: register without it, then delete"
            )));
        }
        if parts.is_empty() {
            parts.push(0..0);
        }
        let mut registration = Registration::default();
        for part in parts {
            let count = part.len();
            let response = self.connection.call(encode(tools[part].to_vec())).await?;
            if response.outcomes.len() != count {
                let found = response.outcomes.len();
                return Err(Error::invalid_response(format!(
                    "RegisterToolsResponse.outcomes has {found} elements for {count} tools"
                )));
            }
            registration.extend(response);
        }
        if options.return_rejected {
            Ok(registration)
        } else {
            registration.into_result()
        }
    }

    /// Returns a registered tool, in the form for the protocol version `adapt_to_version`
    /// unless that is empty.
    ///
    /// # Errors
    ///
    /// There is no such tool, or the call failed.
    pub async fn get(
        &self,
        server: &str,
        name: &str,
        adapt_to_version: &str,
    ) -> Result<Tool, Error> {
        let request = pb::GetToolRequest {
            server: server.to_owned(),
            name: name.to_owned(),
            adapt_to_version: adapt_to_version.to_owned(),
        };
        let tool = self.connection.call(request).await?.tool;
        tool.ok_or_else(|| Error::missing("GetToolResponse.tool"))?
            .try_into()
    }

    /// Lists the registered tools of one server, or of all if `server` is empty, by server and
    /// name. They are fetched in pages, each with the deadline; after an error the stream ends.
    pub fn list(
        &self,
        server: &str,
        adapt_to_version: &str,
    ) -> impl Stream<Item = Result<Tool, Error>> + Send + use<> {
        let request = pb::ListToolsRequest {
            server: server.to_owned(),
            adapt_to_version: adapt_to_version.to_owned(),
            ..Default::default()
        };
        let pages = stream::unfold(
            (self.connection.clone(), Some(request)),
            |(connection, request)| async move {
                let mut request = request?;
                let result = connection.call(request.clone()).await;
                let (tools, rest) = match result {
                    Err(error) => (vec![Err(error)], None),
                    Ok(page) => {
                        request.page_token = page.next_page_token;
                        let tools = page.tools.into_iter().map(Tool::try_from).collect();
                        (tools, (!request.page_token.is_empty()).then_some(request))
                    }
                };
                Some((stream::iter(tools), (connection, rest)))
            },
        );
        futures_util::StreamExt::flatten(pages)
    }

    /// Deletes the tools of `server` called `names`, at least one.
    ///
    /// # Errors
    ///
    /// Nothing was deleted.
    pub async fn delete<N: Into<String>>(
        &self,
        server: &str,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Deletion, Error> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let named = !names.is_empty();
        let request = pb::DeleteToolsRequest {
            server: server.to_owned(),
            names,
            all: false,
        };
        let deletion = self.call_deletion(request).await?;
        if named && deletion.deleted.is_empty() && deletion.unknown.is_empty() {
            let message = "DeleteToolsResponse has no names for those of the request";
            return Err(Error::invalid_response(message));
        }
        Ok(deletion)
    }

    /// Deletes all tools of `server`.
    ///
    /// # Errors
    ///
    /// Nothing was deleted.
    pub async fn delete_all(&self, server: &str) -> Result<Deletion, Error> {
        let request = pb::DeleteToolsRequest {
            server: server.to_owned(),
            names: Vec::new(),
            all: true,
        };
        self.call_deletion(request).await
    }

    async fn call_deletion(&self, request: pb::DeleteToolsRequest) -> Result<Deletion, Error> {
        let response = self.connection.call(request).await?;
        Ok(Deletion {
            deleted: response.deleted,
            unknown: response.unknown,
            registry_revision: response.registry_revision,
        })
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
