/** The client of the first major version of the TypeScript SDK, as tests/matrix/clients/driver.py. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { runSessions } from './sessions.mjs';

await runSessions({
  Client,
  StdioClientTransport,
  StreamableHTTPClientTransport,
  onLog: (client, handle) =>
    client.setNotificationHandler(LoggingMessageNotificationSchema, handle),
  call: (client, params, options) => client.callTool(params, undefined, options),
});
