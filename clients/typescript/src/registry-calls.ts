/** Calls of RegistryService that read or delete registered tools. */

import type { CallOptions } from "./channel.js";
import type { Connection } from "./connection.js";
import { RegistryServiceService } from "./gen/sidecheck/v1/registry_service.js";
import { InvalidResponse } from "./errors.js";
import { decodeRegisteredTool, decodeTool, type GetOptions, type Tool } from "./registry.js";
import { decodeDeletion, type Deletion } from "./values/registry.js";

/** @internal See {@link Client.get}. */
export async function getTool(
  connection: Connection,
  server: string,
  name: string,
  options: GetOptions,
): Promise<Tool> {
  const request = {
    server,
    name,
    adaptToVersion: options.adaptToVersion ?? "",
    minRevision: connection.minRevision,
  };
  return connection.call(RegistryServiceService.getTool, request, decodeTool, options);
}

/** @internal See {@link Client.list}. */
export async function* listTools(
  connection: Connection,
  server: string | undefined,
  options: GetOptions,
): AsyncGenerator<Tool, void, undefined> {
  let pageToken = "";
  do {
    const page = await connection.call(
      RegistryServiceService.listTools,
      {
        server: server ?? "",
        pageSize: 0,
        pageToken,
        adaptToVersion: options.adaptToVersion ?? "",
        minRevision: connection.minRevision,
      },
      (response) => ({ ...response, tools: response.tools.map(decodeRegisteredTool) }),
      options,
    );
    yield* page.tools;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

/** @internal See {@link Client.delete}. */
export async function deleteTools(
  connection: Connection,
  server: string,
  names: readonly string[],
  options: CallOptions | undefined,
): Promise<Deletion> {
  if (!Array.isArray(names)) {
    throw new TypeError("names must be an array of strings");
  }
  const deletion = await connection.call(
    RegistryServiceService.deleteTools,
    { server, names: [...(names as readonly string[])], all: false },
    decodeDeletion,
    options,
  );
  if (names.length > 0 && deletion.deleted.length + deletion.unknown.length === 0) {
    throw new InvalidResponse("DeleteToolsResponse has no names for those of the request");
  }
  return deletion;
}

/** @internal See {@link Client.deleteAll}. */
export async function deleteAllTools(
  connection: Connection,
  server: string,
  options: CallOptions | undefined,
): Promise<Deletion> {
  return connection.call(
    RegistryServiceService.deleteTools,
    { server, names: [], all: true },
    decodeDeletion,
    options,
  );
}
