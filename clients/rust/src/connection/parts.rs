//! Batches in as many requests as the limits of the server require.

use prost::{Message, length_delimiter_len};

use crate::connection::Connection;
use crate::error::Error;
use crate::rpc::Rpc;
use crate::values::error_reasons;
use crate::values::verdict::Verdict;

impl Connection {
    /// Sends items in as many requests as the limits of the server require.
    pub(crate) async fn call_in_parts<M: Message + Clone, R: Rpc, T>(
        &self,
        items: Vec<M>,
        encode: impl Fn(Vec<M>) -> R,
        decode: impl Fn(R::Response) -> Vec<Result<T, Error>>,
        fallback: impl Fn(Verdict) -> T,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let mut outcomes = Vec::with_capacity(items.len());
        if items.is_empty() {
            return Ok(outcomes);
        }
        match self
            .send_parts(&items, encode, decode, &fallback, &mut outcomes)
            .await
        {
            // The remaining parts are not tried: each would cost another deadline.
            Err(error) if error.is_unavailable() => {
                while outcomes.len() < items.len() {
                    outcomes.push(self.settle(Err(error.clone()), &fallback));
                }
                Ok(outcomes)
            }
            Err(error) => Err(error),
            Ok(()) => Ok(outcomes),
        }
    }

    async fn send_parts<M: Message + Clone, R: Rpc, T>(
        &self,
        items: &[M],
        encode: impl Fn(Vec<M>) -> R,
        decode: impl Fn(R::Response) -> Vec<Result<T, Error>>,
        fallback: &impl Fn(Verdict) -> T,
        outcomes: &mut Vec<Result<T, Error>>,
    ) -> Result<(), Error> {
        let limits = self.limits().await?;
        let limit = limits.message_bytes as usize;
        let room = limit.saturating_sub(encode(Vec::new()).encoded_len());
        let sizes: Vec<_> = items.iter().map(element_bytes).collect();
        for part in split(&sizes, room, limits.batch_items as usize) {
            if sizes[part.start] > room {
                outcomes.push(Err(Error::too_large(sizes[part.start], limit)));
                continue;
            }
            let decoded = self.send_part(&items[part], &encode, &decode).await?;
            outcomes.extend(
                decoded
                    .into_iter()
                    .map(|outcome| self.settle(outcome, fallback)),
            );
        }
        Ok(())
    }

    /// The outcomes of items; those whose worker crashed are sent once again.
    async fn send_part<M: Message + Clone, R: Rpc, T>(
        &self,
        items: &[M],
        encode: &impl Fn(Vec<M>) -> R,
        decode: &impl Fn(R::Response) -> Vec<Result<T, Error>>,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let mut outcomes = self.send_items(items.to_vec(), encode, decode).await?;
        let crashed: Vec<usize> = outcomes
            .iter()
            .enumerate()
            .filter(
                |(_, outcome)| matches!(outcome, Err(error) if error.reason() == error_reasons::WORKER_CRASHED),
            )
            .map(|(index, _)| index)
            .collect();
        if crashed.is_empty() {
            return Ok(outcomes);
        }
        let again = crashed.iter().map(|&index| items[index].clone()).collect();
        match self.send_items(again, encode, decode).await {
            Ok(answers) => {
                for (index, answer) in crashed.into_iter().zip(answers) {
                    outcomes[index] = answer;
                }
                Ok(outcomes)
            }
            Err(error) if error.is_unavailable() => Ok(outcomes),
            Err(error) => Err(error),
        }
    }

    async fn send_items<M: Message + Clone, R: Rpc, T>(
        &self,
        items: Vec<M>,
        encode: &impl Fn(Vec<M>) -> R,
        decode: &impl Fn(R::Response) -> Vec<Result<T, Error>>,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let count = items.len();
        let outcomes = decode(self.call(encode(items)).await?);
        if outcomes.len() != count {
            let found = outcomes.len();
            let message = format!("the response has {found} outcomes for {count} items");
            return Err(Error::invalid_response(message));
        }
        Ok(outcomes)
    }
}

/// The bytes that a message takes as an element of a repeated field: with its tag, one byte for
/// the field numbers in use, and its length.
pub(crate) fn element_bytes<M: Message>(message: &M) -> usize {
    1 + length_delimiter_len(message.encoded_len()) + message.encoded_len()
}

/// Ranges of `sizes` within both limits; a size over `room` gets its own.
pub(crate) fn split(
    sizes: &[usize],
    room: usize,
    most_items: usize,
) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut total) = (0, 0);
    for (index, size) in sizes.iter().enumerate() {
        if index > start && (total + size > room || index - start >= most_items) {
            parts.push(start..index);
            (start, total) = (index, 0);
        }
        total += size;
    }
    if !sizes.is_empty() {
        parts.push(start..sizes.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn parts_keep_both_limits() {
        assert_eq!(split(&[], 10, 2), []);
        assert_eq!(split(&[5, 5, 5], 10, 9), [0..2, 2..3]);
        assert_eq!(split(&[1, 1, 1], 10, 2), [0..2, 2..3]);
        assert_eq!(split(&[1, 11, 1], 10, 9), [0..1, 1..2, 2..3]);
    }
}
