import { whyRefused, type Authorize, type Question } from '../../registry/authorizer.js';
import type { AnyKind, Caller, Decision, KindObject } from '../../registry/kind.js';
import {
  badRequest,
  forbidden,
  notFound,
  StatusError,
  unauthorized,
} from '../../registry/status.js';
import type { Store } from '../../registry/store.js';
import type { Stored } from '../../registry/encoded-object.js';
import type { Admitted } from '../http/message.js';
import type { OtherAsk, ResourceAsk } from '../request/request-info.js';
import { parseSelector, type Selector } from '../codec/selectors.js';
import { siteOf } from '../../security/fetch-metadata.js';
import type { Step } from './step.js';

const nobody: Caller = { type: 'Visitor' };
const collective = new Set(['list', 'watch', 'deletecollection']);

/** The policy's name of what is asked: the verb, or `<resource>/<subresource>`. */
const actionOf = ({ kind, verb, action }: ResourceAsk): string =>
  action ? `${kind.resource}/${action.subresource}` : verb;

/**
 * What a request is narrowed to, as far as policy needs it; a selector that cannot be read is an
 * error only for a caller that policy permits.
 */
function selectorOf({ query, kind }: ResourceAsk): Selector | undefined {
  try {
    return parseSelector(query, kind);
  } catch {
    return undefined;
  }
}

type Facts = Readonly<Record<string, unknown>>;

/**
 * What policy is told of a request by where it comes from and how much of objects it wants: made
 * once.
 */
const factsBySite = new Map(
  ['', 'same-origin', 'same-site', 'cross-site', 'none'].map((site) => {
    const facts = site ? { site } : {};
    return [
      site,
      { whole: Object.freeze(facts), metadata: Object.freeze({ ...facts, metadataOnly: true }) },
    ] as const;
  }),
);
const noFacts = Object.freeze({});

function factsOf({ view }: ResourceAsk, site = ''): Facts {
  const { whole, metadata } = factsBySite.get(site) ?? factsBySite.get('')!;
  return view.metadataOnly ? metadata : whole;
}

/** A request for objects as policy sees it. */
interface Asking {
  readonly ask: ResourceAsk;
  readonly caller: Caller;
  readonly facts: Facts /** Asked again only to see whether it still holds. */;
  readonly quiet?: boolean /** An object that is not there is let in as it would be if it were. */;
  readonly supposed?: boolean;
}

/**
 * Step 4 of a request: the object is read, then one decision; 401, 403 and 404 as
 * docs/design/api.md#refusals tells them apart.
 */
export class Admission {
  readonly #store: Store;
  readonly #authorize: Authorize;

  constructor(store: Store, authorize: Authorize) {
    this.#store = store;
    this.#authorize = authorize;
  }

  /** Authorizes a request for whoever sent it, and remembers what was decided and found. */
  readonly step: Step = async (req) => {
    const ask = req.ask!;
    if (ask.type === 'resource') req.admitted = await this.admit(ask, req.caller!, siteOf(req));
    else {
      const admitted = this.admitOther(ask, siteOf(req));
      req.admitted = ask.type === 'review' ? { ...admitted, caller: req.caller! } : admitted;
    }
  };

  /**
   * Lets a request for objects in, or throws. `site` is what a browser says of its origin; `quiet`
   * where it is asked again and nothing comes of it.
   */
  admit(ask: ResourceAsk, caller: Caller, site?: string, quiet = false): Promise<Admitted> {
    return this.#admit({ ask, caller, facts: factsOf(ask, site), quiet });
  }

  /** Whether such a request would be let in, and why not; nothing is recorded of it. */
  async may(ask: ResourceAsk, caller: Caller, site?: string): Promise<Answer> {
    return answerOf(() =>
      this.#admit({ ask, caller, facts: factsOf(ask, site), quiet: true, supposed: true }),
    );
  }

  /** The same of anything else. */
  mayOther(ask: OtherAsk, site?: string): Promise<Answer> {
    return answerOf(() => this.admitOther(ask, site));
  }

  async #admit(asking: Asking): Promise<Admitted> {
    const { ask, caller } = asking;
    if (ask.name === '~') ask.name = mine(ask, caller);
    if (ask.name === undefined) return this.#collection(asking);
    if (
      ask.kind.bound &&
      !(caller.type === 'Browser' && caller.interaction === ask.name) &&
      ask.verb !== 'list'
    )
      throw notFound(ask.kind, ask.name);
    const held = this.#store.atHand(ask.kind, ask.name);
    return held
      ? this.#object(asking, held.stored)
      : (this.#recalled(asking) ?? this.#read(asking));
  }

