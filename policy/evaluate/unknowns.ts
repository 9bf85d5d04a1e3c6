import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { ownerOf, type AuthorizationRequest } from '../model/authorization-request.js';
import { factNamed, facts, type CedarValue } from '../model/context-attributes.js';
import type { Vocabulary } from '../model/vocabulary.js';

/**
 * One thing that a slice mentions: read from a question, part of the key of what is remembered, and
 * an attribute of the context that Cedar is given.
 */
export interface UnknownValue {
  readonly name: string;
  /** Changes by itself. */
  readonly moves: boolean;
  /** May read otherwise for each object of a collection. */
  readonly ofObject: boolean;
  /**
   * Either holds or does not: given to Cedar by its name in one set of all that hold, which costs
   * less than an attribute each.
   */
  readonly flag: boolean;
  /**
   * It holds where `name` is what is read or among it, and is absent where nothing can be: `what`
   * is the same for all that look at the same thing.
   */
  readonly among?: {
    readonly what: string;
    readonly name: string;
    read(asked: AuthorizationRequest): string | readonly string[] | undefined;
  };
  read(asked: AuthorizationRequest): CedarValue | undefined;
}

/** Something with an id: who asks, on what, whose that is, or one that a rule names. */
export type Term =
  | { readonly of: 'principal' | 'resource'; readonly attribute?: string }
  | { readonly fact: string }
  | { readonly type: string; readonly id: string };

type Reader = UnknownValue['read'];
type About = Pick<UnknownValue, 'ofObject'> & Partial<Pick<UnknownValue, 'moves' | 'among'>>;

/**
 * The things that one slice mentions, each once. Rules reach them by name alone, so nothing can be
 * looked at that is not in the key.
 */
export class Unknowns {
  readonly #byName = new Map<string, UnknownValue>();
  readonly #vocabulary: Vocabulary;
  readonly #types: { readonly principal: string; readonly resource: string };

  constructor(vocabulary: Vocabulary, types: { principal: string; resource: string }) {
    this.#vocabulary = vocabulary;
    this.#types = types;
  }

  get all(): UnknownValue[] {
    return [...this.#byName.values()];
  }

  /** The flag that an expression is, if it is one. */
  flag(expression: Expr): UnknownValue | undefined {
    const name = flagOf(expression);
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /** A fact of the context as it is. */
  fact(name: string): Expr {
    const { moves = false, ofObject = false, read } = facts[name]!;
    return this.#value(name, read, { moves, ofObject });
  }

  /** Whether a fact is there. */
  hasFact(name: string): Expr {
    const { read, optional, ofObject } = factNamed(name) ?? {};
    return read && optional
      ? this.#flag(`has ${name}`, (asked) => read(asked) !== undefined, {
          ofObject: ofObject ?? false,
        })
      : { Value: read !== undefined };
  }

  /** An entity as a value. */
  entity(term: Term): Expr {
    const read = this.#reading(term);
    const type = this.#typeOf(term);
    return this.#value(
      nameOf(term),
      (asked) => ({ __entity: { type, id: read(asked) as string } }),
      { ofObject: isOfObject(term) },
    );
  }

  /** Whether two ids are the same; types are known beforehand. */
  same(left: Term, right: Term): Expr {
    if (this.#typeOf(left) !== this.#typeOf(right))
      return 'fact' in left || 'fact' in right
        ? this.#both(left, right, () => false)
        : { Value: false };
    return this.#both(left, right, equal);
  }

  /** Whether the principal is a member of a group. */
  member(group: string): Expr {
    return this.#flag(`member ${group}`, (asked) => asked.groups.includes(group), {
      ofObject: false,
      among: { what: 'groups', name: group, read: ({ groups }) => groups },
    });
  }

  /**
   * The outcome of comparing two ids; with one that may be absent, a value that is then absent too.
   */
  #both(left: Term, right: Term, compare: (one: string, other: string) => boolean): Expr {
    const [one, other] = [this.#reading(left), this.#reading(right)];
    const name = [nameOf(left), nameOf(right)].sort().join(' == ');
    const among =
      compare === equal ? (this.#among(left, right) ?? this.#among(right, left)) : undefined;
    const ofObject = isOfObject(left) || isOfObject(right);
    if (!('fact' in left || 'fact' in right))
      return this.#flag(name, (asked) => compare(one(asked)!, other(asked)!), {
        ofObject,
        ...(among && { among }),
      });
    return this.#value(
      name,
      (asked) => {
        const [a, b] = [one(asked), other(asked)];
        return a === undefined || b === undefined ? undefined : compare(a, b);
      },
      { ofObject, ...(among && { among }) },
    );
  }

  /** Something compared with what a rule names. */
  #among(term: Term, constant: Term): UnknownValue['among'] {
    if (!('id' in constant) || 'id' in term) return undefined;
    const read = this.#reading(term);
    return { what: nameOf(term), name: constant.id, read };
  }

  #reading(term: Term): (asked: AuthorizationRequest) => string | undefined {
    if ('id' in term) return () => term.id;
    if ('fact' in term) return facts[term.fact]!.id!;
    const { of, attribute } = term;
    const owner =
      attribute === 'owner' ? this.#vocabulary.types.get(this.#types[of])!.owner! : undefined;
    return owner ? (asked) => ownerOf(asked[of], owner) : (asked) => asked[of];
  }

  #typeOf(term: Term): string {
    if ('id' in term) return term.type;
    if ('fact' in term) return facts[term.fact]!.type;
    const type = this.#types[term.of];
    return term.attribute === undefined
      ? type
      : this.#vocabulary.types.get(type)!.attributes[term.attribute]!;
  }

  #value(name: string, read: Reader, about: About): Expr {
    if (!this.#byName.has(name))
      this.#byName.set(name, { name, moves: false, flag: false, read, ...about });
    return contextual(name);
  }

  #flag(name: string, read: Reader, about: About): Expr {
    if (!this.#byName.has(name))
      this.#byName.set(name, { name, moves: false, flag: true, read, ...about });
    return { contains: { left: contextual(flags), right: { Value: name } } };
  }
}

/**
 * The attribute of the context that holds the names of all flags that hold; a word that no fact can
 * be called.
 */
export const flags = 'is';

/** The flag that an expression is, if it is one. */
function flagOf(expression: Expr): string | undefined {
  if (!('contains' in expression)) return undefined;
  const { left, right } = expression.contains as { left: Expr; right: Expr };
  return JSON.stringify(left) === held && 'Value' in right ? String(right.Value) : undefined;
}

const contextual = (attr: string): Expr => ({ '.': { left: { Var: 'context' }, attr } });
const held = JSON.stringify(contextual(flags));
const isOfObject = (term: Term): boolean =>
  'fact' in term ? (facts[term.fact]!.ofObject ?? false) : 'of' in term && term.of === 'resource';
const equal = (one: string, other: string): boolean => one === other;

function nameOf(term: Term): string {
  if ('id' in term) return `${term.type}::${JSON.stringify(term.id)}`;
  if ('fact' in term) return term.fact;
  return term.attribute === undefined ? term.of : `${term.of}.${term.attribute}`;
}
