import { facts } from './context-attributes.js';
import type { ActionType, EntityType, Vocabulary } from './vocabulary.js';

const preface = `// What the policy of this service may speak of. Every request is one principal, one action, one resource and a context.
// A resource is an object, and its id the object's name. The collection of all Sessions is
// Session::"*", the part of it that one account owns is Session::"<account>-*"; a list is put to
// the policy for the collection, then for each object.
`;

/**
 * The published Cedar schema: entity types of the kinds, actions of their verbs and actions, the
 * context.
 */
export function cedarSchema({ types, actions, groups }: Vocabulary): string {
  return [
    preface,
    ...[...types].map(([name, type]) => entity(name, type)),
    context('Facts', []),
    ...[...actions]
      .filter(([, { sure }]) => sure)
      .map(([name, { sure }]) => context(factsOf(name), sure!)),
    ...[...groups].map(([name, meaning]) => `// ${meaning}\naction ${quoted(name)};\n`),
    ...[...actions].map(([name, action]) => actionText(name, action)),
  ].join('\n');
}

const quoted = (name: string): string => JSON.stringify(name);
const factsOf = (action: string): string => `FactsOf${action[0]!.toUpperCase()}${action.slice(1)}`;

function entity(name: string, { description, memberOf, attributes, owner }: EntityType): string {
  const shape = Object.entries(attributes).map(([attribute, type]) => `  ${attribute}: ${type},`);
  const self = owner === 'metadata.name' ? ' Owns itself.' : '';
  return `// ${description}${self}\nentity ${name}${memberOf ? ` in [${memberOf}]` : ''}${shape.length > 0 ? ` {\n${shape.join('\n')}\n}` : ''};\n`;
}

function context(name: string, sure: readonly string[]): string {
  const lines = Object.entries(facts).map(
    ([fact, { type, description, optional }]) =>
      `  // ${description}\n  ${fact}${optional && !sure.includes(fact) ? '?' : ''}: ${type},`,
  );
  return `type ${name} = {\n${lines.join('\n')}\n};\n`;
}

function actionText(
  name: string,
  { description, groups, principals, resources, sure }: ActionType,
): string {
  return `${description ? `// ${description}\n` : ''}action ${quoted(name)}${groups.length > 0 ? ` in [${groups.map(quoted).join(', ')}]` : ''} appliesTo {
  principal: [${principals.join(', ')}],
  resource: [${resources.join(', ')}],
  context: ${sure ? factsOf(name) : 'Facts'},
};
`;
}
