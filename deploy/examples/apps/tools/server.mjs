import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { z } from 'zod';

const { ISSUER = 'http://localhost:8080', PORT = '8092' } = process.env;
const self = process.env.SELF ?? `http://localhost:${PORT}`;
const endpoint = new URL('/mcp', self);

const metadata = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json();
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));

/** Verifies an access token for this server by RFC 9068 §4. */
async function verifyAccessToken(token) {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: ISSUER,
      audience: endpoint.href,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'sub', 'client_id'],
    });
    return {
      token,
      clientId: payload.client_id,
      scopes: (payload.scope ?? '').split(' '),
      expiresAt: payload.exp,
      resource: endpoint,
      extra: { account: payload.sub },
    };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new InvalidTokenError(error.message);
    throw error;
  }
}

/** The notes of each person, by the subject of their tokens. They are in memory. */
const notes = new Map();

const asText = (text) => ({ content: [{ type: 'text', text }] });

/** The tools of one person. */
function toolsOf(account) {
  const server = new McpServer({ name: 'tools', version: '1.0.0' });
  const own = notes.get(account) ?? [];
  notes.set(account, own);
  server.registerTool('list_notes', { description: 'Lists your notes.' }, async () =>
    asText(own.join('\n') || 'There are no notes.'),
  );
  server.registerTool(
    'add_note',
    { description: 'Adds a note.', inputSchema: { text: z.string().min(1).max(200) } },
    async ({ text }) => {
      own.push(text);
      return asText(`There are ${own.length} notes now.`);
    },
  );
  return server;
}

const app = express();
app.use(
  mcpAuthMetadataRouter({
    oauthMetadata: metadata,
    resourceServerUrl: endpoint,
    scopesSupported: ['notes'],
    resourceName: 'Tools',
  }),
);
app.use(
  '/mcp',
  express.json(),
  requireBearerAuth({
    verifier: { verifyAccessToken },
    requiredScopes: ['notes'],
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(endpoint),
    expectedResource: endpoint,
  }),
  async (req, res) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    res.on('close', () => void transport.close());
    await toolsOf(req.auth.extra.account).connect(transport);
    await transport.handleRequest(req, res, req.body);
  },
);
const listening = app.listen(Number(PORT), () => console.log(`tools ${self}/mcp`));
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    listening.close();
    listening.closeAllConnections();
  });
}
