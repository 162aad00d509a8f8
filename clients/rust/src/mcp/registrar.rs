//! Registration of an MCP server's tools, when a call first needs them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerResult, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::connection::lock;
use crate::error::Error;
use crate::json::Json;
use crate::mcp::failure::{Failure, internal_error};
use crate::mcp::settings::Settings;
use crate::registration::RegisterOptions;
use crate::target::ToolDefinition;
use crate::values::registry::{Action, Registration};
use crate::values::verdict::Severity;

/// Deadline of a registration: the server compiles the schemas of all tools.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(10);

/// A registration of a server's tools; another one is another object.
pub(super) struct RegisteredTools {
    /// Number of changes of the definitions that preceded it.
    changes: u64,
    /// The first error of each rejected tool, by name.
    rejected: HashMap<String, String>,
}

impl RegisteredTools {
    /// Returns the first error of a tool whose definition was rejected.
    pub(super) fn rejection(&self, tool: &str) -> Option<&str> {
        self.rejected.get(tool).map(String::as_str)
    }
}

/// Registers the tools of one MCP server.
///
/// Tools are added and never removed: several processes may serve the same name, and
/// `tools/list` may differ between users. Each protocol version is registered by itself, because
/// a definition may be rejected under one and not under another.
#[derive(Default)]
pub(super) struct Registrar {
    versions: Mutex<HashMap<String, VersionTools>>,
    /// Held by the call that registers.
    attempts: tokio::sync::Mutex<()>,
    last_attempt: Mutex<Attempt>,
}

/// The tools of one protocol version.
#[derive(Default)]
struct VersionTools {
    definitions: HashMap<String, Json>,
    changes: u64,
    registered: Option<Arc<RegisteredTools>>,
}

#[derive(Clone, Default)]
struct Attempt {
    number: u64,
    failure: Option<Error>,
}

/// A session with the server whose tools are registered.
pub(super) struct Session<'a, H> {
    pub(super) handler: &'a H,
    pub(super) context: &'a RequestContext<RoleServer>,
    /// Negotiated protocol version; empty if unknown.
    pub(super) version: String,
}

impl Registrar {
    /// Notes tools that the server lists; what differs is registered at the next call.
    pub(super) fn observe(&self, version: &str, definitions: &[(String, Json)]) {
        let mut versions = lock(&self.versions);
        let tools = versions.entry(version.to_owned()).or_default();
        let mut changed = false;
        for (name, text) in definitions {
            changed |= tools
                .definitions
                .insert(name.clone(), text.clone())
                .as_ref()
                != Some(text);
        }
        tools.changes += u64::from(changed);
    }

    /// Returns the registration for the session's version, made if there is none yet.
    pub(super) async fn register<H: ServerHandler>(
        &self,
        settings: &Settings,
        session: &Session<'_, H>,
    ) -> Result<Arc<RegisteredTools>, Failure> {
        let attempt = lock(&self.last_attempt).number;
        if let Some(registered) = self.current(&session.version) {
            return Ok(registered);
        }
        let _attempting = self.attempts.lock().await;
        if let Some(registered) = self.current(&session.version) {
            return Ok(registered);
        }
        self.share_failure(attempt)?;
        let definitions = session.list_tools().await?;
        self.attempt(settings, &session.version, definitions).await
    }

    /// Returns a registration later than `previous`, or `None` if the server lists no `tool`.
    pub(super) async fn register_again<H: ServerHandler>(
        &self,
        settings: &Settings,
        session: &Session<'_, H>,
        tool: &str,
        previous: &Arc<RegisteredTools>,
    ) -> Result<Option<Arc<RegisteredTools>>, Failure> {
        let attempt = lock(&self.last_attempt).number;
        let _attempting = self.attempts.lock().await;
        let definitions = session.list_tools().await?;
        if definitions.iter().all(|(name, _)| name != tool) {
            return Ok(None);
        }
        if let Some(registered) = self.latest(&session.version)
            && !Arc::ptr_eq(&registered, previous)
        {
            return Ok(Some(registered));
        }
        self.share_failure(attempt)?;
        let registered = self.attempt(settings, &session.version, definitions);
        registered.await.map(Some)
    }

