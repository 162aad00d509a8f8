//! Lists that are fetched in pages.

use futures_util::{Stream, StreamExt, stream};

use crate::connection::Connection;
use crate::error::Error;
use crate::rpc::Rpc;

/// The elements of a page, and whether there is another.
type Page<T> = (Vec<Result<T, Error>>, bool);

impl Connection {
    /// The elements of all pages. `read` decodes a page, and updates the request for the next
    /// one. After an error the stream ends.
    pub(crate) fn pages<R: Rpc, T: Send + 'static>(
        &self,
        first: R,
        read: fn(&mut R, R::Response) -> Page<T>,
    ) -> impl Stream<Item = Result<T, Error>> + Send + use<R, T> {
        let pages = stream::unfold(
            (self.clone(), Some(first)),
            move |(connection, request)| async move {
                let mut request = request?;
                let (elements, more) = match connection.call(request.clone()).await {
                    Err(error) => (vec![Err(error)], false),
                    Ok(page) => read(&mut request, page),
                };
                Some((
                    stream::iter(elements),
                    (connection, more.then_some(request)),
                ))
            },
        );
        pages.flatten()
    }
}
