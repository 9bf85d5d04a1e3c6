import type { AnyKind, KindObject } from '../../registry/kind.js';
import { badRequest } from '../../registry/status/status.js';
import { isFound, type OrderPart } from '../../registry/store/lifecycle/index-rows.js';
import type { FieldTree } from '../../registry/versions/field-names.js';
import type { Query } from './query.js';

type Requirement = {
  key: string;
  operator: 'in' | 'notin' | 'exists' | 'absent';
  values: readonly string[];
};

/** The selection of a list, watch or deletecollection (docs/design/kubernetes.md#selectors). */
export interface Selector {
  /** Limits it to one name. Of all namespaces, several objects may have it. */
  readonly name?: string;
  /** Limits it to one owner's range. */
  readonly owner?: string;
  /** Limits it to the object with a unique value. */
  readonly unique?: UniqueValue;
  /** A text that a word of its objects begins with. */
  readonly search?: string;
  /** The part of an order in which its objects are. */
  readonly part?: OrderPart;
  /** Whether objects are filtered beyond the range. */
  readonly hasFilters: boolean;
  matches(object: KindObject): boolean;
}

/** A unique value of a kind (KindDefinition.unique), in the form in which it is reserved. */
interface UniqueValue {
  readonly field: string;
  readonly value: string;
}

/** What a field selector requires. */
interface FieldRequirements {
  name?: string;
  owner?: string;
  readonly unique: UniqueValue[];
  readonly searches: string[];
  part?: OrderPart;
  /** What else an object must meet. */
  readonly tests: ((object: KindObject) => boolean)[];
}

const label = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const domain = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;
const equality = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;
const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const exists = /^(!?)\s*([^\s!]+)$/;
const limits = { characters: 4_096, parts: 100 };

const isValue = (text: string): boolean => text === '' || label.test(text);

/** Reports whether a text is a label key: a name with an optional domain and slash before it. */
function isKey(text: string): boolean {
  const slash = text.indexOf('/');
  return (slash < 0 || domain.test(text.slice(0, slash))) && label.test(text.slice(slash + 1));
}

function parseRequirement(text: string): Requirement {
  const [, key, operator, value = ''] = equality.exec(text) ?? [];
  if (key !== undefined && isKey(key) && isValue(value)) {
    return { key, operator: operator === '!=' ? 'notin' : 'in', values: [value] };
  }
  const [, setKey, setOperator, listed] = set.exec(text) ?? [];
  const values = (listed ?? '').split(',').map((one) => one.trim());
  if (
    setKey !== undefined &&
    isKey(setKey) &&
    values.length <= limits.parts &&
    values.every(isValue)
  ) {
    return { key: setKey, operator: setOperator as 'in' | 'notin', values };
  }
  const [, not, existsKey] = exists.exec(text) ?? [];
  if (existsKey !== undefined && isKey(existsKey)) {
    return { key: existsKey, operator: not ? 'absent' : 'exists', values: [] };
  }
  throw badRequest(`unable to parse the label selector at "${text.slice(0, 64)}"`);
}

function matchesLabels(
  labels: Record<string, string>,
  { key: name, operator, values }: Requirement,
): boolean {
  const labelValue = Object.hasOwn(labels, name) ? labels[name]! : undefined;
  switch (operator) {
    case 'exists':
      return labelValue !== undefined;
    case 'absent':
      return labelValue === undefined;
    case 'in':
      return labelValue !== undefined && values.includes(labelValue);
    case 'notin':
      return labelValue === undefined || !values.includes(labelValue);
  }
}

/**
 * Splits a selector at the commas outside parentheses; throws 400 if there are too many
 * requirements.
 */
function splitRequirements(text: string): string[] {
  if (text.length > limits.characters) throw badRequest('the selector is too long');
  const parts: string[] = [];
  let start = 0;
  let isInParentheses = false;
  for (let i = 0; i <= text.length; i += 1) {
    if (text[i] === '(' || text[i] === ')') isInParentheses = text[i] === '(';
    if (i < text.length && (text[i] !== ',' || isInParentheses)) continue;
    parts.push(text.slice(start, i).trim());
    start = i + 1;
  }
  if (parts.length > limits.parts) throw badRequest('the selector has too many requirements');
  return parts.length === 1 && parts[0] === '' ? [] : parts;
}

/**
 * Parses labelSelector and fieldSelector, whose fields are called as in `names`; throws 400 if they are
 * malformed.
 */
