/**
 * Runs sessions with a client of the TypeScript SDK, of any of its major versions.
 *
 * Standard input and output are those of tests/matrix/clients/driver.py.
 */
import { text } from 'node:stream/consumers';

// For a response that never comes.
const MILLISECONDS = 300_000;

/** Runs the sessions of standard input, one after the other. */
export async function runSessions(sdk) {
  const documents = [];
  for (const session of JSON.parse(await text(process.stdin))) {
    documents.push(await runSession(sdk, session));
  }
  process.stdout.write(JSON.stringify(documents));
}

async function runSession(sdk, { server, steps }) {
  const outcomes = [];
  try {
    const client = new sdk.Client({ name: 'client', version: '1' });
    const transport =
      server.url === undefined
        ? new sdk.StdioClientTransport({ ...server, stderr: 'ignore' })
        : new sdk.StreamableHTTPClientTransport(new URL(server.url));
    const operations = operationsOf(sdk, client);
    await client.connect(transport, { timeout: MILLISECONDS });
    for (const [name, ...args] of steps) {
      try {
        outcomes.push((await operations[name](...args)) ?? null);
      } catch (error) {
        outcomes.push(raised(error));
      }
    }
    await transport.terminateSession?.();
    await client.close();
  } catch (error) {
    outcomes.push({ session: raised(error) });
  }
  return outcomes;
}

function operationsOf({ onLog, call }, client) {
  const options = { timeout: MILLISECONDS };
  const messages = [];
  onLog(client, ({ params }) => {
    messages.push(params);
  });
  return {
    server: () => [
      client.getServerVersion(),
      client.getServerCapabilities(),
      client.getInstructions(),
    ],
    tools: () => client.listTools(undefined, options),
    resources: () => client.listResources(undefined, options),
    templates: () => client.listResourceTemplates(undefined, options),
    prompts: () => client.listPrompts(undefined, options),
    // Without progress: the SDK drops a notification that arrives together with the response.
    call: async (name, args) => {
      messages.length = 0;
      const result = await call(client, { name, arguments: args }, options);
      return [result, ...messages];
    },
    read: (uri) => client.readResource({ uri }, options),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }, options),
    ping: () => client.ping(options),
  };
}

function raised(error) {
  return { raised: error.constructor.name, text: error.message };
}
