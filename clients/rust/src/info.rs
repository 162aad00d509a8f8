//! Description of a server.

use serde::Serialize;

use crate::error::Error;
use crate::stubs::sidecheck::v1 as pb;

/// Version, limits and capabilities of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// Version of the server.
    pub version: String,
    /// Limits beyond which requests fail with `LIMIT_EXCEEDED`.
    pub limits: Limits,
    /// URIs of the supported JSON Schema dialects, the default one first.
    pub dialects: Vec<String>,
    /// Supported MCP protocol versions, oldest first.
    pub protocol_versions: Vec<String>,
    /// Protocol version used if a request names none.
    pub default_protocol_version: String,
    /// Validation engines.
    pub engines: Vec<Engine>,
    /// Current revision of the registry.
    pub registry_revision: u64,
}

/// Validation engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Engine {
    /// Role: `fast` decides whether a payload is valid, `complete` finds its violations.
    pub name: String,
    /// Library that the engine is built on.
    pub library: String,
    /// Version of the library.
    pub version: String,
}

macro_rules! limits {
    ($($(#[$attribute:meta])* $field:ident: $kind:ty,)*) => {
        /// Limits that a caller can act on; the metadata `bound` of an error names one.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Limits {
            $($(#[$attribute])* pub $field: $kind,)*
        }

        impl From<pb::Limits> for Limits {
            fn from(message: pb::Limits) -> Self {
                Self { $($field: message.$field,)* }
            }
        }
    };
}

limits! {
    /// Maximum size of a message that the server receives, in bytes.
    message_bytes: u32,
    /// Maximum number of items in a batch and of tools in a registration.
    batch_items: u32,
    /// Maximum number of violations in a verdict.
    violations: u32,
    /// Maximum size of a payload, in bytes.
    payload_bytes: u32,
    /// Maximum nesting of arrays and objects in a payload.
    payload_depth: u32,
    /// Maximum size of a schema, in bytes. A tool definition may have twice as much.
    schema_bytes: u32,
    /// Maximum nesting of arrays and objects in a schema.
    schema_depth: u32,
    /// Maximum number of subschemas in a schema.
    subschemas: u32,
    /// Maximum number of documents sent with a schema.
    documents: u32,
    /// Maximum size of all documents sent with a schema, in bytes.
    documents_bytes: u32,
    /// Maximum length of a pattern, in characters.
    pattern_length: u32,
    /// Maximum number of steps to validate one payload.
    steps: u64,
    /// Maximum number of items in a batch that need a worker process.
    offloaded_items: u32,
    /// Maximum number of violations in a batch.
    batch_violations: u32,
    /// Maximum length of the violations of a verdict or batch, in characters.
    verdict_characters: u32,
    /// Maximum size of all compiled patterns of a schema, in instructions.
    pattern_instructions: u32,
    /// Whether patterns with look-around and back-references are supported.
    allow_backtracking: bool,
    /// Maximum size of the source text for inference, in bytes.
    source_bytes: u32,
    /// Maximum number of copies of a part that a pattern repeats.
    pattern_repetitions: u32,
    /// Maximum number of steps for one request in all.
    request_steps: u64,
}

impl TryFrom<pb::GetServerInfoResponse> for ServerInfo {
    type Error = Error;

    fn try_from(message: pb::GetServerInfoResponse) -> Result<Self, Error> {
        let limits = message
            .limits
            .ok_or_else(|| Error::missing("GetServerInfoResponse.limits"))?;
        let decode = |engine: pb::EngineInfo| Engine {
            name: engine.name,
            library: engine.library,
            version: engine.version,
        };
        Ok(Self {
            version: message.version,
            limits: limits.into(),
            dialects: message.dialects,
            protocol_versions: message.protocol_versions,
            default_protocol_version: message.default_protocol_version,
            engines: message.engines.into_iter().map(decode).collect(),
            registry_revision: message.registry_revision,
        })
    }
}
