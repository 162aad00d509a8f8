//! Values of the API, generated from its .proto files.

pub(crate) mod comparison;
pub(crate) mod inference;
pub(crate) mod info;
pub(crate) mod losses;
pub(crate) mod portability;
pub(crate) mod registry;
pub(crate) mod verdict;
