//! Procedures of the API, by their requests.

use prost::Message;

use crate::stubs::sidecheck::v1 as pb;

/// A request of a procedure with one response.
pub(crate) trait Rpc: Message + Clone + 'static {
    /// Message of the response.
    type Response: Message + Default + 'static;
    /// Path of the procedure.
    const PATH: &'static str;
}

macro_rules! procedures {
    ($($service:literal { $($name:literal: $request:ident => $response:ident,)* })*) => {
        $($(
            impl Rpc for pb::$request {
                type Response = pb::$response;
                const PATH: &'static str = concat!("/sidecheck.v1.", $service, "/", $name);
            }
        )*)*
    };
}

procedures! {
    "ValidationService" {
        "Validate": ValidateRequest => ValidateResponse,
        "ValidateBatch": ValidateBatchRequest => ValidateBatchResponse,
    }
    "RegistryService" {
        "RegisterTools": RegisterToolsRequest => RegisterToolsResponse,
        "GetTool": GetToolRequest => GetToolResponse,
        "ListTools": ListToolsRequest => ListToolsResponse,
        "DeleteTools": DeleteToolsRequest => DeleteToolsResponse,
        "CompareTools": CompareToolsRequest => CompareToolsResponse,
    }
    "InfoService" {
        "GetServerInfo": GetServerInfoRequest => GetServerInfoResponse,
    }
    "ProtocolService" {
        "ListRules": ListRulesRequest => ListRulesResponse,
        "CheckToolNames": CheckToolNamesRequest => CheckToolNamesResponse,
        "CheckTools": CheckToolsRequest => CheckToolsResponse,
        "CheckElicitation": CheckElicitationRequest => CheckElicitationResponse,
        "CheckElicitationResult": CheckElicitationResultRequest => CheckElicitationResultResponse,
        "CheckSampling": CheckSamplingRequest => CheckSamplingResponse,
        "CheckToolResult": CheckToolResultRequest => CheckToolResultResponse,
        "NormalizeToolResult": NormalizeToolResultRequest => NormalizeToolResultResponse,
        "CheckMessage": CheckMessageRequest => CheckMessageResponse,
        "CheckBatch": CheckBatchRequest => CheckBatchResponse,
    }
    "ConversionService" {
        "ConvertTools": ConvertToolsRequest => ConvertToolsResponse,
        "ConvertToolCall": ConvertToolCallRequest => ConvertToolCallResponse,
        "ConvertToolResult": ConvertToolResultRequest => ConvertToolResultResponse,
    }
    "InferenceService" {
        "InferTools": InferToolsRequest => InferToolsResponse,
        "AdaptTool": AdaptToolRequest => AdaptToolResponse,
    }
}
