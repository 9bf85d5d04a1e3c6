import type { EntityUidJson, Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { formOf, within } from './ast.js';
import type { Rule } from './rules.js';
import { entitiesOf, subjectOf } from './ast-entities.js';
import type { Vocabulary } from '../model/vocabulary.js';

const membership =
  'groups are known of the principal alone: write principal in, followed by the groups by name';
const attributes = 'attributes are known of principal, resource and context alone';
const numbers = `whole numbers may have at most 15 digits`;
const records = 'records have no use here';
const noMember = (group: string, actions: string): string =>
  `no one who may ask for ${actions} can be in a ${group}: the condition is false for every request`;
const wholeContext = 'the context has no use as a whole: name the attribute that is meant';

/**
 * Why a valid rule cannot be answered here: it asks for what no request knows, such as the groups
 * of someone else.
 */
export function unsupported(
  { resource, conditions }: Rule,
  vocabulary: Vocabulary,
): string | undefined {
  const entity = entityOf(resource);
  if (
    resource.op !== '==' &&
    entity &&
    isGroup(
      (('__entity' in entity ? entity.__entity : entity) as { type: string }).type,
      vocabulary,
    )
  )
    return membership;
  for (const condition of conditions) {
    const why = fault(condition, vocabulary);
    if (why) return why;
  }
  return undefined;
}

/** The entity that the scope of a rule compares the resource with, if it does. */
function entityOf(resource: Rule['resource']): EntityUidJson | undefined {
  if ('entity' in resource) return resource.entity;
  return 'in' in resource && resource.in && 'entity' in resource.in
    ? resource.in.entity
    : undefined;
}

/**
 * Says why a condition of a rule can never hold: it asks for groups that no principal of the rule's
 * actions can be in, so that `unless { principal in Group::"staff" }` is about everyone. Asked of a
 * new text alone: what is in force stays so.
 */
export function neverHolds(
  { principal, action, conditions }: Rule,
  vocabulary: Vocabulary,
): string | undefined {
  const actions = [...vocabulary.actions].filter(([name, { groups }]) =>
    isAmong(action, [name, ...groups]),
  );
  const types = new Set(
    principal.op === 'is'
      ? [principal.entity_type]
      : actions.flatMap(([, { principals }]) => principals),
  );
  const possible = new Set([...types].map((type) => vocabulary.types.get(type)?.memberOf));
  const group = conditions
    .flatMap(groupsNamed)
    .find((type) => isGroup(type, vocabulary) && !possible.has(type));
  return group === undefined
    ? undefined
    : noMember(
        group,
        actions
          .map(([name]) => name)
          .slice(0, 3)
          .join(', '),
      );
}

/** Whether the scope of a rule holds an action that goes by one of these names. */
function isAmong(scope: Rule['action'], names: readonly string[]): boolean {
  if (scope.op === 'All') return true;
  const entities = 'entities' in scope ? scope.entities : [(scope as { entity: unknown }).entity];
  return entities.some((entity) =>
    names.includes(
      ((entity as { __entity?: { id: string } }).__entity ?? (entity as { id: string })).id,
    ),
  );
}

/** The types of groups that an expression asks whether the principal is in. */
function groupsNamed(expression: Expr): string[] {
  const [, body] = formOf(expression);
  const group = groupAsked(expression);
  const own =
    group && subjectOf(body.left) === 'principal'
      ? (entitiesOf(group) ?? []).map(({ type }) => type)
      : [];
  return [...own, ...within(expression).flatMap(groupsNamed)];
}

/** The group that an expression asks for membership of, if it does. */
function groupAsked(expression: Expr): Expr | undefined {
  const [form, body] = formOf(expression);
  if (form === 'in') return body.right;
  return form === 'is' ? body.in : undefined;
}

const isGroup = (type: string, { types }: Vocabulary): boolean =>
  [...types.values()].some(({ memberOf }) => memberOf === type);

function fault(expression: Expr, vocabulary: Vocabulary): string | undefined {
  const why = ownFault(expression, vocabulary);
  if (why) return why;
  const [form] = formOf(expression);
  for (const one of within(expression)) {
    if ((form === '.' || form === 'has') && 'Var' in one) continue;
    const deeper = fault(one, vocabulary);
    if (deeper) return deeper;
  }
  return undefined;
}

/** What is wrong with an expression itself, whatever stands within it. */
function ownFault(expression: Expr, vocabulary: Vocabulary): string | undefined {
  const [form, body] = formOf(expression);
  switch (form) {
    case 'in':
      return groupFault(body.left, body.right, vocabulary);
    case 'is':
      return body.in ? groupFault(body.left, body.in, vocabulary) : undefined;
    case '.':
    case 'has':
      return attributeFault(body.left, body.attr);
    case 'Var':
      return body === 'context' ? wholeContext : undefined;
    case 'Record':
      return records;
    case 'Value':
      return isReadable(expression, body) ? undefined : numbers;
    case 'getTag':
    case 'hasTag':
    case 'Slot':
      return attributes;
    default:
      return undefined;
  }
}

/** Whether a literal is an entity, a truth value, a text or a number short enough to stay whole. */
const isReadable = (expression: Expr, value: unknown): boolean =>
  typeof value === 'boolean' ||
  typeof value === 'string' ||
  entitiesOf(expression) !== undefined ||
  Math.abs(Number(value)) < 1e15;

function groupFault(left: Expr, right: Expr, vocabulary: Vocabulary): string | undefined {
  const named = entitiesOf(right);
  if (!named || !('Var' in left)) return membership;
  return left.Var === 'resource' && named.some(({ type }) => isGroup(type, vocabulary))
    ? membership
    : undefined;
}

function attributeFault(left: Expr, attr: string | readonly string[]): string | undefined {
  const direct = subjectOf(left) !== undefined || ('Var' in left && left.Var === 'context');
  return direct && (!Array.isArray(attr) || attr.length === 1) ? undefined : attributes;
}
