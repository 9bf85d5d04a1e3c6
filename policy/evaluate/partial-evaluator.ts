import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { factNamed, facts } from '../model/context-attributes.js';
import { conjuncts, formOf, joined, mapWithin } from '../parse/ast.js';
import type { Rule } from '../parse/rules.js';
import { Unknowns, type Term, type UnknownValue } from './unknowns.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { type Entity, subjectOf, entitiesOf } from '../parse/ast-entities.js';

/**
 * The questions that one slice answers: an action, asked by one type of principal of one type of
 * resource.
 */
export interface Shape {
  readonly action: string;
  readonly principal: string;
  readonly resource: string;
}

const value = (of: boolean): Expr => ({ Value: of });

const isValue = (one: Expr, of: boolean): boolean => 'Value' in one && one.Value === of;

const uid = (one: unknown): Entity => (one as { __entity?: Entity }).__entity ?? (one as Entity);

/** A flag of the scope of a rule, or that its conditions begin with, and what it has to be. */
export interface Guard {
  readonly flag: UnknownValue;
  readonly wanted: boolean;
}

/** A rule rewritten for one shape: the guards that all have to pass, and what Cedar is left with. */
interface Rewritten {
  readonly guards: readonly Guard[];
  readonly policy: PolicyJson;
}

/**
 * Rewrites the rules for one shape: types, actions and memberships are settled or become unknowns,
 * so that what Cedar is given is what the key holds.
 */
