/**
 * Calls the tools of an MCP server: node client.mjs [URL] [TOOL] [JSON]. Signs in through a browser: it
 * prints the address to open, and waits until the browser comes back.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url = 'http://localhost:8092/mcp', tool = 'list_notes', input = '{}'] =
  process.argv.slice(2);
const { CLIENT_ID, CLIENT_METADATA_URL, CALLBACK_PORT = '8093' } = process.env;
const redirectUrl = `http://127.0.0.1:${CALLBACK_PORT}/callback`;

/** What the SDK keeps of a sign-in: in memory here, so each run signs in again. */
const kept = {
  client: CLIENT_METADATA_URL ? undefined : { client_id: CLIENT_ID ?? 'tools-client' },
};
const provider = {
  redirectUrl,
  clientMetadata: { redirect_uris: [redirectUrl], client_name: 'Tools client' },
  clientMetadataUrl: CLIENT_METADATA_URL,
  clientInformation: () => kept.client,
  saveClientInformation: (client) => {
    kept.client = client;
  },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => {
    kept.tokens = tokens;
  },
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier;
  },
  codeVerifier: () => kept.verifier,
  state: () => crypto.randomUUID(),
  redirectToAuthorization: (to) => {
    kept.state = to.searchParams.get('state');
    console.log(`open ${to.href}`);
  },
};

/** Waits for the browser to come back, and returns the code. */
async function codeFromBrowser() {
  const server = createServer().listen(Number(CALLBACK_PORT), '127.0.0.1');
  await once(server, 'listening').catch(({ code }) => {
    console.error(`port ${CALLBACK_PORT}: ${code}. End the other client, or set CALLBACK_PORT.`);
    process.exit(1);
  });
  for (;;) {
    const [req, res] = await once(server, 'request');
    const { pathname, searchParams } = new URL(req.url, redirectUrl);
    const isAnswer = pathname === '/callback' && searchParams.get('state') === kept.state;
    res.writeHead(isAnswer ? 200 : 404, { 'Content-Type': 'text/plain', Connection: 'close' });
    res.end(isAnswer ? 'You can close this page.' : 'Not found');
    if (!isAnswer) continue;
    server.close();
    if (!searchParams.has('code')) throw new Error(`refused: ${searchParams.get('error')}`);
    return searchParams.get('code');
  }
}

/** Connects, after a sign-in if the server asks for one. */
async function connect() {
  const client = new Client({ name: 'tools-client', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(await codeFromBrowser());
    return connect();
  }
}

const client = await connect();
const { content } = await client.callTool({ name: tool, arguments: JSON.parse(input) });
for (const part of content) console.log(part.text);
await client.close();
