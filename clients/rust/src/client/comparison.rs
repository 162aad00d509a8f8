//! The comparison of tools.

use crate::client::Client;
use crate::error::Error;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::ToolSet;
use crate::values::comparison::{Comparison, SchemaReading};

impl Client {
    /// Tells what changed from the tools in `old` to those in `new`, and whether it breaks
    /// callers. The reading decides [`Comparison::level`]; the tools have the levels of both.
    ///
    /// # Errors
    ///
    /// A set has more than [`Limits::batch_items`](crate::Limits::batch_items) tools, or names
    /// a tool or a server that is not registered; or the call failed.
    pub async fn compare(
        &self,
        old: ToolSet,
        new: ToolSet,
        reading: SchemaReading,
    ) -> Result<Comparison, Error> {
        let request = pb::CompareToolsRequest {
            old: Some(old.into()),
            new: Some(new.into()),
            reading: reading.into(),
            min_revision: self.connection.min_revision(),
        };
        Ok(self.connection.call(request).await?.try_into()?)
    }
}
