//! Comparisons of tools: what changed, and whether it breaks callers.

use serde::Serialize;

use crate::enumeration::enumeration;
use crate::json::Json;
use crate::stubs::sidecheck::v1 as pb;
use crate::verdict::convert_all;

enumeration! {
    /// What a change of a tool means for its callers.
    ChangeLevel: pb::ChangeLevel {
        /// Only texts, or data that asserts nothing, differ.
        Cosmetic,
        /// Every payload that passed still passes: this is proved.
        Compatible,
        /// The same payloads pass, and something that callers rely on may differ.
        Risky,
        /// Neither a proof nor a payload that shows the contrary was found.
        Undecided,
        /// A payload that was valid no longer is, a result may be what callers do not expect, or
        /// the tool cannot be called any more.
        Breaking,
    }
}

enumeration! {
    /// How a schema that leaves an object open is read.
    SchemaReading: pb::SchemaReading {
        /// An object that declares properties admits no others, unless the schema says so.
        AssumeClosed,
        /// An open object admits properties that it does not declare, as JSON Schema says.
        AsWritten,
    }
}

enumeration! {
    /// How the set of values that a schema admits has changed.
    SchemaRelation: pb::SchemaRelation {
        /// The same values.
        Equal,
        /// All values that it admitted, and maybe others.
        Widened,
        /// No value that it did not admit, and maybe fewer.
        Narrowed,
        /// Neither is proved, and a value was found that only one of the schemas admits.
        Incomparable,
        /// Whether the change breaks callers is undecided.
        Undecided,
    }
}

enumeration! {
    /// Part of a definition.
    DefinitionPart: pb::DefinitionPart {
        /// The tool as a whole, or a property of it that is no schema.
        Tool,
        /// The input schema.
        InputSchema,
        /// The output schema.
        OutputSchema,
    }
}

enumeration! {
    /// What became of a tool.
    ToolStatus: pb::tool_comparison::Status {
        /// Only the new tools have it.
        Added,
        /// Only the old tools had it.
        Removed,
        /// It has another name, and is equal otherwise.
        Renamed,
        /// Its definition differs.
        Changed,
        /// Its definition is equal.
        Unchanged,
    }
}

/// Comparison of two sets of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The new tools in their order, and then those that were removed.
    pub tools: Vec<ToolComparison>,
    /// Worst level of all tools, in the reading of the request.
    pub level: ChangeLevel,
    /// Revision of the registry in which the tools were resolved.
    pub registry_revision: u64,
}

impl From<pb::CompareToolsResponse> for Comparison {
    fn from(message: pb::CompareToolsResponse) -> Self {
        Self {
            tools: convert_all(message.tools),
            level: message.level.into(),
            registry_revision: message.registry_revision,
        }
    }
}

/// Comparison of the definitions of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolComparison {
    /// What became of the tool.
    pub status: ToolStatus,
    /// Name of the tool; of a renamed one the new name.
    pub name: String,
    /// Name before, if the tool was renamed. Empty otherwise.
    pub old_name: String,
    /// Digest of the old definition. Empty without a readable one.
    pub old_definition_digest: String,
    /// Digest of the new definition. Empty without a readable one.
    pub new_definition_digest: String,
    /// Worst level in the reading [`SchemaReading::AssumeClosed`].
    pub assume_closed: ChangeLevel,
    /// Worst level in the reading [`SchemaReading::AsWritten`].
    pub as_written: ChangeLevel,
    /// Schemas that differ.
    pub schemas: Vec<SchemaComparison>,
    /// All differences.
    pub changes: Vec<DefinitionChange>,
}

impl From<pb::ToolComparison> for ToolComparison {
    fn from(message: pb::ToolComparison) -> Self {
        Self {
            status: message.status.into(),
            name: message.name,
            old_name: message.old_name,
            old_definition_digest: message.old_definition_digest,
            new_definition_digest: message.new_definition_digest,
            assume_closed: message.assume_closed.into(),
            as_written: message.as_written.into(),
            schemas: convert_all(message.schemas),
            changes: convert_all(message.changes),
        }
    }
}