export function parseSelector(query: Query, kind: AnyKind, names?: FieldTree): Selector {
  const labels = splitRequirements(query.get('labelSelector') ?? '').map(parseRequirement);
  const fields = parseFields(query.get('fieldSelector') ?? '', kind, names);
  const { name, owner, unique, searches, part, tests } = fields;
  const search = longest(searches);
  return {
    ...(name !== undefined && { name }),
    ...(owner !== undefined && { owner }),
    ...(unique[0] && { unique: unique[0] }),
    ...(search !== undefined && { search }),
    ...(part && { part }),
    hasFilters: labels.length > 0 || tests.length > 0 || unique.length > 0 || name !== undefined,
    matches: (object) =>
      (name === undefined || object.metadata.name === name) &&
      tests.every((test) => test(object)) &&
      unique.every(({ field, value }) => [kind.unique[field]!(object)].flat().includes(value)) &&
      labels.every((requirement) => matchesLabels(object.metadata.labels ?? {}, requirement)),
  };
}

function parseFields(text: string, kind: AnyKind, names: FieldTree | undefined): FieldRequirements {
  const found: FieldRequirements = { unique: [], searches: [], tests: [] };
  for (const part of splitRequirements(text)) {
    const match = /^([A-Za-z0-9.]+)\s*(==|=|!=)\s*(\S*)$/.exec(part);
    if (!match) throw badRequest(`unable to parse the field selector at "${part.slice(0, 64)}"`);
    const [, asked = '', operator, value = ''] = match;
    const field = names ? names.hubPath(asked) : asked;
    const isKnown =
      field !== undefined &&
      addRequirement(found, kind, { field, isEqual: operator !== '!=', value });
    if (!isKnown) throw unknownField(asked, kind, names);
  }
  return found;
}

/** Adds what a part of a selector requires; returns whether its field can be selected by. */
function addRequirement(
  found: FieldRequirements,
  kind: AnyKind,
  { field, isEqual, value }: { field: string; isEqual: boolean; value: string },
): boolean {
  const selectable = Object.hasOwn(kind.selectableFields, field)
    ? kind.selectableFields[field]
    : undefined;
  const ordered = typeof selectable === 'object' && 'order' in selectable ? selectable : undefined;
  const valueOf = typeof selectable === 'function' ? selectable : ordered?.value;
  if (valueOf) {
    const valuesOf = (object: KindObject) => [valueOf(object, Date.now()) ?? ''].flat().map(String);
    found.tests.push((object) => valuesOf(object).includes(value) === isEqual);
    const bounds = isEqual ? ordered?.between(value) : undefined;
    if (ordered && bounds) found.part = { field: ordered.order, first: bounds[0], last: bounds[1] };
  } else if (selectable && 'unique' in selectable && isEqual) {
    found.unique.push({ field: selectable.unique, value: selectable.normalize(value) });
  } else if (field === 'search' && kind.search && isEqual && value !== '') {
    found.searches.push(value);
    found.tests.push((object) => isFound(kind, object, value));
  } else if (field === 'metadata.name' && isEqual) {
    found.name = checkedName(value);
  } else if (field === 'metadata.name') {
    const name = checkedName(value);
    found.tests.push(({ metadata }) => metadata.name !== name);
  } else if (field === 'metadata.namespace' && kind.scope === 'Namespaced') {
    const namespace = checkedName(value);
    found.tests.push(({ metadata }) => (metadata.namespace === namespace) === isEqual);
  } else if (field === kind.owner && isEqual) {
    found.owner = checkedName(value);
  } else {
    return false;
  }
  return true;
}

/** Returns the longest text, which finds the least. */
const longest = (texts: readonly string[]): string | undefined =>
  [...texts].sort((a, b) => b.length - a.length)[0];

/** Returns a value that may be the name of an object; throws 400 for another. */
function checkedName(value: string): string {
  if (value.length <= 253 && /^[a-z0-9.-]*$/.test(value)) return value;
  throw badRequest(
    `unable to parse the field selector: "${value.slice(0, 64)}" is not a valid name`,
  );
}

function unknownField(field: string, kind: AnyKind, names: FieldTree | undefined): Error {
  const fields = [...(kind.owner ? [kind.owner] : []), ...Object.keys(kind.selectableFields)];
  const metadata = [
    'metadata.name',
    ...(kind.scope === 'Namespaced' ? ['metadata.namespace'] : []),
  ];
  const known = new Set([
    ...metadata,
    ...(names?.paths(fields) ?? fields),
    ...(kind.search ? ['search'] : []),
  ]);
  return badRequest(
    `"${field}" is not a known field selector: only ${[...known].map((path) => `"${path}"`).join(', ')}`,
  );
}