  async #read(asking: Asking): Promise<Admitted> {
    return this.#object(asking, await this.#store.stored(asking.ask.kind, asking.ask.name!));
  }

  /**
   * A change of an object that is remembered is let in as of then, without reading it: its commit
   * proves that it still stands, and what is refused, or not proved, is decided on what does.
   */
  #recalled(asking: Asking): Admitted | undefined {
    const { ask, caller, facts, quiet, supposed } = asking;
    if (
      (ask.verb !== 'update' && ask.verb !== 'patch') ||
      ask.action ||
      quiet ||
      supposed ||
      ask.query.has('dryRun')
    )
      return undefined;
    const target = this.#store.recall(ask.kind, ask.name!);
    const decision =
      target &&
      this.#authorize(new ObjectQuestion(asking, target, ask.name!, 'allowed') as Question);
    return decision?.allowed ? { ask, caller, facts, decision, target, recalled: true } : undefined;
  }

  /** Decides anew on what stands now. */
  again({ ask, caller, facts = noFacts }: Admitted): Promise<Admitted> {
    return this.#read({ ask: ask as ResourceAsk, caller, facts });
  }

  /** Lets a request for anything else in: who asks makes no difference to it. */
  admitOther(ask: OtherAsk, site?: string): Admitted {
    const action = ask.type === 'review' ? 'discovery' : ask.type;
    const decision = this.#authorize({
      caller: nobody,
      action,
      facts: { path: ask.path, ...(site !== undefined && { site }) },
    });
    if (!decision.allowed) throw because(forbidden(whyRefused(decision)), decision);
    return { ask, caller: nobody, decision };
  }

  /** Whether one object of a list or watch may be seen, by the verb that was asked. */
  sees(admitted: Admitted, stored: Stored): boolean {
    return this.#authorize(objectQuestion(admitted, stored, 'never')).allowed;
  }

  /**
   * Whether every object of the collection may be seen, whatever it is; where that cannot be told
   * at once, each is asked for.
   */
  seesAll({ ask, caller, facts = noFacts }: Admitted): boolean {
    const { kind } = ask as ResourceAsk;
    return this.#authorize({
      caller,
      action: actionOf(ask as ResourceAsk),
      kind,
      facts,
      every: true,
      record: 'never',
    }).allowed;
  }

  /** The decision on one object of a collection that is about to be deleted. */
  judge(admitted: Admitted, stored: Stored): Decision {
    return this.#authorize(objectQuestion(admitted, stored, 'allowed'));
  }

  #object(asking: Asking, target: Stored | undefined): Admitted {
    const { ask, caller, facts } = asking;
    const decision = this.#authorize(
      new ObjectQuestion(asking, target, ask.name!, 'allowed') as Question,
    );
    if (!decision.allowed) throw this.#refusal(asking, target);
    if (!target && !asking.supposed && (ask.verb !== 'watch' || ask.kind.bound))
      throw notFound(ask.kind, ask.name!);
    return { ask, caller, facts, decision, ...(target && { target }) };
  }

  /**
   * An owned kind is decided for the whole kind and, where that is refused, for the caller's own
   * range; deletecollection goes the other way about.
   */
  #collection(asking: Asking): Admitted {
    const { ask, caller } = asking;
    const { kind, verb } = ask;
    const selector = collective.has(verb) ? selectorOf(ask) : undefined;
    if (selector?.name !== undefined && verb !== 'deletecollection')
      return this.#pinned(asking, selector.name, selector.owner);
    const own = kind.owner && caller.type === 'Account' ? caller.account : undefined;
    if (verb === 'deletecollection' && kind.owner)
      return this.#range(asking, selector?.owner ?? own);
    if (selector?.owner !== undefined) return this.#range(asking, selector.owner);
    const whole = this.#ask(asking, {}, 'allowed');
    if (whole.allowed) return { ...asking, decision: whole };
    const ranges = collective.has(verb) || (asking.supposed && verb !== 'create');
    if (own === undefined || !ranges) throw refused(ask, caller, this.#ask(asking));
    return this.#range(asking, own);
  }

  #range(asking: Asking, owner: string | undefined): Admitted {
    const { ask, caller } = asking;
    if (caller.type === 'Visitor') throw unauthorized();
    if (owner === undefined)
      throw badRequest(`name the owner: fieldSelector=${ask.kind.owner}=<account>`);
    const decision = this.#ask(asking, { owner });
    if (!decision.allowed) throw refused(ask, caller, decision);
    return { ...asking, decision, owner };
  }

  /** A list or watch pinned to one name is authorized as a request for that name. */
  #pinned(asking: Asking, name: string, owner: string | undefined): Admitted {
    const { ask, caller } = asking;
    const decision = this.#ask(asking, { name }, 'allowed');
    const within = owner === undefined ? {} : { owner };
    if (decision.allowed) return { ...asking, decision, ...within };
    const whole = this.#ask(asking, {}, 'allowed');
    if (whole.allowed || (ask.kind.owner && caller.type === 'Account'))
      return { ...asking, decision: whole, ...within };
    throw refused(ask, caller, this.#ask(asking, { name }));
  }

  /** Puts a question about a collection, one owner's range of it, or one name in it. */
  #ask(
    { ask, caller, facts, quiet }: Asking,
    where: Pick<Question, 'owner' | 'name'> = {},
    record?: 'allowed',
  ): Decision {
    const recorded = quiet ? 'never' : record;
    return this.#authorize({
      caller,
      action: actionOf(ask),
      kind: ask.kind,
      facts,
      ...where,
      ...(recorded && { record: recorded }),
    });
  }

  /**
   * 401, 403 or 404, recorded; whoever may not know of the object is told nothing by the record
   * either: it is that of an object that is not there.
   */
  #refusal(asking: Asking, target: Stored | undefined): Error {
    const { ask, caller } = asking;
    const record = (known: Stored | undefined): Decision =>
      this.#authorize(new ObjectQuestion(asking, known, ask.name!) as Question);
    if (caller.type === 'Visitor') return because(unauthorized(), record(undefined));
    const reading: Asking = {
      ...asking,
      ask: {
        type: 'resource',
        kind: ask.kind,
        verb: 'get',
        name: ask.name!,
        query: ask.query,
        view: ask.view,
      },
    };
    const seen =
      target &&
      this.#authorize(new ObjectQuestion(reading, target, ask.name!, 'never') as Question).allowed;
    const decision = record(seen ? target : undefined);
    return seen || sweeps(asking)
      ? refused(ask, caller, decision)
      : because(notFound(ask.kind, ask.name!), decision);
  }
}

