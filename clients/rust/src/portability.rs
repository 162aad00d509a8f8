//! Portable forms: definitions that model APIs and clients accept as they are.

use serde::{Deserialize, Serialize};

use crate::stubs::sidecheck::v1 as pb;

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

impl From<&Portability> for pb::Portability {
    fn from(portable: &Portability) -> Self {
        Self {
            targets: portable.targets.clone(),
            prove: portable.prove,
        }
    }
}
