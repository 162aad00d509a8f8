//! The rules of the protocol.

use futures_util::Stream;
use serde::Serialize;

use crate::error::Error;
use crate::protocol::Protocol;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::verdict::Severity;

/// A requirement of the MCP specification, or advice of a model provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Code of its violations.
    pub code: String,
    /// Severity of its violations.
    pub severity: Severity,
    /// Protocol versions that have the rule, oldest first.
    pub protocol_versions: Vec<String>,
    /// URL of the section that states the rule, in the newest of these versions.
    pub spec_url: String,
    /// The requirement, in one sentence.
    pub requirement: String,
    /// Types of the protocol schema whose values are checked.
    pub subjects: Vec<String>,
}

impl Protocol {
    /// Lists the rules of a protocol version, or of all if it is empty, by code. The client's
    /// own version does not apply. They are fetched in pages, each with the deadline; after an
    /// error the stream ends.
    pub fn list_rules(
        &self,
        protocol_version: &str,
    ) -> impl Stream<Item = Result<Rule, Error>> + Send + use<> {
        let request = pb::ListRulesRequest {
            protocol_version: protocol_version.to_owned(),
            ..Default::default()
        };
        self.connection.pages(request, |request, page| {
            request.page_token = page.next_page_token;
            let rules = page.rules.into_iter().map(Rule::from).map(Ok).collect();
            (rules, !request.page_token.is_empty())
        })
    }
}

impl From<pb::Rule> for Rule {
    fn from(message: pb::Rule) -> Self {
        Self {
            code: message.code,
            severity: Severity::of_response(message.severity),
            protocol_versions: message.protocol_versions,
            spec_url: message.spec_url,
            requirement: message.requirement,
            subjects: message.subjects,
        }
    }
}
