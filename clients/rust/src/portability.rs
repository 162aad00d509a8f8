//! Portable forms: definitions that model APIs and clients accept as they are.

use serde::{Deserialize, Serialize};

use crate::conversion::{Effect, Loss};
use crate::enumeration::enumeration;
use crate::error::Error;
use crate::json::Json;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::comparison::Witness;
use crate::verdict::convert_all;

/// Options of a portable form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Portability {
    /// Model APIs and clients that must accept the definition, named as for `sidecheck check
    /// --for`, for example `openai` or `claude-code`. Empty is all but `openai-strict`.
    pub targets: Vec<String>,
    /// Whether to prove that the form accepts every call that the original accepts.
    pub prove: bool,
}

enumeration! {
    /// Relation of the calls that a portable form accepts to those of the original.
    ProofOutcome: pb::portability_proof::Outcome {
        /// Both provably accept the same calls.
        Equivalent,
        /// The form provably accepts every call of the original, and maybe others.
        Wider,
        /// Neither a proof nor a counterexample was found.
        Undecided,
        /// The original accepts a call that the form rejects.
        Narrower,
    }
}

/// Comparison of a portable form with its original, with the mapping applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortabilityProof {
    /// The outcome.
    pub outcome: ProofOutcome,
    /// Why the outcome is undecided or narrower; empty otherwise. A form that is narrower although
    /// no loss is [`Effect::Narrowed`] is a defect of the server, which this text says.
    pub message: String,
    /// Arguments that only the original accepts.
    pub witness: Option<Witness>,
}

/// What a portable definition lost, and the mapping that converts its calls back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortableForm {
    /// What [`Conversion::convert_tool_call`](crate::Conversion::convert_tool_call) needs; a call
    /// is the params of a `tools/call`.
    pub mapping: Json,
    /// All differences from the original definition, by location.
    pub losses: Vec<Loss>,
    /// Worst effect of the losses on the set of accepted calls.
    pub effect: Effect,
    /// Proof of the effect; none unless it was requested.
    pub proof: Option<PortabilityProof>,
}

impl From<&Portability> for pb::Portability {
    fn from(portable: &Portability) -> Self {
        Self {
            targets: portable.targets.clone(),
            prove: portable.prove,
        }
    }
}

impl From<pb::PortabilityProof> for PortabilityProof {
    fn from(message: pb::PortabilityProof) -> Self {
        Self {
            outcome: message.outcome.into(),
            message: message.message,
            witness: message.witness.map(Witness::from),
        }
    }
}

impl TryFrom<pb::PortableForm> for PortableForm {
    type Error = Error;

    fn try_from(message: pb::PortableForm) -> Result<Self, Error> {
        if message.mapping.is_empty() {
            return Err(Error::missing("PortableForm.mapping"));
        }
        Ok(Self {
            mapping: message.mapping.into(),
            losses: convert_all(message.losses),
            effect: message.effect.into(),
            proof: message.proof.map(PortabilityProof::from),
        })
    }
}
