/**
 * A client of the TypeScript SDK that sends the requests it is told to.
 *
 * Standard input is a JSON object: `operations`, each a `method` and maybe `params` and
 * `notification`, the method of a notification that is awaited after the response; and the
 * server, either `command`, `args` and `env`, or `url`. With `url`, the HTTP exchanges are
 * written to standard output as JSON, and the session is ended by DELETE.
 */
import { text } from 'node:stream/consumers';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const HEADERS = ['content-type', 'mcp-session-id'];

const { operations, url, ...server } = JSON.parse(await text(process.stdin));
const exchanges = [];
const streamOpened = withResolvers();
const transport =
  url === undefined
    ? new StdioClientTransport(server)
    : new StreamableHTTPClientTransport(new URL(url), { fetch: recordingFetch });
const client = new Client({ name: 'client', version: '1' });
const awaited = new Map();
client.fallbackNotificationHandler = async ({ method }) => awaited.get(method)?.resolve();

await client.connect(transport);
if (url !== undefined) {
  await streamOpened.promise;
}
for (const { method, params, notification } of operations) {
  if (notification !== undefined) {
    awaited.set(notification, withResolvers());
  }
  await send(method, params);
  await awaited.get(notification)?.promise;
}
if (url !== undefined) {
  await transport.terminateSession();
}
await client.close();
if (url !== undefined) {
  process.stdout.write(JSON.stringify(exchanges));
}

/** Sends a request by the SDK's function for it. */
async function send(method, params) {
  switch (method) {
    case 'tools/list':
      return client.listTools(params);
    case 'tools/call':
      return client.callTool(params, undefined, url && { onprogress: () => {} });
    case 'prompts/list':
      return client.listPrompts(params);
    case 'resources/list':
      return client.listResources(params);
    case 'resources/subscribe':
      return client.subscribeResource(params);
    default:
      throw new Error(`no operation for ${method}`);
  }
}

/** Fetches, and records what is sent and what comes back, as it comes. */
async function recordingFetch(input, init = {}) {
  const exchange = { method: init.method ?? 'GET', request: init.body ?? '', body: '' };
  exchanges.push(exchange);
  const response = await fetch(input, init);
  exchange.status = response.status;
  exchange.headers = Object.fromEntries(HEADERS.map((name) => [name, response.headers.get(name)]));
  if (exchange.method === 'GET') {
    streamOpened.resolve();
  }
  if (response.body === null) {
    return response;
  }
  const decoder = new TextDecoder();
  const recorder = new TransformStream({
    transform(chunk, controller) {
      exchange.body += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(recorder), { status, statusText, headers });
}

/** Returns a promise with the functions that settle it, which Node 20 lacks. */
function withResolvers() {
  const settled = {};
  settled.promise = new Promise((resolve, reject) => Object.assign(settled, { resolve, reject }));
  return settled;
}
