//! Responses of faulty servers and proxies, in the form that tonic expects.

use std::task::{Context, Poll};

use futures_util::TryFutureExt;
use futures_util::future::MapOk;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Error};

const DETAILS: &str = "grpc-status-details-bin";

type ResponseFuture = <Channel as Service<Request<Body>>>::Future;

/// A channel whose responses tonic can read.
pub(super) struct CheckedChannel(pub(super) Channel);

impl Service<Request<Body>> for CheckedChannel {
    type Response = Response<Body>;
    type Error = Error;
    type Future = MapOk<ResponseFuture, fn(Response<Body>) -> Response<Body>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.call(request).map_ok(check)
    }
}

fn check(mut response: Response<Body>) -> Response<Body> {
    remove_unreadable_details(response.headers_mut());
    if response.status() != StatusCode::OK && !response.headers().contains_key("grpc-status") {
        // A page of a proxy. tonic would read it as messages, and not come to the status.
        return response.map(|_| Body::empty());
    }
    response.map(|body| {
        Body::new(body.map_frame(|mut frame| {
            if let Some(trailers) = frame.trailers_mut() {
                remove_unreadable_details(trailers);
            }
            frame
        }))
    })
}

/// tonic panics at details that are not Base64.
fn remove_unreadable_details(headers: &mut HeaderMap) {
    let Some(value) = headers.get(DETAILS) else {
        return;
    };
    let mut details = HeaderMap::new();
    details.insert(DETAILS, value.clone());
    let details = MetadataMap::from_headers(details);
    let is_readable = |value: &tonic::metadata::BinaryMetadataValue| value.to_bytes().is_ok();
    if !details.get_bin(DETAILS).is_some_and(is_readable) {
        headers.remove(DETAILS);
    }
}
