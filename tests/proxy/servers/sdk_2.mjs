/** The client of the second major version of the TypeScript SDK, as tests/matrix/clients/driver.py. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { runSessions } from './sessions.mjs';

await runSessions({
  Client,
  StdioClientTransport,
  StreamableHTTPClientTransport,
  onLog: (client, handle) => client.setNotificationHandler('notifications/message', handle),
  call: (client, params, options) => client.callTool(params, options),
});