/** What policy says to a question that nobody acts on. */
export interface Answer {
  readonly allowed: boolean;
  readonly reason?: string;
}

async function answerOf(admit: () => Admitted | Promise<Admitted>): Promise<Answer> {
  try {
    await admit();
    return { allowed: true };
  } catch (error) {
    if (error instanceof StatusError && error.code < 500)
      return { allowed: false, reason: error.message };
    throw error;
  }
}

/**
 * Whether that is how a cluster's garbage collector looks an owner up: told that it is not there,
 * it deletes what the owner has in the cluster. So it is 403, of what is there and of what is not
 * (docs/design/kubernetes.md#garbage-collector).
 */
const sweeps = ({ ask, caller }: Asking): boolean =>
  caller.type === 'Machine' && ask.verb === 'get' && ask.view.metadataOnly;

function mine({ kind }: ResourceAsk, caller: Caller): string {
  if (caller.type !== 'Account') throw unauthorized();
  const name = kind.resource === 'sessions' ? caller.session : caller.account;
  if (name === undefined) throw unauthorized();
  return name;
}

/** A question about one object, which is parsed only where a rule looks at it. */
class ObjectQuestion {
  readonly caller: Caller;
  readonly action: string;
  readonly kind: AnyKind;
  readonly name: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly record: Question['record'] | undefined;
  readonly #target: Stored | undefined;

  constructor(
    { ask, caller, facts, quiet }: Asking,
    target: Stored | undefined,
    name: string,
    record?: Question['record'],
  ) {
    this.caller = caller;
    this.action = actionOf(ask);
    this.kind = ask.kind;
    this.name = name;
    this.facts = facts;
    this.record = quiet ? 'never' : record;
    this.#target = target;
  }

  get object(): KindObject | undefined {
    return this.#target?.object;
  }
}

/** One object of a collection, by the verb that was asked. */
const objectQuestion = (
  { ask, caller, facts = noFacts }: Admitted,
  stored: Stored,
  record: 'allowed' | 'never',
): Question =>
  new ObjectQuestion(
    { ask: ask as ResourceAsk, caller, facts },
    stored,
    stored.name,
    record,
  ) as Question;

function refused(ask: ResourceAsk, caller: Caller, decision: Decision): Error {
  if (caller.type === 'Visitor') return because(unauthorized(), decision);
  return because(
    forbidden(
      `${whoIs(caller)} cannot ${ask.verb} resource "${ask.kind.resource}" in API group "${ask.kind.group}" at the cluster scope: ${whyRefused(decision)}`,
      ask.kind,
      ask.name,
      { ...(decision.name && { policyDecision: decision.name }) },
    ),
    decision,
  );
}

/** A refusal with the decision behind it, for the audit log. */
function because(error: StatusError, decision: Decision): StatusError {
  error.decision = decision;
  return error;
}

/** How messages name a caller. */
const whoIs = (caller: Caller): string => `User "${userName(caller)}"`;

function userName(caller: Caller): string {
  if (caller.type === 'Account') return caller.account;
  return caller.type === 'Machine' ? caller.user : caller.type.toLowerCase();
}