export class PartialEvaluator {
  readonly unknowns: Unknowns;
  readonly #shape: Shape;
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary, shape: Shape) {
    this.unknowns = new Unknowns(vocabulary, shape);
    this.#shape = shape;
    this.#vocabulary = vocabulary;
  }

  /** The rule as it stands for this shape; undefined where it can never apply. */
  rule({ effect, principal, action, resource, conditions }: Rule): Rewritten | undefined {
    if (!this.#actionIn(action)) return undefined;
    const clauses = [
      this.#scope('principal', principal),
      this.#scope('resource', resource),
      ...conditions.map((one) => this.#rewrite(one)),
    ].flatMap((one) => (isValue(one, true) ? [] : conjuncts(one)));
    const guards = clauses.map((one) => this.#guard(one));
    const end = guards.findIndex((guard) => !guard);
    const rest = end < 0 ? [] : clauses.slice(end);
    if (rest[0] && isValue(rest[0], false)) return undefined;
    const all = { op: 'All' } as const;
    return {
      guards: guards.slice(0, clauses.length - rest.length) as Guard[],
      policy: {
        effect,
        principal: all,
        action: all,
        resource: all,
        conditions: rest.map((body) => ({ kind: 'when', body })),
      },
    };
  }

  #guard(expression: Expr): Guard | undefined {
    const isNegated = '!' in expression;
    const flag = this.unknowns.flag(
      isNegated ? (expression['!'] as { arg: Expr }).arg : expression,
    );
    return flag && { flag, wanted: !isNegated };
  }

  #actionIn(scope: Rule['action']): boolean {
    if (scope.op === 'All') return true;
    if (scope.op === '==') return 'entity' in scope && uid(scope.entity).id === this.#shape.action;
    const among = 'entities' in scope ? scope.entities : [scope.entity];
    return among.some((one) => this.#isActionIn(uid(one)));
  }

  #isActionIn = ({ type, id }: Entity): boolean =>
    type === 'Action' &&
    (id === this.#shape.action ||
      (this.#vocabulary.actions.get(this.#shape.action)?.groups.includes(id) ?? false));

  #scope(of: 'principal' | 'resource', scope: Rule['principal'] | Rule['resource']): Expr {
    if (scope.op === 'All') return value(true);
    if (scope.op === '==')
      return this.unknowns.same({ of }, uid((scope as { entity: unknown }).entity));
    if (scope.op === 'in') return this.#in(of, uid((scope as { entity: unknown }).entity));
    if (scope.entity_type !== this.#shape[of]) return value(false);
    return scope.in ? this.#in(of, uid((scope.in as { entity: unknown }).entity)) : value(true);
  }

  /** Whether one is the entity named or, for who asks, a member of it. */
  #in(of: 'principal' | 'resource', entity: Entity): Expr {
    if (entity.type === this.#shape[of]) return this.unknowns.same({ of }, entity);
    return of === 'principal' &&
      this.#vocabulary.types.get(this.#shape.principal)?.memberOf === entity.type
      ? this.unknowns.member(entity.id)
      : value(false);
  }

  #rewrite = (expression: Expr): Expr => {
    const [form, body] = formOf(expression);
    switch (form) {
      case 'Var':
        return body === 'principal' || body === 'resource'
          ? this.unknowns.entity({ of: body })
          : expression;
      case '&&':
      case '||':
        return this.#connected(form, this.#rewrite(body.left), body.right);
      case '!': {
        const arg = this.#rewrite(body.arg);
        return 'Value' in arg ? value(!arg.Value) : { '!': { arg } };
      }
      case 'if-then-else':
        return this.#chosen(body);
      case 'is':
        return this.#isOf(expression, body);
      case 'in':
        return this.#among(body.left.Var, body.right);
      case '==':
        return this.#same(expression, body);
      case '!=':
        return this.#rewrite({ '!': { arg: { '==': body } } });
      case 'has':
        return this.#has(expression, body);
      case '.':
        return this.#attribute(expression, body);
      default:
        return mapWithin(expression, this.#rewrite);
    }
  };

  /**
   * A constant on the left settles it; one on the right only where the left would have the last
   * word anyway.
   */
  #connected(form: '&&' | '||', left: Expr, right: Expr): Expr {
    if (isValue(left, form === '||')) return left;
    const other = this.#rewrite(right);
    if (isValue(left, form === '&&')) return other;
    return isValue(other, form === '&&') ? left : ({ [form]: { left, right: other } } as Expr);
  }

  #chosen(body: { if: Expr; then: Expr; else: Expr }): Expr {
    const condition = this.#rewrite(body.if);
    if ('Value' in condition) return this.#rewrite(condition.Value ? body.then : body.else);
    return mapWithin({ 'if-then-else': { ...body, if: { Value: true } } }, (part) =>
      part === body.then || part === body.else ? this.#rewrite(part) : condition,
    );
  }

  #isOf(
    expression: Expr,
    { left, entity_type, in: group }: { left: Expr; entity_type: string; in?: Expr },
  ): Expr {
    const of = subjectOf(left);
    if (!of) return mapWithin(expression, this.#rewrite);
    if (this.#shape[of] !== entity_type) return value(false);
    return group ? this.#among(of, group) : value(true);
  }

  #among(of: 'principal' | 'resource' | 'action', right: Expr): Expr {
    const parts = entitiesOf(right)!.map((one) =>
      of === 'action' ? value(this.#isActionIn(one)) : this.#in(of, one),
    );
    return parts.some((one) => isValue(one, true))
      ? value(true)
      : joined(
          '||',
          parts.filter((one) => !isValue(one, false)),
        );
  }

  #same(expression: Expr, { left, right }: { left: Expr; right: Expr }): Expr {
    if (isAction(left) && entitiesOf(right))
      return value(entitiesOf(right)![0]!.id === this.#shape.action);
    const [one, other] = [this.#termOf(left), this.#termOf(right)];
    return one && other && !('id' in one && 'id' in other)
      ? this.unknowns.same(one, other)
      : mapWithin(expression, this.#rewrite);
  }

  #has(expression: Expr, { left, attr }: { left: Expr; attr: string | readonly string[] }): Expr {
    const [name] = [attr].flat() as [string];
    if ('Var' in left && left.Var === 'context') return this.unknowns.hasFact(name);
    const of = subjectOf(left);
    return of
      ? value(Object.hasOwn(this.#vocabulary.types.get(this.#shape[of])!.attributes, name))
      : mapWithin(expression, this.#rewrite);
  }

  #attribute(expression: Expr, { left, attr }: { left: Expr; attr: string }): Expr {
    if ('Var' in left && left.Var === 'context')
      return factNamed(attr) ? this.unknowns.fact(attr) : expression;
    const term = this.#termOf(expression);
    if (term) return this.unknowns.entity(term);
    return subjectOf(left) ? expression : mapWithin(expression, this.#rewrite);
  }

  #termOf(expression: Expr): Term | undefined {
    const of = subjectOf(expression);
    if (of) return { of };
    if ('Value' in expression) return entitiesOf(expression)?.[0];
    const [form, body] = formOf(expression);
    if (form !== '.') return undefined;
    const { left, attr } = body as { left: Expr; attr: string };
    const fact = factOf({ left, attr });
    if (fact !== undefined) return facts[fact]!.type === 'Client' ? { fact } : undefined;
    const owner = subjectOf(left);
    return owner &&
      Object.hasOwn(this.#vocabulary.types.get(this.#shape[owner])?.attributes ?? {}, attr)
      ? { of: owner, attribute: attr }
      : undefined;
  }
}

/** The fact that an attribute of the context is. */
const factOf = ({ left, attr }: { left: Expr; attr: string }): string | undefined =>
  'Var' in left && left.Var === 'context' && factNamed(attr) ? attr : undefined;

const isAction = (expression: Expr): boolean => 'Var' in expression && expression.Var === 'action';
