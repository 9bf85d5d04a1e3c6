import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { Skip } from '../row.js';
import type { SignInServer } from '../sign-in-server.js';
import { peerCommand, startProgram } from './peer.js';

/** Throws where better-auth is not installed or cannot run. */
export function requireBetterAuth({ line, modules }: Bench): void {
  if (line === '20') throw new Skip('node:sqlite is missing on this Node');
  if (!['', 'node_modules'].some((below) => existsSync(join(modules, below, 'better-auth')))) {
    throw new Skip('better-auth is not installed');
  }
}

/** better-auth with its OpenID provider, codes by mail, and durable SQLite. */
export const betterAuth: SignInServer = {
  name: 'better-auth',
  configuration: '/.well-known/openid-configuration',
  prepare: requireBetterAuth,
  start: (bench, folder, address) =>
    startProgram(bench, address, peerCommand(bench, 'betterauth-oidc'), {
      MODULES: bench.modules,
      FOLDER: folder,
      PORT: String(address.port),
    }),
  load: 'betterauth-oidc',
  journeys: ['asked', 'remembered'],
};
