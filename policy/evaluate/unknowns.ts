import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { type AuthorizationRequest, ownerOf } from '../model/authorization-request.js';
import type { CedarValue } from '../model/cedar-value.js';
import { contextAttributes, findContextAttribute } from '../model/context-attributes.js';
import { findEntityAttribute } from '../model/entity-attributes.js';
import type { Vocabulary } from '../model/vocabulary.js';

/**
 * An unknown of a slice: read from the request, part of the cache key, and an attribute of the
 * context that Cedar evaluates.
 */
export interface UnknownValue {
  readonly name: string;
  /** True when the value changes with time. */
  readonly isTimeDependent: boolean;
  /** True when the value may differ between the objects of a collection. */
  readonly isPerObject: boolean;
  /**
   * True for a boolean. Cedar receives the names of all true booleans in one set, which is cheaper
   * than an attribute for each.
   */
  readonly isBoolean: boolean;
  /**
   * Set when the unknown is a comparison with `name`: true when `read` returns or contains it,
   * absent when `read` returns undefined. Unknowns with the same `source` read the same value.
   */
  readonly comparison?: {
    readonly source: string;
    readonly name: string;
    read(request: AuthorizationRequest): string | readonly string[] | undefined;
  };
  /** Set when the value is a fact about an entity, which may have to be loaded. */
  readonly entity?: {
    readonly type: string;
    /** Whether everyone may know the fact. */
    readonly isPublic: boolean;
    /** Returns its id; undefined if the request has none. */
    id(request: AuthorizationRequest): string | undefined;
  };
  read(request: AuthorizationRequest): CedarValue | undefined;
}

/**
 * An entity or a string in a condition: the principal, the resource, an owner, a context attribute,
 * or a literal.
 */
export type Term =
  | { readonly variable: 'principal' | 'resource'; readonly attribute?: string }
  | { readonly contextAttribute: string }
  | { readonly type: string; readonly id: string };

type Reader = UnknownValue['read'];
type UnknownOptions = Pick<UnknownValue, 'isPerObject'> &
  Partial<Pick<UnknownValue, 'isTimeDependent' | 'comparison' | 'entity'>>;

