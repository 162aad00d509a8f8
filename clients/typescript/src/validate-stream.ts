/** Streams of payloads and their verdicts. */

import type { Connection } from "./connection.js";
import * as wire from "./gen/sidecheck/v1/validation_service.js";
import { type OutstandingOptions, type StreamKind, streamItems } from "./item-stream.js";
import { encodeTarget, type Target } from "./targets.js";
import {
  decodeOutcome,
  encodeItem,
  encodeOptions,
  type Item,
  type ValidateOutcome,
} from "./validation.js";
import type { ValidationOptions } from "./values/validation-options.js";

/** One payload of a stream. */
export type StreamItem = Item & {
  /** Returned with the outcome; need not be unique. */
  readonly id: string;
};

/** Outcome of one item of a stream: a verdict, or the error of the item. */
export interface StreamOutcome {
  readonly id: string;
  readonly outcome: ValidateOutcome;
}

/** Options of a stream of payloads. */
export interface StreamOptions extends ValidationOptions, OutstandingOptions {
  /** Target of items that have none of their own. */
  readonly target?: Target | undefined;
}

const RPC = wire.ValidationServiceService.validateStream;

/** @internal See {@link Client.validateStream}. */
export async function* validateStream(
  connection: Connection,
  items: Iterable<StreamItem> | AsyncIterable<StreamItem>,
  options: StreamOptions,
): AsyncGenerator<StreamOutcome, void, undefined> {
  const { protocolVersion } = connection;
  const encode = (id: string, item: wire.ValidateItem | undefined): Buffer =>
    RPC.requestSerialize({ message: { $case: "item", value: { id, item } } });
  const kind: StreamKind<StreamItem, wire.ValidateStreamResponse, ValidateOutcome> = {
    rpc: RPC,
    opening: RPC.requestSerialize({
      message: {
        $case: "defaults",
        value: {
          target: encodeTarget(options.target),
          options: encodeOptions(options, protocolVersion),
          minRevision: connection.minRevision,
        },
      },
    }),
    encode: (item) => encode(item.id, encodeItem(item, protocolVersion)),
    encodeId: (id) => encode(id, undefined),
    decode: ({ id, outcome, registryRevision }) => ({
      id,
      outcome: decodeOutcome(outcome, registryRevision),
    }),
  };
  yield* streamItems(connection, kind, items, options);
}
