import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { type ApiServer, conditions, kindsOf, setList } from '../../apiserver/library/index.js';
import { type Answer, ask, Fishery, serving } from '../library/fishery.js';
import { group, verbs } from '../library/fixture.js';
import { Kubectl } from '../support/cluster/kubectl.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { expectFor } from '../support/expect-for.js';
import { settles } from '../support/patience.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';

/** The programs may have to be built. */
jest.setTimeout(900_000);

const defineKind = kindsOf({ group, version: 'v1' });
const Pond = defineKind({
  kind: 'Pond',
  resource: 'ponds',
  description: 'Where people fish. An operator makes a Fischer for each name, and a warden.',
  verbs,
  hasStatusSubresource: true,
  spec: z.object({
    fischers: setList(z.array(z.string())).default([]).describe('Who fishes here.'),
  }),
  status: z.object({
    observedGeneration: z.number().int().optional().describe('What the operator has seen.'),
    fischers: z.number().int().optional().describe('How many fish here.'),
    conditions: conditions('Ready').optional(),
  }),
  columns: {},
});
const Fischer = defineKind({
  kind: 'Fischer',
  resource: 'fischers',
  description: 'Who fishes.',
  verbs,
  spec: z.object({ pond: z.string().describe('Where.') }),
  status: z.object({}),
  columns: {},
});

const tool = (...path: string[]): string => join(import.meta.dirname, '../../hack/tools', ...path);
const libraries = toolProgram('java-operator-sdk');

/** A program that owns Ponds: how it is started, and the finalizer that its library sets. */
interface Operator {
  readonly name: string;
  readonly finalizer: string;
  readonly program: string | undefined;
  readonly args: (config: string) => readonly string[];
}

const operators: readonly Operator[] = [
  {
    name: 'controller-runtime',
    finalizer: 'wardle.example.com/ponds',
    program: toolProgram('controller-runtime'),
    args: (config) => [config, 'operator'],
  },
  {
    name: 'kopf',
    finalizer: 'kopf.zalando.org/KopfFinalizerMarker',
    program: toolProgram('python-clients'),
    args: () => ['-m', 'kopf', 'run', '--all-namespaces', tool('python-clients/kopf_operator.py')],
  },
  {
    name: 'Java Operator SDK',
    finalizer: 'ponds.wardle.example.com/finalizer',
    program: libraries === undefined ? undefined : 'java',
    args: () => [
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      '-cp',
      `${libraries!}/*`,
      tool('java-operator-sdk/PondOperator.java'),
    ],
  },
];

/** A running operator, and what it printed. */
class Running {
  text = '';
  readonly #child: ChildProcess;

  constructor({ program, args }: Operator, config: string) {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    this.#child = spawn(program!, args(config), { env: { ...inherited, KUBECONFIG: config } });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.text += chunk.toString();
      });
    }
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** What others see of a Pond and of the Fischers that have its name before theirs. */
interface State {
  /** Undefined when it is gone. */
  readonly finalizers?: readonly string[] | undefined;
  /** Undefined when its deletion has begun. */
  readonly status?: object | undefined;
  readonly owned: readonly string[];
  readonly others: readonly string[];
}

/** A Pond that its operator has brought to what it asks for. */
const settled = (finalizers: readonly string[], ...owned: string[]): State => ({
  finalizers,
  status: { isObserved: true, fischers: owned.length, conditions: ['Ready True Fished'] },
  owned,
  others: ['warden'],
});
const gone: State = { owned: [], others: [] };
const held = 'example.com/held';

/** A Pond as it is created. */
const pond = (name: string, finalizers: readonly string[], ...fischers: string[]): object => ({
  metadata: { name, finalizers },
  spec: { fischers },
});

/** A step: what is done to a Pond, and what must come about. */
interface Step {
  readonly title: string;
  readonly pond: string;
  readonly act?: (send: Send) => Promise<Answer>;
  readonly state: (finalizer: string) => State;
}

/** Sends a request; the path is below the group's version. A body of a PATCH is a merge patch. */
type Send = (method: string, path: string, body?: object) => Promise<Answer>;

const steps: readonly Step[] = [
  {
    title: 'takes over an object that was there before it, with the finalizer of another',
    pond: 'north',
    state: (own) => settled([held, own], 'ada', 'ben'),
  },
  {
    title: 'cleans up after an object whose deletion began before it',
    pond: 'dry',
    state: () => gone,
  },
  {
    title: 'takes a new object',
    pond: 'south',
    act: (send) => send('POST', 'ponds', pond('south', [], 'eve')),
    state: (own) => settled([own], 'eve'),
  },
  {
    title: 'follows a changed spec',
    pond: 'north',
    act: (send) => send('PATCH', 'ponds/north', { spec: { fischers: ['ben', 'cleo', 'dan'] } }),
    state: (own) => settled([held, own], 'ben', 'cleo', 'dan'),
  },
  {
    title: 'makes a deleted object again',
    pond: 'north',
    act: (send) => send('DELETE', 'fischers/north-ben'),
    state: (own) => settled([held, own], 'ben', 'cleo', 'dan'),
  },
  {
    title: 'cleans up at a deletion, and removes its finalizer',
    pond: 'north',
    act: (send) => send('DELETE', 'ponds/north'),
    state: () => ({ finalizers: [held], owned: ['ben', 'cleo', 'dan'], others: [] }),
  },
  {
    title: 'sees the object and what it owned go with the last finalizer',
    pond: 'north',
    act: (send) => send('PATCH', 'ponds/north', { metadata: { finalizers: null } }),
    state: () => gone,
  },
  {
    title: 'makes nothing again during a deletion in the foreground',
    pond: 'south',
    act: (send) => send('DELETE', 'ponds/south?propagationPolicy=Foreground'),
    state: () => gone,
  },
];

