import type { Authorize, Question } from '../registry/decision.js';
import type { AnyKind, Caller, KindObject } from '../registry/kind.js';
import { badRequest, forbidden, notFound, unauthorized } from '../registry/status.js';
import type { Store } from '../registry/store.js';
import type { Stored } from '../registry/stored.js';
import type { Admitted } from './classes.js';
import type { OtherAsk, ResourceAsk } from './request.js';
import { parseSelector } from './selectors.js';

const nobody: Caller = { type: 'Visitor' };
const collective = new Set(['list', 'watch', 'deletecollection']);

/** The policy's name of what is asked: the verb, or `<resource>/<subresource>`. */
const actionOf = ({ kind, verb, action }: ResourceAsk): string => (action ? `${kind.resource}/${action.subresource}` : verb);

/** Step 4 of a request: the object is read, then one decision; 401, 403 and 404 as `api.md` 4 tells them apart. */
export class Admission {
  readonly #store: Store;
  readonly #authorize: Authorize;

  constructor(store: Store, authorize: Authorize) {
    this.#store = store;
    this.#authorize = authorize;
  }

  /** Lets a request for objects in, or throws. */
  async admit(ask: ResourceAsk, caller: Caller): Promise<Admitted> {
    if (ask.name === '~') ask.name = mine(ask, caller);
    if (ask.name === undefined) return this.#collection(ask, caller);
    if (ask.kind.bound && !(caller.type === 'Browser' && caller.interaction === ask.name) && ask.verb !== 'list') throw notFound(ask.kind, ask.name);
    const held = this.#store.atHand(ask.kind, ask.name);
    const target = held ? held.stored : await this.#store.stored(ask.kind, ask.name);
    const decision = await this.#authorize(question(ask, caller, target));
    if (!decision.allowed) throw await this.#refusal(ask, caller, target);
    if (!target && (ask.verb !== 'watch' || ask.kind.bound)) throw notFound(ask.kind, ask.name);
    return { ask, caller, decision, ...(target && { target }) };
  }

  /** Lets a request for anything else in: who asks makes no difference to it. */
  async admitOther(ask: OtherAsk): Promise<Admitted> {
    const decision = await this.#authorize({ caller: nobody, action: ask.type, facts: { path: ask.path } });
    if (!decision.allowed) throw forbidden('policy refuses it');
    return { ask, caller: nobody, decision };
  }

  /** Whether one object of a list or watch may be seen, by the verb that was asked. */
  async sees(ask: ResourceAsk, caller: Caller, stored: Stored): Promise<boolean> {
    return (await this.#authorize(question({ ...ask, name: stored.name }, caller, stored))).allowed;
  }

  /** An owned kind is decided for the whole kind and, where that is refused, for the caller's own range; deletecollection goes the other way about. */
  async #collection(ask: ResourceAsk, caller: Caller): Promise<Admitted> {
    const { kind, verb } = ask;
    const selector = collective.has(verb) ? parseSelector(ask.query, kind) : undefined;
    if (selector?.name !== undefined && verb !== 'deletecollection') return this.#pinned(ask, caller, selector.name, selector.owner);
    const own = kind.owner && caller.type === 'Account' ? caller.account : undefined;
    if (verb === 'deletecollection' && kind.owner) return this.#range(ask, caller, selector?.owner ?? own);
    if (selector?.owner !== undefined) return this.#range(ask, caller, selector.owner);
    const whole = await this.#authorize({ caller, action: actionOf(ask), kind });
    if (whole.allowed) return { ask, caller, decision: whole };
    if (own === undefined || !collective.has(verb)) throw refused(ask, caller);
    return this.#range(ask, caller, own);
  }

  async #range(ask: ResourceAsk, caller: Caller, owner: string | undefined): Promise<Admitted> {
    if (caller.type === 'Visitor') throw unauthorized();
    if (owner === undefined) throw badRequest(`name the owner: fieldSelector=${ask.kind.owner}=<account>`);
    const decision = await this.#authorize({ caller, action: actionOf(ask), kind: ask.kind, owner });
    if (!decision.allowed) throw refused(ask, caller);
    return { ask, caller, decision, owner };
  }

  /** A list or watch pinned to one name is authorized as a request for that name. */
  async #pinned(ask: ResourceAsk, caller: Caller, name: string, owner: string | undefined): Promise<Admitted> {
    const decision = await this.#authorize({ caller, action: actionOf(ask), kind: ask.kind, name });
    const within = owner === undefined ? {} : { owner };
    if (decision.allowed) return { ask, caller, decision, ...within };
    const whole = await this.#authorize({ caller, action: actionOf(ask), kind: ask.kind });
    if (whole.allowed || (ask.kind.owner && caller.type === 'Account')) return { ask, caller, decision: whole, ...within };
    throw refused(ask, caller);
  }

  async #refusal(ask: ResourceAsk, caller: Caller, target: Stored | undefined): Promise<Error> {
    if (caller.type === 'Visitor') return unauthorized();
    const seen = target && (await this.#authorize(question({ type: 'resource', kind: ask.kind, verb: 'get', name: ask.name!, query: ask.query }, caller, target))).allowed;
    return seen ? refused(ask, caller) : notFound(ask.kind, ask.name!);
  }
}

function mine({ kind }: ResourceAsk, caller: Caller): string {
  const name = caller.type === 'Account' ? (kind.resource === 'sessions' ? caller.session : caller.account) : undefined;
  if (name === undefined) throw unauthorized();
  return name;
}

/** A question about one object, which is parsed only where a rule looks at it. */
class ObjectQuestion {
  readonly caller: Caller;
  readonly action: string;
  readonly kind: AnyKind;
  readonly name: string | undefined;
  readonly #target: Stored | undefined;

  constructor(ask: ResourceAsk, caller: Caller, target: Stored | undefined) {
    this.caller = caller;
    this.action = actionOf(ask);
    this.kind = ask.kind;
    this.name = ask.name;
    this.#target = target;
  }

  get object(): KindObject | undefined { return this.#target?.object }
}

const question = (ask: ResourceAsk, caller: Caller, target: Stored | undefined): Question => new ObjectQuestion(ask, caller, target) as Question;

function refused(ask: ResourceAsk, caller: Caller): Error {
  if (caller.type === 'Visitor') return unauthorized();
  return forbidden(`${whoIs(caller)} cannot ${ask.verb} resource "${ask.kind.resource}" in API group "${ask.kind.group}" at the cluster scope`, ask.kind, ask.name);
}

/** How messages name a caller. */
const whoIs = (caller: Caller): string => `User "${caller.type === 'Account' ? caller.account : caller.type === 'Machine' ? caller.user : caller.type.toLowerCase()}"`;
