import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MakeLoad } from '../load.js';
import { memoOf } from '../memo.js';
import { type Asking, mix, policyText } from '../policies.js';

/**
 * How many decisions are one operation, since a single one is too short to be timed: of the engine
 * where it remembers, and of what evaluates each.
 */
export const decisions = { remembered: 50_000, evaluated: 100 };

/**
 * Decisions by the engine as shipped, or by Cedar itself with the whole set prepared; `always` adds
 * a condition on the time, which nothing remembers.
 */
const make: MakeLoad<{
  root: string;
  count: number;
  always: boolean;
  by: 'engine' | 'cedar';
}> = async ({ root, count, always, by }) => {
  const load = (file: string): Promise<any> => import(pathToFileURL(join(root, 'dist', file)).href);
  const [{ kinds, actions }, { openEngine }, { loadCedar }] = [
    await load('kinds/index.js'),
    await load('policy/engine/engine.js'),
    await load('policy/parse/cedar.js'),
  ];
  const text = policyText(count, always);
  const engine = await openEngine(kinds, actions);
  await engine.activate('bench', text);
  const cedar = await loadCedar();
  const prepared = cedar.preparsePolicySet('whole', { staticPolicies: text });
  if (prepared.type !== 'success') throw new Error(JSON.stringify(prepared.errors));
  const questions = mix(20_000);
  const ours = questions.map((asking) => questionOf(asking, kinds));
  const ask =
    by === 'engine'
      ? (i: number): boolean => engine.decide(ours[i]).allowed
      : (i: number): boolean => whole(cedar, questions[i]!);
  for (let i = 0; i < questions.length; i += by === 'engine' && !always ? 1 : 40) {
    if (engine.decide(ours[i]).allowed !== whole(cedar, questions[i]!)) {
      throw new Error(`the answers differ: ${JSON.stringify(questions[i])}`);
    }
  }
  let at = 0;
  return {
    inFlight: 1,
    async operation() {
      for (
        let i = 0;
        i < (by === 'engine' && !always ? decisions.remembered : decisions.evaluated);
        i += 1
      ) {
        ask((at = (at + 1) % questions.length));
      }
      await new Promise(setImmediate);
    },
    ...(by === 'engine' && {
      memo: () => memoOf(new Map(Object.entries(engine.counts as object))),
    }),
    close() {},
  };
};
export default make;

function questionOf(asking: Asking, kinds: readonly { kind: string }[]): unknown {
  const { account, domain, groups, action, kind, name, scope, client } = asking;
  const caller = {
    type: 'Account',
    account,
    email: `person@${domain}`,
    operator: groups.includes('operators'),
    groups,
  };
  return {
    caller,
    action,
    ...(kind && { kind: kinds.find((one) => one.kind === kind), name }),
    facts: { domain, account, ...(scope && { scope }), ...(client && { client }) },
  };
}

function resourceOf({ kind, name, scope, client }: Asking): { type: string; id: string } {
  if (kind) return { type: kind, id: name! };
  return scope ? { type: 'Scope', id: scope } : { type: 'Client', id: client! };
}

function parentsOf(action: string): { type: string; id: string }[] {
  if (['get', 'list', 'watch'].includes(action)) return [{ type: 'Action', id: 'read' }];
  return action === 'delete' ? [{ type: 'Action', id: 'write' }] : [];
}

/** The same question to Cedar: every entity and every fact. */
function whole(cedar: any, asking: Asking): boolean {
  const { account, domain, groups, action, kind, name, client } = asking;
  const principal = { type: 'Account', id: account };
  const resource = resourceOf(asking);
  const owner = kind === 'Account' ? name! : name?.split('-')[0];
  const self = (id: string): object => ({ owner: { __entity: { type: 'Account', id } } });
  const parents = groups.map((id) => ({ type: 'Group', id }));
  const entities = [
    { uid: principal, attrs: self(account), parents },
    ...(kind === 'Account' && name === account
      ? []
      : [{ uid: resource, attrs: kind && kind !== 'Client' ? self(owner!) : {}, parents: [] }]),
    { uid: { type: 'Action', id: action }, attrs: {}, parents: parentsOf(action) },
  ];
  const context = {
    domain,
    now: { __extn: { fn: 'datetime', arg: new Date().toISOString() } },
    site: '',
    assurance: '',
    methods: [],
    metadataOnly: false,
    ...(client && { client: { __entity: { type: 'Client', id: client } } }),
  };
  const answer = cedar.statefulIsAuthorized({
    principal,
    action: { type: 'Action', id: action },
    resource,
    context,
    entities,
    preparsedPolicySetId: 'whole',
  });
  if (answer.type === 'failure' || answer.response.diagnostics.errors.length > 0) {
    throw new Error(JSON.stringify(answer));
  }
  return answer.response.decision === 'allow';
}
