import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { entityAttributeNames } from '../model/entity-attributes.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { childrenOf, formOf } from './ast.js';
import { entityLiterals, variableOf } from './ast-entities.js';
import type { Rule } from './rules.js';

const groupsUnsupported =
  'only the groups of a principal and of an Account are known: write `principal in` or ' +
  '`resource.owner in`, and the groups by name';
const attributesUnsupported =
  'attributes are supported only on principal, resource, context, and one level below them';
const numbersTooLong = 'whole numbers may have at most 15 digits';
const recordsUnsupported = 'records are not supported';
const groupNeverMatches = (group: string, actions: string): string =>
  `no principal of ${actions} can be in a ${group}: the condition is false for every request`;
const wholeContextUnsupported = 'the whole context is not supported: name one of its attributes';

/**
 * Returns why a valid rule cannot be evaluated: it needs data that no request has, for example the
 * groups of an account that the rule names.
 */
export function unsupported({ conditions }: Rule): string | undefined {
  for (const condition of conditions) {
    const fault = findFault(condition);
    if (fault) return fault;
  }
  return undefined;
}

/**
 * Returns why a condition can never hold: no principal of the rule's actions can be in the group
 * that it tests, so `unless { principal in Group::"staff" }` would apply to everyone. Only new
 * texts are checked; an active policy stays active.
 */
export function unsatisfiableCondition(
  { principal, action, conditions }: Rule,
  vocabulary: Vocabulary,
): string | undefined {
  const actions = [...vocabulary.actions].filter(([name, { groups }]) =>
    matchesAnyAction(action, [name, ...groups]),
  );
  const types = new Set(
    principal.op === 'is'
      ? [principal.entity_type]
      : actions.flatMap(([, { principals }]) => principals),
  );
  const possibleGroups = new Set([...types].map((type) => vocabulary.types.get(type)?.memberOf));
  const group = conditions
    .flatMap(principalGroupTypes)
    .find((type) => isGroup(type, vocabulary) && !possibleGroups.has(type));
  return group === undefined
    ? undefined
    : groupNeverMatches(
        group,
        actions
          .map(([name]) => name)
          .slice(0, 3)
          .join(', '),
      );
}

/** Returns whether the scope of a rule contains an action with one of these names. */
function matchesAnyAction(scope: Rule['action'], names: readonly string[]): boolean {
  if (scope.op === 'All') return true;
  const entities = 'entities' in scope ? scope.entities : [(scope as { entity: unknown }).entity];
  return entities.some((entity) =>
    names.includes(
      ((entity as { __entity?: { id: string } }).__entity ?? (entity as { id: string })).id,
    ),
  );
}

/** Returns the types of groups that an expression tests the principal's membership of. */
function principalGroupTypes(expression: Expr): string[] {
  const [, body] = formOf(expression);
  const group = groupOperand(expression);
  const own =
    group && variableOf(body.left) === 'principal'
      ? (entityLiterals(group) ?? []).map(({ type }) => type)
      : [];
  return [...own, ...childrenOf(expression).flatMap(principalGroupTypes)];
}

/** Returns the group operand of an expression that tests membership, if it does. */
function groupOperand(expression: Expr): Expr | undefined {
  const [form, body] = formOf(expression);
  if (form === 'in') return body.right;
  return form === 'is' ? body.in : undefined;
}

const isGroup = (type: string, { types }: Vocabulary): boolean =>
  [...types.values()].some(({ memberOf }) => memberOf === type);

function findFault(expression: Expr): string | undefined {
  const fault = ownFault(expression);
  if (fault) return fault;
  const [form] = formOf(expression);
  for (const child of childrenOf(expression)) {
    if ((form === '.' || form === 'has') && 'Var' in child) continue;
    const nestedFault = findFault(child);
    if (nestedFault) return nestedFault;
  }
  return undefined;
}

/** Returns what is wrong with an expression itself, without its operands. */
function ownFault(expression: Expr): string | undefined {
  const [form, body] = formOf(expression);
  switch (form) {
    case 'in':
      return groupFault(body.left, body.right);
    case 'is':
      return body.in ? groupFault(body.left, body.in) : undefined;
    case '.':
    case 'has':
      return attributeFault(form, body.left, body.attr);
    case 'Var':
      return body === 'context' ? wholeContextUnsupported : undefined;
    case 'Record':
      return recordsUnsupported;
    case 'Value':
      return isReadable(expression, body) ? undefined : numbersTooLong;
    case 'getTag':
    case 'hasTag':
    case 'Slot':
      return attributesUnsupported;
    default:
      return undefined;
  }
}

/**
 * Returns whether a literal is an entity, a boolean, a string, or a number short enough to be
 * exact.
 */
const isReadable = (expression: Expr, value: unknown): boolean =>
  typeof value === 'boolean' ||
  typeof value === 'string' ||
  entityLiterals(expression) !== undefined ||
  Math.abs(Number(value)) < 1e15;

function groupFault(left: Expr, right: Expr): string | undefined {
  return entityLiterals(right) && (isVariable(left) || isAttributeOfVariable(left))
    ? undefined
    : groupsUnsupported;
}

const isVariable = (expression: Expr): boolean =>
  'Var' in expression && expression.Var !== 'context';

/** Returns whether an expression is an attribute of principal, resource or context. */
const isAttributeOfVariable = (expression: Expr): boolean => {
  const [form, body] = formOf(expression);
  return form === '.' && 'Var' in body.left;
};

function attributeFault(
  form: string,
  left: Expr,
  attr: string | readonly string[],
): string | undefined {
  const isKnown =
    variableOf(left) !== undefined ||
    ('Var' in left && left.Var === 'context') ||
    (form === '.' && isAttributeOfVariable(left) && entityAttributeNames.has(String(attr)));
  return isKnown && (!Array.isArray(attr) || attr.length === 1) ? undefined : attributesUnsupported;
}
