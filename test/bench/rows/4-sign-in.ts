import { throughput, type Row } from '../row.js';
import { loadedSide } from '../side.js';
import { startPeer } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';

/** How sign-ins are made in every row that has them. */
export const signIns = { inFlight: 16, accounts: 1000, warm: { operations: 3_000 } } as const;

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
          args: { port: server.port, inFlight, accounts, parameters },
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
  gate: 0.45,
  stretch: 0.6,
} as const;

/**
 * A sign-in by emailed code, authorization request to tokens, against the bare library: consent
 * asked.
 */
export const signInAsked = signIn(true, [
  { ...shared, id: '4a', workload: 'sign in, consent asked' },
]);

/** The same, consent remembered. */
export const signInRemembered = signIn(false, [
  { ...shared, id: '4b', workload: 'sign in, consent remembered' },
]);
