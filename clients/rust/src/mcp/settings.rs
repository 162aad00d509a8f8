//! Settings of the validation of one MCP server.

use std::sync::Arc;

use crate::client::Client;
use crate::error::Error;
use crate::validation::{OnUnknownTool, Options};
use crate::values::verdict::Verdict;

type OnError = Arc<dyn Fn(&Error) + Send + Sync>;
type OnReport = Arc<dyn Fn(&str, &Verdict) + Send + Sync>;

/// Settings of the validation of one MCP server.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) client: Client,
    /// Name under which its tools are registered.
    pub(super) server: String,
    pub(super) options: Options,
    pub(super) on_error: OnError,
    pub(super) on_report: OnReport,
}

impl Settings {
    pub(super) fn new(client: Client, server: String) -> Self {
        Self {
            client,
            server,
            options: Options {
                on_unknown_tool: OnUnknownTool::Error,
                ..Options::default()
            },
            on_error: Arc::new(log_error),
            on_report: Arc::new(log_report),
        }
    }

    /// Options of the validations in a session of `version`.
    pub(super) fn options_for(&self, version: &str) -> Options {
        let mut options = self.options.clone();
        if options.protocol_version.is_empty() {
            version.clone_into(&mut options.protocol_version);
        }
        options
    }
}

/// Logs an error by its reason: its message may have values of the payload.
fn log_error(error: &Error) {
    let reason = error.reason();
    // The client itself wrote the cause of a failed connection; the message of a server may have
    // values of the payload.
    match error.is_unavailable() && error.metadata().contains_key("cause") {
        true => tracing::warn!(
            reason,
            cause = error.message(),
            "Sidecheck did not validate a call"
        ),
        false => tracing::warn!(reason, "Sidecheck did not validate a call"),
    }
}

fn log_report(tool: &str, verdict: &Verdict) {
    let codes: Vec<_> = verdict.violations.iter().map(|each| &each.code).collect();
    tracing::warn!(tool, ?codes, "Sidecheck verdict not enforced");
}