/// Verdicts on the change of one schema, in both readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SchemaComparison {
    /// The schema.
    pub part: DefinitionPart,
    /// Verdict in the reading [`SchemaReading::AssumeClosed`].
    pub assume_closed: SchemaVerdict,
    /// Verdict in the reading [`SchemaReading::AsWritten`].
    pub as_written: SchemaVerdict,
}

impl From<pb::SchemaComparison> for SchemaComparison {
    fn from(message: pb::SchemaComparison) -> Self {
        Self {
            part: message.part.into(),
            assume_closed: message.assume_closed.unwrap_or_default().into(),
            as_written: message.as_written.unwrap_or_default().into(),
        }
    }
}

/// Whether the change of a schema breaks callers, in one reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SchemaVerdict {
    /// How the set of values has changed.
    pub relation: SchemaRelation,
    /// What that means for callers.
    pub level: ChangeLevel,
    /// Why it is undecided. Empty if it is not.
    pub reason: String,
    /// What shows that it breaks callers, if it does.
    pub witness: Option<Witness>,
}

impl From<pb::SchemaVerdict> for SchemaVerdict {
    fn from(message: pb::SchemaVerdict) -> Self {
        Self {
            relation: message.relation.into(),
            level: message.level.into(),
            reason: message.reason,
            witness: message.witness.map(Witness::from),
        }
    }
}

/// Payload that the validator accepts under one version of a schema and rejects under the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// A payload that was valid under the old input schema, or is under the new output schema.
    pub payload: Json,
    /// Why it is rejected.
    pub message: String,
    /// JSON Pointer into the payload.
    pub instance_location: String,
    /// JSON Pointer into the schema, to the keyword that rejects it.
    pub keyword_location: String,
}

impl From<pb::Witness> for Witness {
    fn from(message: pb::Witness) -> Self {
        Self {
            payload: message.payload.into(),
            message: message.message,
            instance_location: message.instance_location,
            keyword_location: message.keyword_location,
        }
    }
}

/// One difference between two definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DefinitionChange {
    /// Stable code in upper snake case, for example `MAXIMUM_LOWERED`.
    pub code: String,
    /// Part of the definition.
    pub part: DefinitionPart,
    /// Keyword of the schema. Empty if none is involved.
    pub keyword: String,
    /// JSON Pointer into the old definition; none if it lacks what changed.
    pub old_location: Option<String>,
    /// JSON Pointer into the new definition; none if it lacks what changed.
    pub new_location: Option<String>,
    /// Description of the change, for people.
    pub message: String,
    /// Old value, shortened, or empty.
    pub old_value: String,
    /// New value, shortened, or empty.
    pub new_value: String,
    /// Effect in the reading [`SchemaReading::AssumeClosed`].
    pub assume_closed: ChangeEffect,
    /// Effect in the reading [`SchemaReading::AsWritten`].
    pub as_written: ChangeEffect,
}

impl From<pb::DefinitionChange> for DefinitionChange {
    fn from(message: pb::DefinitionChange) -> Self {
        Self {
            code: message.code,
            part: message.part.into(),
            keyword: message.keyword,
            old_location: message.old_location,
            new_location: message.new_location,
            message: message.message,
            old_value: message.old_value,
            new_value: message.new_value,
            assume_closed: message.assume_closed.unwrap_or_default().into(),
            as_written: message.as_written.unwrap_or_default().into(),
        }
    }
}

/// What a change means in one reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeEffect {
    /// Level of the change.
    pub level: ChangeLevel,
    /// A payload that the change makes invalid, if one was found.
    pub witness: Option<Witness>,
}

impl From<pb::ChangeEffect> for ChangeEffect {
    fn from(message: pb::ChangeEffect) -> Self {
        Self {
            level: message.level.into(),
            witness: message.witness.map(Witness::from),
        }
    }
}
