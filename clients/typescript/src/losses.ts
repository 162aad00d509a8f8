/** Losses: differences between a definition or result and its converted form. */

import { decodeEnum } from "./enums.js";
import * as wire from "./gen/sidecheck/v1/conversion_service.js";

/** What the conversion did with something that it could not keep as it was. */
export type LossAction = "kept" | "described" | "rewritten" | "encoded" | "dropped" | "unspecified";

/** Effect of a loss on the set of admitted payloads, after the mapping is applied. */
export type LossEffect = "equivalent" | "widened" | "narrowed" | "unspecified";

/** Something that a conversion could not keep as it was. */
export interface Loss {
  /** JSON Pointer into the definition or result. */
  readonly pointer: string;
  /** The keyword, or the property of the definition, "" where the pointer suffices. */
  readonly keyword: string;
  readonly action: LossAction;
  readonly effect: LossEffect;
  /** Description for people. */
  readonly message: string;
}

/** @internal */
export function decodeLoss(message: wire.Loss): Loss {
  return {
    ...message,
    action: decodeEnum<LossAction>(wire.Loss_Action, "ACTION_", message.action),
    effect: decodeLossEffect(message.effect),
  };
}

/** @internal */
export function decodeLossEffect(effect: wire.Loss_Effect): LossEffect {
  return decodeEnum<LossEffect>(wire.Loss_Effect, "EFFECT_", effect);
}