    fn latest(&self, version: &str) -> Option<Arc<RegisteredTools>> {
        lock(&self.versions).get(version)?.registered.clone()
    }

    fn current(&self, version: &str) -> Option<Arc<RegisteredTools>> {
        let versions = lock(&self.versions);
        let tools = versions.get(version)?;
        let registered = tools.registered.as_ref()?;
        (registered.changes == tools.changes).then(|| Arc::clone(registered))
    }

    /// Returns the error of an attempt after the one numbered `attempt`: calls that waited for
    /// it share its outcome, instead of each waiting for a deadline of its own.
    fn share_failure(&self, attempt: u64) -> Result<(), Error> {
        let last = lock(&self.last_attempt);
        match &last.failure {
            Some(error) if last.number != attempt => Err(error.clone()),
            _ => Ok(()),
        }
    }

    async fn attempt(
        &self,
        settings: &Settings,
        version: &str,
        definitions: Vec<(String, Json)>,
    ) -> Result<Arc<RegisteredTools>, Failure> {
        self.observe(version, &definitions);
        let changes = lock(&self.versions)[version].changes;
        let client = settings.client.with_timeout(REGISTRATION_TIMEOUT);
        let options = RegisterOptions {
            protocol_version: settings.options_for(version).protocol_version,
            return_rejected: true,
            ..RegisterOptions::default()
        };
        let definitions = definitions
            .into_iter()
            .map(|(_, text)| ToolDefinition::new(text));
        let result = client
            .register(&settings.server, definitions, &options)
            .await;
        {
            let mut last = lock(&self.last_attempt);
            last.number += 1;
            last.failure = result.as_ref().err().cloned();
        }
        let registration = result?;
        let registered = Arc::new(RegisteredTools {
            changes,
            rejected: rejected_tools(&registration),
        });
        if let Some(tools) = lock(&self.versions).get_mut(version) {
            tools.registered = Some(Arc::clone(&registered));
        }
        if let Err(error) = registration.into_result() {
            (settings.on_error)(&error);
        }
        Ok(registered)
    }
}

impl<H: ServerHandler> Session<'_, H> {
    /// Returns the names and definitions of the tools of all pages.
    async fn list_tools(&self) -> Result<Vec<(String, Json)>, ErrorData> {
        let mut definitions = Vec::new();
        let mut seen = HashSet::new();
        let mut params = None;
        loop {
            let page = self
                .handler
                .list_tools(params, self.context.clone())
                .await?;
            definitions.extend(definitions_of(&self.version, &page)?);
            // A cursor that comes again would be followed for ever.
            match page
                .next_cursor
                .filter(|cursor| seen.insert(cursor.clone()))
            {
                Some(cursor) => {
                    params = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
                }
                None => return Ok(definitions),
            }
        }
    }
}

/// Returns the names and definitions in a page of tools, as a client of `version` gets them.
pub(super) fn definitions_of(
    version: &str,
    page: &ListToolsResult,
) -> Result<Vec<(String, Json)>, ErrorData> {
    let encode = |tool: &Tool| {
        let text = Json::encode(tool).map_err(|_| internal_error("a tool is not JSON"))?;
        Ok((tool.name.to_string(), text))
    };
    match as_sent(version, ServerResult::ListToolsResult(page.clone())) {
        ServerResult::ListToolsResult(page) => page.tools.iter().map(encode).collect(),
        _ => Ok(Vec::new()),
    }
}

/// Returns a result as the SDK sends it: without what is only for protocol versions later than
/// that of the session.
pub(super) fn as_sent(version: &str, mut result: ServerResult) -> ServerResult {
    if version < ProtocolVersion::V_2026_07_28.as_str() {
        result.strip_result_type_for_legacy_peer();
        result.strip_non_object_output_for_legacy_peer();
    }
    result
}

fn rejected_tools(registration: &Registration) -> HashMap<String, String> {
    let mut rejected = HashMap::new();
    for outcome in &registration.outcomes {
        if outcome.action == Action::Rejected {
            let mut violations = outcome.violations.iter();
            let error = violations.find(|violation| violation.severity == Severity::Error);
            let reason = error.map_or("the definition is invalid".to_owned(), ToString::to_string);
            rejected.insert(outcome.name.clone(), reason);
        }
    }
    rejected
}