/** Codes of answers to requests that a client must not send, or that the server failed at. */
const isFault = (code: number): boolean =>
  [400, 403, 405, 406, 413, 415].includes(code) || code >= 500;

afterAll(stopAll);

describe.each(stores)('a kind owned by a program of others, on %s', (store) => {
  const fishery = new Fishery(store);
  const token = 'a-token-of-the-operator';
  const faults: string[] = [];
  let server: ApiServer;
  let kubeconfig: Kubectl;

  beforeAll(async () => {
    server = await fishery.start({
      kinds: [Pond, Fischer],
      certificate: serving,
      token,
      audit: {
        write({ verb, requestURI, userAgent, responseStatus }) {
          const { code } = responseStatus as { code: number };
          if (isFault(code)) faults.push(`${userAgent}: ${verb} ${requestURI} ${code}`);
        },
      },
    });
    const trusted = { url: server.url, ca: Buffer.from(serving.cert) };
    kubeconfig = new Kubectl({ version: '', path: '' }, trusted, token);
  });
  afterAll(async () => {
    kubeconfig?.remove();
    await fishery.stop();
  });

  const send: Send = (method, path, body) =>
    ask(`${server.url}/apis/${group}/v1/${path}`, {
      method,
      body,
      headers: { Authorization: `Bearer ${token}` },
      ...(method === 'PATCH' && { type: 'application/merge-patch+json' }),
    });

  async function stateOf(name: string): Promise<State> {
    const { code, body: owner } = await send('GET', `ponds/${name}`);
    const { body: list } = await send('GET', 'fischers');
    const fischers: any[] = list.items.filter(({ spec }: any) => spec.pond === name);
    const isOwned = ({ metadata }: any): boolean =>
      metadata.ownerReferences?.some(
        ({ uid, kind, controller }: any) =>
          kind === 'Pond' && controller && (code === 404 || uid === owner.metadata.uid),
      ) ?? false;
    const names = (which: any[]): string[] =>
      which.map(({ metadata }) => metadata.name.replace(`${name}-`, '')).sort();
    return {
      ...(code === 200 && detailsOf(owner)),
      owned: names(fischers.filter(isOwned)),
      others: names(fischers.filter((fischer) => !isOwned(fischer))),
    };
  }

  describe.each(operators)('$name', (operator) => {
    const cases = operator.program === undefined ? test.skip : test;
    let running: Running;

    beforeAll(async () => {
      if (operator.program === undefined) return;
      const { finalizer } = operator;
      const answers = [
        await send('POST', 'ponds', pond('north', [held], 'ada', 'ben')),
        await send('POST', 'ponds', pond('dry', [finalizer])),
        await send('POST', 'fischers', { metadata: { name: 'dry-warden' }, spec: { pond: 'dry' } }),
        await send('DELETE', 'ponds/dry'),
      ];
      expect(answers.map(({ code }) => code)).toEqual([201, 201, 201, 200]);
      running = new Running(operator, join(dirname(kubeconfig.file('any', '')), 'config'));
    });
    afterAll(async () => {
      await running?.stop();
    });

    cases.each(steps)('$title', async ({ pond: name, act, state }) => {
      if (act) expect((await act(send)).code).toBeLessThan(300);
      const expected = state(operator.finalizer);
      const holds = (seen: State): boolean => isDeepStrictEqual(seen, expected) || running.hasEnded;
      const seen = await settles(() => stateOf(name), holds).catch(() => stateOf(name));
      expectFor(running.text, seen).toEqual(expected);
    });

    cases('sends nothing that the server refuses or fails at', () => {
      expectFor(running.text, faults.splice(0)).toEqual([]);
      expect(running.hasEnded).toBe(false);
    });
  });
});

/** What is seen of a Pond that is there. */
function detailsOf({ metadata, status }: any): Pick<State, 'finalizers' | 'status'> {
  const finalizers = (metadata.finalizers ?? []).toSorted();
  if (metadata.deletionTimestamp !== undefined) return { finalizers };
  return {
    finalizers,
    status: {
      isObserved: status.observedGeneration === metadata.generation,
      fischers: status.fischers,
      conditions: (status.conditions ?? []).map(({ type, status, reason }: any) =>
        [type, status, reason].join(' '),
      ),
    },
  };
}
