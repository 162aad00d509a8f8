/** Portable forms: definitions that model APIs and clients accept as they are. */

import type { CallOptions } from "./channel.js";
import { decodeWitness, type Witness } from "./values/comparison.js";
import { decodeEnum } from "./enums.js";
import * as wire from "./gen/sidecheck/v1/inference_service.js";
import type { JsonText } from "./json.js";
import { decodeLoss, decodeLossEffect, type Loss, type LossEffect } from "./losses.js";
import { requireJson } from "./responses.js";

/** Options of a portable form. */
export interface Portability {
  /**
   * Model APIs and clients that must accept the definition, named as for `sidecheck check --for`, for
   * example "openai" or "claude-code". By default all but "openai-strict".
   */
  readonly targets?: readonly string[] | undefined;
  /** Whether to prove that the form accepts every call that the original accepts. */
  readonly prove?: boolean | undefined;
}

/** Options of an adaptation. */
export interface AdaptOptions extends CallOptions {
  /** Rewrites the definition so that model APIs and clients accept it as it is. */
  readonly portable?: Portability | undefined;
}

/**
 * Relation of the calls that a portable form accepts to those of the original: the same, provably all
 * of them and maybe others, neither proved nor refuted, or not all.
 */
export type ProofOutcome = "equivalent" | "wider" | "undecided" | "narrower" | "unspecified";

/** Comparison of a portable form with its original, with the mapping applied. */
export interface PortabilityProof {
  readonly outcome: ProofOutcome;
  /**
   * Why the outcome is undecided or narrower, "" otherwise. A form that is narrower although no loss has
   * the effect "narrowed" is a defect of the server, which this text says.
   */
  readonly message: string;
  /** Arguments that only the original accepts. */
  readonly witness: Witness | undefined;
}

/** What a portable definition lost, and the mapping that converts its calls back. */
export interface PortableForm {
  /** The data that `ConversionClient.convertToolCall` needs; a call is the params of a `tools/call`. */
  readonly mapping: JsonText;
  /** All differences from the original, ordered by pointer. */
  readonly losses: readonly Loss[];
  /** Worst effect of the losses on the set of accepted calls. */
  readonly effect: LossEffect;
  /** Absent unless a proof was requested. */
  readonly proof: PortabilityProof | undefined;
}

/** @internal */
export function encodePortability(portable: Portability | undefined): wire.Portability | undefined {
  return portable && { targets: [...(portable.targets ?? [])], prove: portable.prove ?? false };
}

/** @internal */
export function decodePortableForm(
  message: wire.PortableForm | undefined,
): PortableForm | undefined {
  return (
    message && {
      mapping: requireJson(message.mapping, "PortableForm.mapping"),
      losses: message.losses.map(decodeLoss),
      effect: decodeLossEffect(message.effect),
      proof: message.proof && {
        outcome: decodeEnum<ProofOutcome>(
          wire.PortabilityProof_Outcome,
          "OUTCOME_",
          message.proof.outcome,
        ),
        message: message.proof.message,
        witness: message.proof.witness && decodeWitness(message.proof.witness),
      },
    }
  );
}
