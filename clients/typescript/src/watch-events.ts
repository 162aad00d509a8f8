/** Events of a watch: changes of registered tools, and checkpoints between them. */

import { InvalidResponse } from "./errors.js";
import type * as wire from "./gen/sidecheck/v1/registry_service.js";
import { decodeRegisteredTool, type Tool } from "./registry.js";

/** A revision up to which all changes were told. A watch can begin after it. */
export interface Checkpoint {
  readonly revision: number;
  /** Identity of the change that led to the revision; "" if it is not known. */
  readonly id: string;
}

/** All that one revision changed, in the namespace of one server. */
export interface ToolsChange {
  readonly revision: number;
  /** Identity of the change. */
  readonly id: string;
  /** Namespace of the server. */
  readonly server: string;
  /** Tools that were registered, or replaced another of their name, by name. */
  readonly registered: readonly Tool[];
  /** Names that are registered no longer, in order. */
  readonly deleted: readonly string[];
  /** The position after the change. */
  readonly checkpoint: Checkpoint;
}

/** What a watch yields; `"server" in event` tells a change from a checkpoint. */
export type WatchEvent = ToolsChange | Checkpoint;

/** @internal Joins the responses of one revision. */
export class ChangeJoiner {
  #parts: wire.ToolsChange[] = [];

  /**
   * Returns the event in a response, undefined if the next one has more of it.
   *
   * @throws InvalidResponse if it has none
   */
  join({ event }: wire.WatchToolsResponse): WatchEvent | undefined {
    if (event === undefined) {
      throw new InvalidResponse("WatchToolsResponse has neither a change nor a checkpoint");
    }
    if (event.$case === "checkpoint") {
      return decodeCheckpoint(event.value);
    }
    this.#parts.push(event.value);
    if (event.value.continued) {
      return undefined;
    }
    const parts = this.#parts;
    this.#parts = [];
    const checkpoint = decodeCheckpoint(event.value);
    return {
      ...checkpoint,
      server: event.value.server,
      registered: parts.flatMap(({ registered }) => registered.map(decodeRegisteredTool)),
      deleted: parts.flatMap(({ deleted }) => deleted),
      checkpoint,
    };
  }
}

function decodeCheckpoint({ revision, id }: wire.RevisionCheckpoint): Checkpoint {
  return { revision: Number(revision), id };
}
