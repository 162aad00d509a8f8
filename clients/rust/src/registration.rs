//! Registration of tools: its options and outcomes.

use crate::enumeration::enumeration;
use crate::error::Error;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::comparison::SchemaReading;
use crate::values::registry::Registration;

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

impl Registration {
    pub(crate) fn extend(&mut self, message: pb::RegisterToolsResponse) -> Result<(), Error> {
        let part = Self::try_from(message)?;
        self.outcomes.extend(part.outcomes);
        self.removed.extend(part.removed);
        self.kept.extend(part.kept);
        self.registry_revision = part.registry_revision;
        Ok(())
    }
}
