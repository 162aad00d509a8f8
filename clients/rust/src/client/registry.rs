//! The calls of the registry.

use futures_util::Stream;

use crate::client::Client;
use crate::connection::{element_bytes, split};
use crate::error::Error;
use crate::registration::RegisterOptions;
use crate::registry::Tool;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::ToolDefinition;
use crate::values::registry::{Deletion, Registration};
use crate::watching::{WatchEvent, WatchOptions};

impl Client {
    /// Registers the tools of `server`. Those without an error are registered, whatever becomes
    /// of the others.
    ///
    /// Tools that do not fit in one message are sent in several; if one fails, the tools of
    /// earlier ones stay registered. Each has a deadline of 30 s, or that of
    /// [`Client::with_timeout`].
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
            ..options.encode(version)
        };
        let tools: Vec<pb::InlineTool> = tools.into_iter().map(Into::into).collect();
        let connection = self.connection.for_registration();
        let limit = connection.limits().await?.message_bytes as usize;
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
            let response = connection.call(encode(tools[part].to_vec())).await?;
            if response.outcomes.len() != count {
                let found = response.outcomes.len();
                return Err(Error::invalid_response(format!(
                    "RegisterToolsResponse.outcomes has {found} elements for {count} items"
                )));
            }
            registration.extend(response)?;
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
            min_revision: self.connection.min_revision(),
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
            min_revision: self.connection.min_revision(),
            ..Default::default()
        };
        self.connection.pages(request, |request, page| {
            request.page_token = page.next_page_token;
            let tools = page.tools.into_iter().map(Tool::try_from).collect();
            (tools, !request.page_token.is_empty())
        })
    }

    /// The changes of registered tools as they are made: a stream of events, which ends after an
    /// error only.
    ///
    /// A [`WatchEvent::Change`] has all that one revision changed, in the order of revisions, each
    /// at least once. A [`WatchEvent::Checkpoint`] says that there are no others up to a revision:
    /// first of all without [`WatchOptions::after`], whenever all were sent, and every few seconds.
    /// To mirror the registry: take the first checkpoint, list the tools, and apply what follows.
    ///
    /// A lost connection is made again, and the watch goes on where it was. It has no deadline.
    /// Events are received as the stream is polled, and dropping it cancels the call.
    ///
    /// The error is [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable) if no server was
    /// reached for [`WatchOptions::patience`]. Its reason is `COMPACTED` if the changes after the
    /// position are not kept, or the registry is another one since: mirror it again. Others are
    /// those of any call.
    pub fn watch(
        &self,
        options: &WatchOptions,
    ) -> impl Stream<Item = Result<WatchEvent, Error>> + Send + use<> {
        let after = options.after.clone();
        let request = pb::WatchToolsRequest {
            servers: options.servers.clone(),
            after_revision: after.as_ref().map(|checkpoint| checkpoint.revision),
            after_id: after.map(|checkpoint| checkpoint.id).unwrap_or_default(),
        };
        self.connection.watch(request, options.patience)
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
        Ok(self.connection.call(request).await?.into())
    }
}
