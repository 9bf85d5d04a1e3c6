import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, jest } from '@jest/globals';
import { tokenOf } from '../people/device.js';
import { signIn } from '../people/signin.js';
import type { Tab } from '../people/tab.js';
import { createClient, startTest, type TestService, temporary } from '../service.js';
import { type Found, findKubectls, Kubectl } from './kubectl.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

/** A service as kubectl sees it: over TLS, with tokens of an operator and of someone else. */
export interface Cluster {
  readonly service: TestService;
  readonly operator: Tab;
  readonly person: Tab;
  /** Of each the one good token: another sign-in of the command ends it. */
  readonly tokens: { readonly operator: string; readonly person: string };
  /**
   * That kubectl, as the operator or as someone else, or with no credential; at another address
   * than the one with TLS.
   */
  kubectl(found: Found, as?: 'operator' | 'person' | 'anonymous', url?: string): Kubectl;
  stop(): void;
}

const every = findKubectls();

/**
 * Of many the oldest and the newest, which differ most: hack/test is to stay quick. All of them
 * where KUBECTLS=all.
 */
const kubectls = every.filter(
  (_, at) => process.env.KUBECTLS === 'all' || at === 0 || at === every.length - 1,
);

/**
 * The same cases with each kubectl, or with the newest; where there is none they are skipped, and
 * standard error says so.
 */
export function eachKubectl(cases: (found: Found) => void, which: 'all' | 'newest' = 'all'): void {
  if (kubectls.length > 0) {
    return describe.each(which === 'all' ? kubectls : kubectls.slice(-1))(
      'kubectl $version',
      cases,
    );
  }
  const why = 'no kubectl is on the PATH, and hack/prepare has built none';
  process.stderr.write(`SKIPPED test/kubernetes: ${why}\n`);
  describe.skip(`kubectl: ${why}`, () => cases({ version: '0.0.0', path: 'kubectl' }));
}

/**
 * Starts the service with further flags and signs both in by device flow; says on standard error
 * which kubectl are used.
 */
export async function openKubernetes(flags: readonly string[] = []): Promise<Cluster> {
  const left = every.filter((one) => !kubectls.includes(one)).map(({ version }) => version);
  process.stderr.write(
    `kubectl used: ${kubectls.map(({ version, path }) => `${version} (${path})`).join(', ')}${left.length > 0 ? `; by KUBECTLS=all also ${left.join(', ')}` : ''}\n`,
  );
  const directory = temporary();
  const service = await startTest({
    directory,
    flags: ['--operators=op@example.test', '--limit-factor=1000', '--secure-port=0', ...flags],
  });
  await createClient(service, 'app');
  const tabs = [
    (await signIn(service, 'op@example.test')).tab,
    (await signIn(service, 'ada@example.test')).tab,
  ] as const;
  const [operator, person] = await Promise.all(tabs.map((tab) => tokenOf(service, tab)));
  const tokens = { operator: operator!, person: person!, anonymous: undefined };
  const trusted = { url: service.secureURL!, ca: readFileSync(join(directory, 'tls.crt')) };
  const made: Kubectl[] = [];
  return {
    service,
    operator: tabs[0],
    person: tabs[1],
    tokens,
    kubectl(found, as = 'operator', url?) {
      made.push(new Kubectl(found, url === undefined ? trusted : { url }, tokens[as]));
      return made.at(-1)!;
    },
    stop() {
      for (const one of made) one.remove();
    },
  };
}
