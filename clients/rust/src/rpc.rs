//! Procedures of the API, by their requests; `values::methods` has them all.

use prost::Message;

/// A request of a procedure with one response.
pub(crate) trait Rpc: Message + Clone + 'static {
    /// Message of the response.
    type Response: Message + Default + 'static;
    /// Path of the procedure.
    const PATH: &'static str;
}
