import { perCPUSecond, type Row } from '../row.js';
import { loadedSide } from '../side.js';
import { requireBetterAuth } from '../sides/betterauth-server.js';
import { startPeer } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';
import { signIns } from '../sign-in-server.js';

const { inFlight, accounts, warm } = signIns;

/**
 * Sign-ins of known accounts against better-auth's email OTP on SQLite without OpenID Connect. Less
 * work for the peer: printed without a gate.
 */
export const lessWork: Row = {
  durable: true,
  metrics: [
    {
      id: '5x',
      workload: 'sign in, peer without OIDC',
      unit: '/CPU s',
      ours: 'vestibule',
      peer: 'better-auth',
      of: perCPUSecond,
      is: '≥',
    },
  ],
  async open(bench) {
    requireBetterAuth(bench);
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
        kind: 'remembered',
        args: { port: server.port, inFlight, accounts },
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
