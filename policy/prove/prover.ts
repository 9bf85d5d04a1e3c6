import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { AuthorizationAttributes, EntityFacts } from '../../registry/authorizer.js';
import type { AnyKind, Caller } from '../../registry/kind.js';
import type { PolicyPromise } from './promises.js';

/** A Cedar entity in a request that breaks a promise. */
interface CedarEntity {
  readonly uid: CedarUID;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly parents: readonly CedarUID[];
}

interface CedarUID {
  readonly type: string;
  readonly id: string;
}

/** A request that breaks a promise, as the prover found it. */
export interface Counterexample {
  readonly principal: CedarUID;
  readonly action: CedarUID;
  readonly resource: CedarUID;
  readonly context: Readonly<Record<string, unknown>>;
  readonly entities: readonly CedarEntity[];
}

/** What the prover says about a promise: it holds unless there is a counterexample. */
export interface Proof {
  readonly id: string;
  /** The combinations of principal, action and resource types for which it was proved. */
  readonly environments: number;
  readonly counterexample: Counterexample | null;
}

/** A policy with its published schema. */
export interface PolicyToProve {
  readonly schema: string;
  readonly text: string;
}

/**
 * Proves promises about a policy with the program at `program` (hack/tools/policy-prover). Throws if the
 * program fails.
 */
export async function provePromises(
  program: string,
  policy: PolicyToProve,
  promises: readonly PolicyPromise[],
): Promise<Proof[]> {
  const proofs: Proof[] = [];
  const byRules = new Map<string, PolicyPromise[]>();
  for (const promise of promises) {
    const rules = promise.withRules ?? '';
    byRules.set(rules, [...(byRules.get(rules) ?? []), promise]);
  }
  for (const [rules, about] of byRules) {
    const input = {
      schema: policy.schema,
      policy: `${policy.text}\n${rules}`,
      promises: about.map(({ id, kind, requests }) => ({ id, kind, cedar: requests })),
    };
    proofs.push(...(await runProver(program, input)));
  }
  return proofs;
}

async function runProver(program: string, input: object): Promise<Proof[]> {
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'pipe'] });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.on('error', () => {}); // The exit code says why it stopped reading.
  child.stdin.end(JSON.stringify(input));
  const output = Promise.all([text(child.stdout), text(child.stderr), ended]);
  const [said, errors, code] = await Promise.race([output, failed]);
  if (code !== 0) throw new Error(`the prover failed: ${errors.trim() || `exit code ${code}`}`);
  return said
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Proof);
}

/** Returns a counterexample as the engine of this service is asked, so that it can be confirmed. */
export function attributesOf(
  { principal, action, resource, context, entities }: Counterexample,
  kinds: readonly AnyKind[],
): AuthorizationAttributes {
  const find = ({ type, id }: CedarUID): CedarEntity | undefined =>
    entities.find(({ uid }) => uid.type === type && uid.id === id);
  const kind = kinds.find((kind) => kind.kind === resource.type);
  const isSignIn = ['signUp', 'signIn', 'share', 'register'].includes(action.id);
  const facts = { ...context, ...factsOf(context), ...(isSignIn && { account: principal.id }) };
  const known = entities
    .filter(({ uid }) => ['Account', 'Client', 'Scope', 'AccessRequest'].includes(uid.type))
    .map(({ uid, attrs }) => [`${uid.type} ${uid.id}`, plainFacts(attrs)] as const);
  const about = { caller: callerOf(principal, find(principal)), action: action.id };
  if (!kind || isSignIn) {
    const fact = { Client: 'client', Scope: 'scope', Path: 'path' }[resource.type] ?? 'path';
    return { ...about, facts: { ...facts, [fact]: resource.id }, entities: new Map(known) };
  }
  const name = nameOf(kind, resource, find(resource));
  const renamed = find(resource);
  if (name !== undefined && renamed) {
    known.push([`${resource.type} ${name}`, plainFacts(renamed.attrs)]);
  }
  return { ...about, kind, ...(name !== undefined && { name }), facts, entities: new Map(known) };
}

/** The name of an object follows from its owner or its browser; `*` is the collection. */
function nameOf(
  { owner, heldBy }: AnyKind,
  { id }: CedarUID,
  entity: CedarEntity | undefined,
): string | undefined {
  if (id === '*') return undefined;
  if (heldBy) return referenced(entity?.attrs.browser) ?? id;
  const account = referenced(entity?.attrs.owner);
  if (!owner || account === undefined) return id;
  return owner === 'metadata.name' ? account : `${account}-${id}`;
}

const referenced = (value: unknown): string | undefined =>
  (value as { __entity?: CedarUID } | undefined)?.__entity?.id;

function callerOf({ type, id }: CedarUID, entity: CedarEntity | undefined): Caller {
  const groups = (entity?.parents ?? []).map((parent) => parent.id);
  switch (type) {
    case 'Account':
      return {
        type,
        account: id,
        email: `person@${String(entity?.attrs.emailDomain ?? '')}`,
        groups,
        operator: groups.includes('operators'),
      };
    case 'Browser':
      return { type, interaction: id };
    case 'ClusterUser':
      return { type, user: id, groups };
    case 'Client':
      return { type, client: id };
    default:
      return { type: 'Anonymous' };
  }
}

/** Facts of the context that have another form in a request. */
const factsOf = ({ client }: Counterexample['context']): Record<string, unknown> => ({
  ...(referenced(client) !== undefined && { client: referenced(client) }),
});

/** The facts about an entity without what follows from its name, and without times. */
const plainFacts = (attrs: CedarEntity['attrs']): EntityFacts =>
  Object.fromEntries(
    Object.entries(attrs)
      .filter(([name]) => name !== 'owner' && name !== 'browser')
      .map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null && '__extn' in value ? 0 : value,
      ]),
  );
