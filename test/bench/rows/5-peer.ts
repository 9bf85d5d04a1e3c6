import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { perCPUSecond, Skip, type Row } from '../row.js';
import { loadedSide } from '../side.js';
import { startPeer } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';
import { signIns } from './4-sign-in.js';

const { inFlight, accounts, warm } = signIns;

/**
 * Sign-ins of known accounts against better-auth's email OTP on SQLite, which does no OpenID
 * Connect.
 */
export const signInPeer: Row = {
  durable: true,
  metrics: [
    {
      id: '5',
      workload: 'sign in, known account',
      unit: '/CPU s',
      ours: 'vestibule',
      peer: 'better-auth',
      of: perCPUSecond,
      is: '≥',
      gate: 1.0,
      stretch: 1.5,
    },
  ],
  async open(bench) {
    if (bench.line === '20') throw new Skip('node:sqlite is missing on this Node');
    if (
      !['', 'node_modules'].some((below) => existsSync(join(bench.modules, below, 'better-auth')))
    )
      throw new Skip('better-auth is not installed');
    const [server, peer] = [
      await startVestibule(bench, bench.newFolder('signin')),
      await startPeer(bench, 'betterauth', {
        MODULES: bench.modules,
        FOLDER: bench.newFolder('sqlite'),
      }),
    ];
    return [
      await loadedSide(bench, {
        name: 'vestibule',
        server,
        load: 'signin',
        args: { port: server.port, inFlight, accounts, parameters: {} },
        warm,
      }),
      await loadedSide(bench, {
        name: 'better-auth',
        server: peer,
        load: 'betterauth',
        args: { port: peer.port, inFlight, accounts },
        warm,
      }),
    ];
  },
};
