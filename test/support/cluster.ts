import { jest } from '@jest/globals';
import { tokenOf } from './device.js';
import { Kubectl, findKubectls, openFront, type Found } from './kubectl.js';
import { signIn } from './signin.js';
import { createClient, startTest, type TestService } from './service.js';
import type { Tab } from './tab.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

/** A service as kubectl sees it: over TLS, with tokens of an operator and of somebody else. */
export interface Cluster {
  readonly service: TestService;
  readonly operator: Tab;
  readonly person: Tab;
  /** That kubectl, as the operator or as somebody else, or with no credential; at another address than the one with TLS. */
  kubectl(found: Found, as?: 'operator' | 'person' | 'nobody', url?: string): Kubectl;
  stop(): Promise<void>;
}

/** Starts the service and signs both in by device flow; says on standard error which kubectl are used. */
export async function openKubernetes(): Promise<Cluster> {
  process.stderr.write(`kubectl used: ${findKubectls().map(({ version, path }) => `${version} (${path})`).join(', ')}\n`);
  const service = await startTest({ flags: ['--operators', 'op@example.test', '--limit-factor', '1000'] });
  await createClient(service, 'app');
  const tabs = [(await signIn(service, 'op@example.test')).tab, (await signIn(service, 'ada@example.test')).tab] as const;
  const [operator, person] = await Promise.all(tabs.map((tab) => tokenOf(service, tab)));
  const tokens = { operator, person, nobody: undefined };
  const front = await openFront(service.url);
  const made: Kubectl[] = [];
  return {
    service, operator: tabs[0], person: tabs[1],
    kubectl(found, as = 'operator', url?) {
      made.push(new Kubectl(found, url === undefined ? front : { url }, tokens[as]));
      return made.at(-1)!;
    },
    async stop() { for (const one of made) one.remove(); await front.stop() },
  };
}