/**
 * The unknowns of one slice, each created once. Residual policies refer to them by name only, so a
 * rule cannot depend on anything outside of the cache key.
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

  /** Returns the boolean unknown that an expression refers to, if any. */
  booleanFor(expression: Expr): UnknownValue | undefined {
    const name = booleanName(expression);
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /** Returns the expression of a context attribute. */
  contextAttribute(name: string): Expr {
    const { isTimeDependent = false, isPerObject = false, read } = contextAttributes[name]!;
    return this.#value(name, read, { isTimeDependent, isPerObject });
  }

  /** Returns the expression that tests whether a context attribute is present. */
  hasContextAttribute(name: string): Expr {
    const { read, optional, isPerObject } = findContextAttribute(name) ?? {};
    return read && optional
      ? this.#boolean(`has ${name}`, (request) => read(request) !== undefined, {
          isPerObject: isPerObject ?? false,
        })
      : { Value: read !== undefined };
  }

  /** Returns the expression of an entity. */
  entity(term: Term): Expr {
    const read = this.#reader(term);
    const type = this.typeOf(term);
    return this.#value(
      nameOf(term),
      (request) => ({ __entity: { type, id: read(request) as string } }),
      { isPerObject: isPerObjectTerm(term) },
    );
  }

  /** Returns the expression of a fact about an entity. */
  entityAttribute(term: Term, name: string): Expr {
    const type = this.typeOf(term);
    const id = this.#reader(term);
    const { read, isPublic = false } = findEntityAttribute(type, name)!;
    return this.#value(
      `${nameOf(term)}.${name}`,
      (request) => {
        const known = id(request);
        return known === undefined ? undefined : read(request.entity(type, known));
      },
      { isPerObject: isPerObjectTerm(term), entity: { type, isPublic, id } },
    );
  }

  /** Returns the expression that compares two entities; their types are known in advance. */
  equals(left: Term, right: Term): Expr {
    if (this.typeOf(left) !== this.typeOf(right)) {
      return 'contextAttribute' in left || 'contextAttribute' in right
        ? this.#compare(left, right, () => false)
        : { Value: false };
    }
    return this.#compare(left, right, equal);
  }

  /** Returns the expression that tests whether a principal or an Account is a member of a group. */
  member(term: Term, group: string): Expr {
    if ('variable' in term && term.variable === 'principal' && term.attribute === undefined) {
      return this.#boolean(`member ${group}`, (request) => request.groups.includes(group), {
        isPerObject: false,
        comparison: { source: 'groups', name: group, read: ({ groups }) => groups },
      });
    }
    const [type, id] = [this.typeOf(term), this.#reader(term)];
    const groupsOf = (request: AuthorizationRequest): readonly string[] =>
      (request.entity(type, id(request)!)?.groups ?? []) as readonly string[];
    const source = `${nameOf(term)}.groups`;
    return this.#boolean(`${source} ${group}`, (request) => groupsOf(request).includes(group), {
      isPerObject: isPerObjectTerm(term),
      comparison: { source, name: group, read: groupsOf },
      entity: { type, isPublic: false, id },
    });
  }

  /**
   * Returns the expression that compares two ids. It is absent if one of them is an absent context
   * attribute.
   */
  #compare(left: Term, right: Term, compare: (left: string, right: string) => boolean): Expr {
    const [readLeft, readRight] = [this.#reader(left), this.#reader(right)];
    const name = [nameOf(left), nameOf(right)].sort().join(' == ');
    const comparison =
      compare === equal
        ? (this.#comparisonWith(left, right) ?? this.#comparisonWith(right, left))
        : undefined;
    const isPerObject = isPerObjectTerm(left) || isPerObjectTerm(right);
    if (!('contextAttribute' in left || 'contextAttribute' in right)) {
      return this.#boolean(name, (request) => compare(readLeft(request)!, readRight(request)!), {
        isPerObject,
        ...(comparison && { comparison }),
      });
    }
    return this.#value(
      name,
      (request) => {
        const [leftId, rightId] = [readLeft(request), readRight(request)];
        return leftId === undefined || rightId === undefined ? undefined : compare(leftId, rightId);
      },
      { isPerObject, ...(comparison && { comparison }) },
    );
  }

  /** Returns the comparison of a term with an entity that a rule names, if it is one. */
  #comparisonWith(term: Term, constant: Term): UnknownValue['comparison'] {
    if (!('id' in constant) || 'id' in term) return undefined;
    const read = this.#reader(term);
    return { source: nameOf(term), name: constant.id, read };
  }

  #reader(term: Term): (request: AuthorizationRequest) => string | undefined {
    if ('id' in term) return () => term.id;
    if ('contextAttribute' in term) {
      const { id, read } = contextAttributes[term.contextAttribute]!;
      return id ?? (read as (request: AuthorizationRequest) => string | undefined);
    }
    const { variable, attribute } = term;
    const owner =
      attribute === 'owner' ? this.#vocabulary.types.get(this.#types[variable])!.owner! : undefined;
    return owner ? (request) => ownerOf(request[variable], owner) : (request) => request[variable];
  }

  /** Returns the entity type of a term, or `String`. */
  typeOf(term: Term): string {
    if ('id' in term) return term.type;
    if ('contextAttribute' in term) return contextAttributes[term.contextAttribute]!.type;
    const type = this.#types[term.variable];
    return term.attribute === undefined
      ? type
      : this.#vocabulary.types.get(type)!.attributes[term.attribute]!;
  }

  #value(name: string, read: Reader, options: UnknownOptions): Expr {
    if (!this.#byName.has(name)) {
      this.#byName.set(name, { name, isTimeDependent: false, isBoolean: false, read, ...options });
    }
    return contextExpression(name);
  }

  #boolean(name: string, read: Reader, options: UnknownOptions): Expr {
    if (!this.#byName.has(name)) {
      this.#byName.set(name, { name, isTimeDependent: false, isBoolean: true, read, ...options });
    }
    return { contains: { left: contextExpression(trueUnknowns), right: { Value: name } } };
  }
}

/**
 * The context attribute that holds the names of all true booleans; no attribute of the schema can
 * have this name.
 */
export const trueUnknowns = 'is';

/** Returns the name of the boolean unknown that an expression refers to, if any. */
function booleanName(expression: Expr): string | undefined {
  if (!('contains' in expression)) return undefined;
  const { left, right } = expression.contains as { left: Expr; right: Expr };
  return JSON.stringify(left) === trueUnknownsText && 'Value' in right
    ? String(right.Value)
    : undefined;
}

const contextExpression = (attr: string): Expr => ({ '.': { left: { Var: 'context' }, attr } });
const trueUnknownsText = JSON.stringify(contextExpression(trueUnknowns));
const isPerObjectTerm = (term: Term): boolean =>
  'contextAttribute' in term
    ? (contextAttributes[term.contextAttribute]!.isPerObject ?? false)
    : 'variable' in term && term.variable === 'resource';
const equal = (left: string, right: string): boolean => left === right;

function nameOf(term: Term): string {
  if ('id' in term) return `${term.type}::${JSON.stringify(term.id)}`;
  if ('contextAttribute' in term) return term.contextAttribute;
  return term.attribute === undefined ? term.variable : `${term.variable}.${term.attribute}`;
}
