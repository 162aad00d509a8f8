//! Checks of single messages, and of batches.

use crate::error::Error;
use crate::json::Json;
use crate::protocol::items::{decode_outcome, decode_result};
use crate::protocol::{
    CheckItem, CheckOptions, CheckResult, Protocol, ProtocolContext, ProtocolMessage, ToolResult,
};
use crate::rpc::Rpc;
use crate::stubs::sidecheck::v1 as pb;

impl Protocol {
    /// Checks the `params` of an `elicitation/create`.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn check_elicitation(
        &self,
        params: impl Into<Json>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        let item = CheckItem::Elicitation(params.into());
        self.check(item, context, options).await
    }

    /// Checks the result of an `elicitation/create`, and its content against the schema in
    /// `params`, those of the request, if they are known.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn check_elicitation_result(
        &self,
        result: impl Into<Json>,
        params: Option<Json>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        let result = result.into();
        let item = CheckItem::ElicitationResult { result, params };
        self.check(item, context, options).await
    }

    /// Checks the `params` of a `sampling/createMessage`, with the whole history.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn check_sampling(
        &self,
        params: impl Into<Json>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        let item = CheckItem::Sampling(params.into());
        self.check(item, context, options).await
    }

    /// Checks a `CallToolResult`.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn check_tool_result(
        &self,
        result: ToolResult,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        let item = CheckItem::ToolResult(result);
        self.check(item, context, options).await
    }

    /// Checks a JSON-RPC message, or a batch of them in a version that has batches.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn check_message(
        &self,
        message: ProtocolMessage,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        let item = CheckItem::Message(message);
        self.check(item, context, options).await
    }

    /// Checks many items and returns their outcomes in order, as
    /// [`Client::validate_batch`](crate::Client::validate_batch) does.
    ///
    /// # Errors
    ///
    /// The batch as a whole failed.
    pub async fn check_batch(
        &self,
        items: impl IntoIterator<Item = CheckItem>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<Vec<Result<CheckResult, Error>>, Error> {
        let encode_element = |item: CheckItem| pb::CheckItem {
            item: Some(item.encode()),
        };
        let items = items.into_iter().map(encode_element).collect();
        let encode = |items| pb::CheckBatchRequest {
            context: self.encode_context(context),
            options: Some(options.encode()),
            items,
            min_revision: self.connection.min_revision(),
        };
        let decode = |response: pb::CheckBatchResponse| {
            response.outcomes.into_iter().map(decode_outcome).collect()
        };
        self.connection
            .call_in_parts(items, encode, decode, CheckResult::of)
            .await
    }

    async fn check(
        &self,
        item: CheckItem,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        use pb::check_item::Item;
        let context = self.encode_context(context);
        let options = Some(options.encode());
        match item.encode() {
            Item::Elicitation(item) => {
                let elicitation = Some(item);
                let request = pb::CheckElicitationRequest {
                    context,
                    options,
                    elicitation,
                };
                self.settle(request, |response| response.result).await
            }
            Item::ElicitationResult(item) => {
                let elicitation_result = Some(item);
                let request = pb::CheckElicitationResultRequest {
                    context,
                    options,
                    elicitation_result,
                };
                self.settle(request, |response| response.result).await
            }
            Item::Sampling(item) => {
                let sampling = Some(item);
                let request = pb::CheckSamplingRequest {
                    context,
                    options,
                    sampling,
                };
                self.settle(request, |response| response.result).await
            }
            Item::ToolResult(item) => {
                let tool_result = Some(item);
                let request = pb::CheckToolResultRequest {
                    context,
                    options,
                    tool_result,
                    min_revision: self.connection.min_revision(),
                };
                self.settle(request, |response| response.result).await
            }
            Item::Message(item) => {
                let message = Some(item);
                let request = pb::CheckMessageRequest {
                    context,
                    options,
                    message,
                };
                self.settle(request, |response| response.result).await
            }
        }
    }

    async fn settle<R: Rpc>(
        &self,
        request: R,
        result_of: impl FnOnce(R::Response) -> Option<pb::CheckResult>,
    ) -> Result<CheckResult, Error> {
        let response = self.connection.call(request).await;
        let result = response.and_then(|response| decode_result(result_of(response)));
        self.connection.settle(result, CheckResult::of)
    }
}
