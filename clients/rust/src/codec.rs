//! Codec of the calls.

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::Buf;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::error::Error;

/// Codec whose decoded values say whether the bytes were a message.
///
/// The codec of tonic reports bytes that are no message with the status code `INTERNAL`, which
/// a server may send as well.
pub(crate) struct CheckedCodec<Request, Response>(PhantomData<(Request, Response)>);

pub(crate) struct MessageEncoder<Request>(PhantomData<Request>);

pub(crate) struct CheckedDecoder<Response>(PhantomData<Response>);

impl<Request, Response> CheckedCodec<Request, Response> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<Request, Response> Codec for CheckedCodec<Request, Response>
where
    Request: Message + 'static,
    Response: Message + Default + 'static,
{
    type Encode = Request;
    type Decode = Result<Response, Error>;
    type Encoder = MessageEncoder<Request>;
    type Decoder = CheckedDecoder<Response>;

    fn encoder(&mut self) -> Self::Encoder {
        MessageEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        CheckedDecoder(PhantomData)
    }
}

impl<Request: Message> Encoder for MessageEncoder<Request> {
    type Item = Request;
    type Error = Status;

    fn encode(&mut self, message: Request, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message
            .encode(buffer)
            .map_err(|error| Status::internal(error.to_string()))
    }
}

impl<Response: Message + Default> Decoder for CheckedDecoder<Response> {
    type Item = Result<Response, Error>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        let size = buffer.remaining();
        let fault =
            |_| Error::invalid_response(format!("the response, of {size} bytes, does not decode"));
        Ok(Some(Response::decode(buffer).map_err(fault)))
    }
}
