//! Checks of messages and definitions against the rules of the Model Context Protocol.

mod checks;
mod items;
mod normalization;
mod rules;
mod session;
mod tools;

use crate::connection::Connection;
use crate::stubs::sidecheck::v1 as pb;

pub use items::{
    CheckItem, CheckOptions, CheckResult, ProtocolContext, ProtocolMessage, ResultProfile, Sender,
    ToolResult,
};
pub use normalization::{NormalizedResult, Returned};
pub use rules::Rule;
pub use session::{RepeatedViolation, Session, SessionOptions, SessionSummary};
pub use tools::{
    CheckedNames, CheckedTools, Disposition, NameCollision, ToolNameOutcome, ToolOutcome,
};

/// The checks of a client.
///
/// In each, the context is the protocol version and the capabilities of the connection; without
/// a protocol version, that of the client applies. The policy for unavailable servers applies
/// to checks that return a [`CheckResult`], except in a session.
#[derive(Clone)]
pub struct Protocol {
    connection: Connection,
}

impl Protocol {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    fn encode_context(&self, context: &ProtocolContext) -> Option<pb::ProtocolContext> {
        Some(context.encode(self.connection.protocol_version()))
    }
}
