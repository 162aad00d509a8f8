//! Registration of tools in parts.

use crate::error::Error;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::registry::Registration;

pub use crate::values::registration_options::{ChangePolicy, CompatibilityPolicy, RegisterOptions};

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
