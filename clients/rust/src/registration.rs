//! Registration of tools: its options and outcomes.

use serde::Serialize;

use crate::enumeration::enumeration;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::comparison::{SchemaReading, ToolComparison};
use crate::values::verdict::Violation;
use crate::verdict::convert_all;

enumeration! {
    /// Treatment of a tool whose definition differs from the registered one.
    ChangePolicy: pb::ChangePolicy {
        /// The definition is registered.
        Accept,
        /// The definition is registered, with a warning of the code `DEFINITION_CHANGED`.
        Report,
        /// The registered definition is kept, and the outcome has an error.
        Reject,
    }
}

enumeration! {
    /// Treatment of a definition that is not compatible with the registered one of its name.
    CompatibilityPolicy: pb::CompatibilityPolicy {
        /// Definitions are not compared.
        Ignore,
        /// The definition is registered, with a warning if callers break or this is undecided.
        Report,
        /// The registered definition is kept if the change is breaking.
        RejectBreaking,
        /// The registered definition is also kept if that is undecided.
        RejectUndecided,
    }
}

enumeration! {
    /// Effect of a registration on one name.
    Action: pb::registration_outcome::Action {
        /// The name was not registered before.
        Created,
        /// The name had another definition or protocol version.
        Changed,
        /// The name had the same definition under the same protocol version.
        Unchanged,
        /// The definition was not registered; the violations give the reason.
        Rejected,
    }
}

/// Options of a registration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterOptions {
    /// Whether the tools are the complete set, so that others of the server are deleted.
    pub replace: bool,
    /// Treatment of tools whose definition changed.
    pub change_policy: ChangePolicy,
    /// Treatment of definitions that break the callers of the registered ones.
    pub compatibility: CompatibilityPolicy,
    /// Reading of the schemas by which `compatibility` decides.
    pub reading: SchemaReading,
    /// Whether to check the definitions without registering them.
    pub validate_only: bool,
    /// MCP protocol version whose rules apply. Empty is the client's own, or the server's.
    pub protocol_version: String,
    /// Whether a registration with rejected tools is returned, and is no error.
    pub return_rejected: bool,
}

/// Outcome of the registration of one definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RegistrationOutcome {
    /// Name of the tool. Empty if the definition has none.
    pub name: String,
    /// Effect on the registry.
    pub action: Action,
    /// Violations of the definition. Only one of severity error rejects it.
    pub violations: Vec<Violation>,
    /// Digest of the definition. Empty if it is not JSON.
    pub definition_digest: String,
    /// Digest of the input schema. Empty if rejected.
    pub input_schema_digest: String,
    /// Digest of the output schema. Empty if rejected or if there is none.
    pub output_schema_digest: String,
    /// Digest of the definition registered before. Empty if there was none.
    pub previous_definition_digest: String,
    /// Comparison with the definition registered before; none if there was none, if it is the
    /// same, or without [`RegisterOptions::compatibility`].
    pub comparison: Option<ToolComparison>,
}

/// Result of a registration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Registration {
    /// Outcomes of the definitions, in the order given.
    pub outcomes: Vec<RegistrationOutcome>,
    /// Names that a replacement removed.
    pub removed: Vec<String>,
    /// Names that a replacement would have removed, if that did not break callers.
    pub kept: Vec<String>,
    /// Revision of the registry afterwards.
    pub registry_revision: u64,
}

impl Registration {
    pub(crate) fn extend(&mut self, message: pb::RegisterToolsResponse) {
        self.outcomes
            .extend(message.outcomes.into_iter().map(RegistrationOutcome::from));
        self.removed.extend(message.removed);
        self.kept.extend(message.kept);
        self.registry_revision = message.registry_revision;
    }
}

impl From<pb::RegistrationOutcome> for RegistrationOutcome {
    fn from(message: pb::RegistrationOutcome) -> Self {
        Self {
            name: message.name,
            action: message.action.into(),
            violations: convert_all(message.violations),
            definition_digest: message.definition_digest,
            input_schema_digest: message.input_schema_digest,
            output_schema_digest: message.output_schema_digest,
            previous_definition_digest: message.previous_definition_digest,
            comparison: message.comparison.map(ToolComparison::from),
        }
    }
}
