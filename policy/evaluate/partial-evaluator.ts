import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { contextAttributes, findContextAttribute } from '../model/context-attributes.js';
import { findEntityAttribute } from '../model/entity-attributes.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { conjuncts, formOf, join, mapChildren } from '../parse/ast.js';
import { type EntityUid, entityLiterals, variableOf } from '../parse/ast-entities.js';
import type { Rule } from '../parse/rules.js';
import { type Term, Unknowns, type UnknownValue } from './unknowns.js';

/** The request environment of a slice: action, type of principal and type of resource. */
export interface RequestEnvironment {
  readonly action: string;
  readonly principal: string;
  readonly resource: string;
}

const literal = (value: boolean): Expr => ({ Value: value });

const isLiteral = (expression: Expr, value: boolean): boolean =>
  'Value' in expression && expression.Value === value;

const entityUid = (json: unknown): EntityUid =>
  (json as { __entity?: EntityUid }).__entity ?? (json as EntityUid);

/** A leading boolean condition and the value it must have for the policy to apply. */
export interface Guard {
  readonly condition: UnknownValue;
  readonly expected: boolean;
}

/** A rule after partial evaluation: its guards, and the residual policy that Cedar evaluates. */
interface ResidualPolicy {
  readonly guards: readonly Guard[];
  readonly policy: PolicyJson;
}

/**
 * Evaluates rules partially for one request environment: types, actions and memberships become
 * constants or unknowns. Cedar then sees nothing that is not in the cache key.
 */
