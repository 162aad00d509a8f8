//! Values of a watch: changes of registered tools, and checkpoints between them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::registry::Tool;
use crate::stubs::sidecheck::v1 as pb;

/// A revision of the registry up to which all changes were sent. A watch can begin after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The revision.
    pub revision: u64,
    /// Identity of the change that led to the revision. Empty if it is not known.
    pub id: String,
}

/// All that one revision changed, in the namespace of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolsChange {
    /// Revision since which the change holds.
    pub revision: u64,
    /// Identity of the change.
    pub id: String,
    /// Namespace of the server.
    pub server: String,
    /// Tools that were registered, or replaced another of their name, by name.
    pub registered: Vec<Tool>,
    /// Names that are registered no longer, in order.
    pub deleted: Vec<String>,
}

impl ToolsChange {
    /// The position after the change.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            revision: self.revision,
            id: self.id.clone(),
        }
    }
}

/// An event of a watch; see [`Client::watch`](crate::Client::watch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Tools were registered or deleted.
    Change(ToolsChange),
    /// There are no other changes up to a revision.
    Checkpoint(Checkpoint),
}

impl WatchEvent {
    /// The position after the event.
    pub fn checkpoint(&self) -> Checkpoint {
        match self {
            Self::Change(change) => change.checkpoint(),
            Self::Checkpoint(checkpoint) => checkpoint.clone(),
        }
    }
}

/// Options of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// Namespaces whose changes are sent. Empty means all that the caller may use.
    pub servers: Vec<String>,
    /// Position of an earlier event: the changes since are sent. Without it the watch begins with
    /// the current checkpoint.
    pub after: Option<Checkpoint>,
    /// Time without an event after which a lost connection is not made again, 60 s by default.
    /// Must be positive.
    pub patience: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            after: None,
            patience: Duration::from_secs(60),
        }
    }
}

/// Joins the responses of one revision.
#[derive(Default)]
pub(crate) struct WatchDecoder {
    parts: Vec<pb::ToolsChange>,
}

impl WatchDecoder {
    /// The event in a response; none if the next one has more of it.
    pub(crate) fn decode(
        &mut self,
        response: pb::WatchToolsResponse,
    ) -> Result<Option<WatchEvent>, Error> {
        use pb::watch_tools_response::Event;
        match response.event {
            Some(Event::Checkpoint(pb::RevisionCheckpoint { revision, id })) => {
                Ok(Some(WatchEvent::Checkpoint(Checkpoint { revision, id })))
            }
            Some(Event::Change(change)) if change.continued => {
                self.parts.push(change);
                Ok(None)
            }
            Some(Event::Change(last)) => self.join(last).map(WatchEvent::Change).map(Some),
            None => Err(Error::missing("WatchToolsResponse.event")),
        }
    }

    fn join(&mut self, last: pb::ToolsChange) -> Result<ToolsChange, Error> {
        let mut joined = ToolsChange {
            revision: last.revision,
            id: last.id.clone(),
            server: last.server.clone(),
            ..ToolsChange::default()
        };
        for part in self.parts.drain(..).chain([last]) {
            for tool in part.registered {
                joined.registered.push(tool.try_into()?);
            }
            joined.deleted.extend(part.deleted);
        }
        Ok(joined)
    }
}
