//! Values of the API, generated from its .proto files.

pub(crate) mod comparison;
pub(crate) mod info;
pub(crate) mod verdict;
