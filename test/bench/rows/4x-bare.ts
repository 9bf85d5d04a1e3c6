import { type Row, throughput } from '../row.js';
import { loadedSide } from '../side.js';
import { startPeer } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';
import { signIns } from '../sign-in-server.js';

const { inFlight, accounts, warm } = signIns;

function signIn(asked: boolean, metrics: Row['metrics']): Row {
  const parameters: Record<string, string> = asked ? { prompt: 'consent' } : {};
  return {
    durable: true,
    metrics,
    async open(bench) {
      const [server, bare] = [
        await startVestibule(bench, bench.newFolder('signin')),
        await startPeer(bench, 'bare', { REMEMBER: String(!asked) }),
      ];
      return [
        await loadedSide(bench, {
          name: 'vestibule',
          server,
          load: 'signin',
          kind: asked ? 'asked' : 'remembered',
          args: { port: server.port, inFlight, accounts },
          warm,
        }),
        await loadedSide(bench, {
          name: 'oidc-provider',
          server: bare,
          load: 'bare',
          args: { port: bare.port, inFlight, accounts, prompts: asked ? 2 : 1, parameters },
          warm,
        }),
      ];
    },
  };
}

const shared = {
  unit: '/s',
  ours: 'vestibule',
  peer: 'oidc-provider',
  of: throughput,
  is: '≥',
} as const;

/**
 * A durable sign-in, authorization request to tokens, against the library in memory, whose
 * interactions answer themselves; consent asked. Unequal work: printed without a gate.
 */
export const bareAsked = signIn(true, [
  { ...shared, id: '4xa', workload: 'asked, peer in memory' },
]);

/** The same, consent remembered. */
export const bareRemembered = signIn(false, [
  { ...shared, id: '4xb', workload: 'remembered, peer in memory' },
]);
