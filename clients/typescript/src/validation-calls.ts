/** The unary calls of ValidationService. */

import type { CallOptions } from "./channel.js";
import { type Connection, encodeElement } from "./connection.js";
import * as wire from "./gen/sidecheck/v1/validation_service.js";
import { requireField } from "./responses.js";
import { encodeTarget, type Target } from "./targets.js";
import {
  decodeOutcome,
  encodeItem,
  encodeOptions,
  type Item,
  type ValidateOutcome,
} from "./validation.js";
import type { ValidationOptions } from "./values/validation-options.js";
import { decodeVerdict, type Verdict } from "./values/verdict.js";

/** Options of one validation. */
export interface ValidateOptions extends ValidationOptions, CallOptions {}

/** Options of a batch. The validation options are those of items that have none of their own. */
export interface BatchOptions extends ValidateOptions {
  /** Target of items that have none of their own. */
  readonly target?: Target | undefined;
}

const { validate, validateBatch: batch } = wire.ValidationServiceService;

/** @internal Returns the verdict on one payload. */
export async function validateItem(
  connection: Connection,
  item: wire.ValidateItem,
  options: CallOptions,
): Promise<Verdict> {
  const decode = ({ verdict, registryRevision }: wire.ValidateResponse): Verdict =>
    decodeVerdict(requireField(verdict, "ValidateResponse.verdict"), registryRevision);
  return connection.call(
    validate,
    { ...item, minRevision: connection.minRevision },
    decode,
    options,
  );
}

/** @internal See {@link Client.validateBatch}. */
export async function validateBatch(
  connection: Connection,
  items: Iterable<Item>,
  options: BatchOptions,
): Promise<ValidateOutcome[]> {
  const { protocolVersion } = connection;
  const head = batch.requestSerialize({
    target: encodeTarget(options.target),
    options: encodeOptions(options, protocolVersion),
    minRevision: connection.minRevision,
    items: [],
  });
  const elements = Array.from(items, (item) =>
    encodeElement(3, wire.ValidateItem.encode(encodeItem(item, protocolVersion)).finish()),
  );
  return connection.callInParts<wire.ValidateBatchResponse, Verdict>(
    batch,
    head,
    elements,
    ({ outcomes, registryRevision }) =>
      outcomes.map((outcome) => decodeOutcome(outcome, registryRevision)),
    (verdict) => verdict,
    options,
  );
}
