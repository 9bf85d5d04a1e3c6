import { isDeepStrictEqual } from 'node:util';
import { describeChanges } from '../../kinds/policy/alternative-words.js';
import type { Alternative } from '../../kinds/policy/alternatives.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { PolicyEvaluator } from '../evaluate/evaluator.js';
import type { PolicySlice } from '../evaluate/policy-slice.js';
import type { UnknownValue } from '../evaluate/unknowns.js';
import type { AuthorizationRequest, DecisionEnvironment } from '../model/authorization-request.js';
import { type Candidate, candidatesFor } from './candidates.js';
import { literalsIn } from './literals.js';
import { requestIn, type World } from './world.js';

/** The largest number of changes together, and of alternatives that are returned. */
const limits = { changes: 3, alternatives: 5 };

/** How many evaluations a search may take; it counts down. */
export interface SearchBudget {
  evaluations: number;
}

/** Where a search takes place. */
interface Search {
  readonly evaluator: PolicyEvaluator;
  readonly environment: DecisionEnvironment;
  readonly world: World;
}

/**
 * Returns the smallest changes of facts with which a refused request would have been permitted
 * (docs/design/policy.md#why-not). Each was decided by `evaluator`. Returns none if they could say what
 * the caller may not know: whether an object exists, or facts about others. Takes at most the
 * evaluations of `budget`.
 */
export function alternativesTo(
  evaluator: PolicyEvaluator,
  attributes: AuthorizationAttributes,
  environment: DecisionEnvironment,
  budget: SearchBudget,
): Alternative[] {
  const { object } = attributes; // perhaps an accessor, which copies would not have
  const world: World = {
    attributes: { ...attributes, ...(object && { object }) },
    timeMs: environment.timeMs ?? Date.now(),
  };
  const search = { evaluator, environment, world };
  const slice = evaluator.slice(requestIn(world, environment));
  if (!mayKnow(search) || dependsOnOthers(slice, requestIn(world, environment))) return [];
  const mentioned = new Set(slice.unknowns.flatMap(mentionsOf));
  const { explain: facts } = attributes;
  const candidates = candidatesFor(world, { ...literalsIn(slice.rules), mentioned }, environment);
  const noticed = candidates.filter(
    (candidate) =>
      (facts?.includes(candidate.change.fact) ?? true) && isNoticed(search, slice, candidate),
  );
  return smallest(search, noticed, facts ? 1 : limits.changes, budget);
}

/** Returns what an unknown reads: its name, or the fact that it compares. */
const mentionsOf = ({ name, comparison }: UnknownValue): string[] =>
  comparison ? [name, comparison.source] : [name];

/**
 * Returns whether the caller may know that the object of the request exists: they may read it. The
 * refusal of a creation does not depend on it.
 */
function mayKnow({ evaluator, environment, world }: Search): boolean {
  const { attributes, timeMs } = world;
  const { kind, name, action } = attributes;
  if (!kind || name === undefined || action === 'create') return true;
  if (action === 'get') return false;
  const reading = { attributes: { ...attributes, action: 'get' }, timeMs };
  return evaluator.decide(requestIn(reading, environment)).allowed;
}

/** Returns whether rules mention facts about an entity that are not the caller's to know. */
const dependsOnOthers = ({ unknowns }: PolicySlice, request: AuthorizationRequest): boolean =>
  unknowns.some(({ entity }) => {
    const id = entity?.id(request);
    if (id === undefined || entity!.isPublic) return false;
    const isPrincipal = entity!.type === request.principalType && id === request.principal;
    const isResource = entity!.type === request.resourceType && id === request.resource;
    return !isPrincipal && !(isResource && entity!.type !== 'Account' && request.attributes.kind);
  });

/** Returns whether any rule could notice a change. */
function isNoticed(
  { environment, world }: Search,
  { unknowns }: PolicySlice,
  candidate: Candidate,
) {
  const [before, after] = [
    requestIn(world, environment),
    requestIn(candidate.apply(world), environment),
  ];
  return unknowns.some(
    (unknown) => !isDeepStrictEqual(read(unknown, before), read(unknown, after)),
  );
}

function read(unknown: UnknownValue, request: AuthorizationRequest): unknown {
  try {
    return unknown.read(request);
  } catch {
    return undefined;
  }
}

/**
 * Returns the smallest sets of changes that are enough; all of them have the same size. Ends early
 * when the search took as many evaluations as it may.
 */
function smallest(
  search: Search,
  candidates: readonly Candidate[],
  maxChanges: number,
  budget: SearchBudget,
): Alternative[] {
  for (let size = 1; size <= maxChanges; size += 1) {
    const found: (readonly Candidate[])[] = [];
    for (const set of setsOf(candidates, size)) {
      if (found.some((other) => makesSuperfluous(other, set))) continue;
      if (budget.evaluations === 0 || found.length === limits.alternatives) break;
      budget.evaluations -= 1;
      if (isEnough(search, set)) found.push(set);
    }
    if (found.length > 0) return found.map(alternativeOf);
  }
  return [];
}

function alternativeOf(set: readonly Candidate[]): Alternative {
  const changes = set.map(({ change }) => change);
  return { message: describeChanges(changes), changes };
}

/** Decides a request with all changes. A sign-in happens at the time that another change sets. */
function isEnough({ evaluator, environment, world }: Search, set: readonly Candidate[]): boolean {
  const isTime = ({ change }: Candidate): boolean => change.fact === 'Time';
  const inOrder = [...set.filter(isTime), ...set.filter((candidate) => !isTime(candidate))];
  const changed = inOrder.reduce((changing, { apply }) => apply(changing), world);
  return evaluator.decide(requestIn(changed, environment)).allowed;
}

/** Returns whether a set differs from one that is enough only where the first is all that counts. */
const makesSuperfluous = (found: readonly Candidate[], set: readonly Candidate[]): boolean =>
  set.every(({ change, dimension, isRanked }, i) => {
    const other = found[i]!;
    return dimension === other.dimension && (isRanked || change.value === other.change.value);
  });

/** Yields the sets of a size with one candidate at most of each dimension, in order. */
function* setsOf(candidates: readonly Candidate[], size: number): Generator<readonly Candidate[]> {
  if (size === 0) return void (yield []);
  for (const [i, first] of candidates.entries()) {
    const others = candidates
      .slice(i + 1)
      .filter((candidate) => candidate.dimension !== first.dimension);
    for (const rest of setsOf(others, size - 1)) yield [first, ...rest];
  }
}