export class PartialEvaluator {
  readonly unknowns: Unknowns;
  readonly #environment: RequestEnvironment;
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary, environment: RequestEnvironment) {
    this.unknowns = new Unknowns(vocabulary, environment);
    this.#environment = environment;
    this.#vocabulary = vocabulary;
  }

  /**
   * Returns the residual of a rule in this environment, or undefined if the rule can never apply.
   */
  residual({ effect, principal, action, resource, conditions }: Rule): ResidualPolicy | undefined {
    if (!this.#matchesAction(action)) return undefined;
    const clauses = [
      this.#scopeCondition('principal', principal),
      this.#scopeCondition('resource', resource),
      ...conditions.map((condition) => this.#simplify(condition)),
    ].flatMap((clause) => (isLiteral(clause, true) ? [] : conjuncts(clause)));
    const guards = clauses.map((clause) => this.#guard(clause));
    const firstUnguarded = guards.findIndex((guard) => !guard);
    const remaining = firstUnguarded < 0 ? [] : clauses.slice(firstUnguarded);
    if (remaining[0] && isLiteral(remaining[0], false)) return undefined;
    const any = { op: 'All' } as const;
    return {
      guards: guards.slice(0, clauses.length - remaining.length) as Guard[],
      policy: {
        effect,
        principal: any,
        action: any,
        resource: any,
        conditions: remaining.map((body) => ({ kind: 'when', body })),
      },
    };
  }

  #guard(expression: Expr): Guard | undefined {
    const isNegated = '!' in expression;
    const condition = this.unknowns.booleanFor(
      isNegated ? (expression['!'] as { arg: Expr }).arg : expression,
    );
    return condition && { condition, expected: !isNegated };
  }

  #matchesAction(scope: Rule['action']): boolean {
    if (scope.op === 'All') return true;
    if (scope.op === '==') {
      return 'entity' in scope && entityUid(scope.entity).id === this.#environment.action;
    }
    const entities = 'entities' in scope ? scope.entities : [scope.entity];
    return entities.some((entity) => this.#isInAction(entityUid(entity)));
  }

  #isInAction = ({ type, id }: EntityUid): boolean =>
    type === 'Action' &&
    (id === this.#environment.action ||
      (this.#vocabulary.actions.get(this.#environment.action)?.groups.includes(id) ?? false));

  #scopeCondition(
    variable: 'principal' | 'resource',
    scope: Rule['principal'] | Rule['resource'],
  ): Expr {
    if (scope.op === 'All') return literal(true);
    if (scope.op === '==') {
      return this.unknowns.equals({ variable }, entityUid((scope as { entity: unknown }).entity));
    }
    if (scope.op === 'in') {
      return this.#membership({ variable }, entityUid((scope as { entity: unknown }).entity));
    }
    if (scope.entity_type !== this.#environment[variable]) return literal(false);
    return scope.in
      ? this.#membership({ variable }, entityUid((scope.in as { entity: unknown }).entity))
      : literal(true);
  }

  /** Returns whether a term is the entity, or a member of it. */
  #membership(term: Term, entity: EntityUid): Expr {
    const type = this.unknowns.typeOf(term);
    if (entity.type === type) return this.unknowns.equals(term, entity);
    return this.#vocabulary.types.get(type)?.memberOf === entity.type
      ? this.unknowns.member(term, entity.id)
      : literal(false);
  }

  #simplify = (expression: Expr): Expr => {
    const [form, body] = formOf(expression);
    switch (form) {
      case 'Var':
        return body === 'principal' || body === 'resource'
          ? this.unknowns.entity({ variable: body })
          : expression;
      case '&&':
      case '||':
        return this.#connective(form, this.#simplify(body.left), body.right);
      case '!': {
        const arg = this.#simplify(body.arg);
        return 'Value' in arg ? literal(!arg.Value) : { '!': { arg } };
      }
      case 'if-then-else':
        return this.#conditional(body);
      case 'is':
        return this.#typeTest(expression, body);
      case 'in':
        return this.#isIn(body.left, body.right);
      case '==':
        return this.#equality(expression, body);
      case '!=':
        return this.#simplify({ '!': { arg: { '==': body } } });
      case 'has':
        return this.#hasAttribute(expression, body);
      case '.':
        return this.#attribute(expression, body);
      default:
        return mapChildren(expression, this.#simplify);
    }
  };

  /**
   * A constant on the left decides the outcome. A constant on the right may only replace the
   * expression if the left operand would determine the outcome anyway.
   */
  #connective(form: '&&' | '||', left: Expr, right: Expr): Expr {
    if (isLiteral(left, form === '||')) return left;
    const simplified = this.#simplify(right);
    if (isLiteral(left, form === '&&')) return simplified;
    return isLiteral(simplified, form === '&&')
      ? left
      : ({ [form]: { left, right: simplified } } as Expr);
  }

  #conditional(body: { if: Expr; then: Expr; else: Expr }): Expr {
    const condition = this.#simplify(body.if);
    if ('Value' in condition) return this.#simplify(condition.Value ? body.then : body.else);
    return mapChildren({ 'if-then-else': { ...body, if: { Value: true } } }, (part) =>
      part === body.then || part === body.else ? this.#simplify(part) : condition,
    );
  }

  #typeTest(
    expression: Expr,
    { left, entity_type, in: group }: { left: Expr; entity_type: string; in?: Expr },
  ): Expr {
    const variable = variableOf(left);
    if (!variable) return mapChildren(expression, this.#simplify);
    if (this.#environment[variable] !== entity_type) return literal(false);
    return group ? this.#isIn(left, group) : literal(true);
  }

  #isIn(left: Expr, right: Expr): Expr {
    const term = this.#term(left);
    const operands = entityLiterals(right)!.map((entity) =>
      term ? this.#membership(term, entity) : literal(this.#isInAction(entity)),
    );
    return operands.some((operand) => isLiteral(operand, true))
      ? literal(true)
      : join(
          '||',
          operands.filter((operand) => !isLiteral(operand, false)),
        );
  }

  #equality(expression: Expr, { left, right }: { left: Expr; right: Expr }): Expr {
    if (isAction(left) && entityLiterals(right)) {
      return literal(entityLiterals(right)![0]!.id === this.#environment.action);
    }
    const [leftTerm, rightTerm] = [this.#term(left), this.#term(right)];
    return leftTerm && rightTerm && !('id' in leftTerm && 'id' in rightTerm)
      ? this.unknowns.equals(leftTerm, rightTerm)
      : mapChildren(expression, this.#simplify);
  }

  #hasAttribute(
    expression: Expr,
    { left, attr }: { left: Expr; attr: string | readonly string[] },
  ): Expr {
    const [name] = [attr].flat() as [string];
    if ('Var' in left && left.Var === 'context') return this.unknowns.hasContextAttribute(name);
    const term = this.#term(left);
    const type = term && this.#vocabulary.types.get(this.unknowns.typeOf(term));
    return type
      ? literal(Object.hasOwn(type.attributes, name))
      : mapChildren(expression, this.#simplify);
  }

  #attribute(expression: Expr, { left, attr }: { left: Expr; attr: string }): Expr {
    if ('Var' in left && left.Var === 'context') {
      return findContextAttribute(attr) ? this.unknowns.contextAttribute(attr) : expression;
    }
    const term = this.#term(expression);
    if (term) return this.unknowns.entity(term);
    const entity = this.#term(left);
    if (entity && findEntityAttribute(this.unknowns.typeOf(entity), attr)) {
      return this.unknowns.entityAttribute(entity, attr);
    }
    return variableOf(left) ? expression : mapChildren(expression, this.#simplify);
  }

  #term(expression: Expr): Term | undefined {
    const variable = variableOf(expression);
    if (variable) return { variable };
    if ('Value' in expression) return entityLiterals(expression)?.[0] ?? stringLiteral(expression);
    const [form, body] = formOf(expression);
    if (form !== '.') return undefined;
    const { left, attr } = body as { left: Expr; attr: string };
    const contextAttribute = contextAttributeOf({ left, attr });
    if (contextAttribute !== undefined) {
      return ['Client', 'String'].includes(contextAttributes[contextAttribute]!.type)
        ? { contextAttribute }
        : undefined;
    }
    const owner = variableOf(left);
    const type = owner && this.#environment[owner];
    return type &&
      Object.hasOwn(this.#vocabulary.types.get(type)?.attributes ?? {}, attr) &&
      !findEntityAttribute(type, attr)
      ? { variable: owner, attribute: attr }
      : undefined;
  }
}

/** Returns the name of the context attribute that an expression reads. */
const contextAttributeOf = ({ left, attr }: { left: Expr; attr: string }): string | undefined =>
  'Var' in left && left.Var === 'context' && findContextAttribute(attr) ? attr : undefined;

const stringLiteral = (expression: Expr): Term | undefined =>
  'Value' in expression && typeof expression.Value === 'string'
    ? { type: 'String', id: expression.Value }
    : undefined;

const isAction = (expression: Expr): boolean => 'Var' in expression && expression.Var === 'action';
