// What the official TypeScript SDK reads of given bytes: each line of standard input is a list of
// exchanges, each line of standard output the messages that it reads in each of them.
//
// An exchange is {"request": {method, target, headers, body}}, read by a server at /mcp of
// Express, or {"response": {method, status, headers, body}}, read by a client; bodies in base64.
import { createInterface } from "node:readline";
import { request as httpRequest } from "node:http";
import express from "express";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const CALL = {
  jsonrpc: "2.0",
  id: 5,
  method: "tools/call",
  params: { name: "echo", arguments: {} },
};
const TURNS = 30; // of the event loop: a stream in memory is read to its end in fewer

let received = [];
const app = express();
app.all("/mcp", async (request, response) => {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  transport.onmessage = (message) => {
    received.push(message);
    if ("method" in message && "id" in message) {
      transport.send({ jsonrpc: "2.0", id: message.id, result: {} });
    }
  };
  await transport.start();
  await transport.handleRequest(request, response);
});
app.use((error, _request, response, _next) => response.status(400).end());

async function readRequest(port, { method, target, headers, body }) {
  received = [];
  const flat = headers.flat();
  await new Promise((resolve) => {
    try {
      const sent = httpRequest(
        { port, host: "127.0.0.1", method, path: target, headers: flat, agent: false },
        (response) => response.resume().on("close", resolve),
      );
      sent.on("error", resolve);
      sent.on("upgrade", resolve);
      sent.end(Buffer.from(body, "base64"));
    } catch {
      resolve(); // no client of Node sends it
    }
  });
  return received;
}

async function readResponse({ method, status, headers, body }) {
  const messages = [];
  let transport;
  const bytes = Buffer.from(body, "base64");
  const respond = async () =>
    new Response([204, 205, 304].includes(status) ? null : bytes, { status, headers });
  transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: respond,
  });
  transport.onmessage = (message) => messages.push(message);
  try {
    await transport.start();
    if (method === "GET") await transport.resumeStream("1");
    else await transport.send(CALL);
  } catch {
    // It reads no message.
  }
  for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
  await transport.close();
  return messages;
}

const listener = app.listen(0, "127.0.0.1", async () => {
  const { port } = listener.address();
  for await (const line of createInterface({ input: process.stdin })) {
    const exchanges = JSON.parse(line);
    const read = [];
    for (const exchange of exchanges) {
      // One after the other: the server notes what it receives in one place.
      if (exchange.request) read.push(await readRequest(port, exchange.request));
      else read.push(readResponse(exchange.response));
    }
    process.stdout.write(`${JSON.stringify(await Promise.all(read))}\n`);
  }
  process.exit(0);
});
process.on("unhandledRejection", () => {});
