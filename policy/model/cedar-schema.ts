import { contextAttributes } from './context-attributes.js';
import { findEntityAttribute } from './entity-attributes.js';
import type { ActionType, EntityType, Vocabulary } from './vocabulary.js';

const preface = `// What the policy of this service may speak of. Every request is one principal, one action, one resource and a context.
// A resource is an object, and its id the object's name. The collection of all Sessions is
// Session::"*", the part of it that one account owns is Session::"<account>-*"; a list is put to
// the policy for the collection, then for each object.
`;

/** Returns the published Cedar schema: entity types and actions of the kinds, and the context. */
export function cedarSchema({ types, actions, groups }: Vocabulary): string {
  return [
    preface,
    ...[...types].map(([name, type]) => entityText(name, type)),
    contextText('Facts', []),
    ...[...actions]
      .filter(([, { alwaysPresent }]) => alwaysPresent)
      .map(([name, { alwaysPresent }]) => contextText(contextTypeName(name), alwaysPresent!)),
    ...[...groups].map(([name, meaning]) => `// ${meaning}\naction ${quote(name)};\n`),
    ...[...actions].map(([name, action]) => actionText(name, action)),
  ].join('\n');
}

const quote = (name: string): string => JSON.stringify(name);
const contextTypeName = (action: string): string =>
  `FactsOf${action[0]!.toUpperCase()}${action.slice(1)}`;

function entityText(
  name: string,
  { description, memberOf, attributes, owner }: EntityType,
): string {
  const shape = Object.entries(attributes).map(([attribute, type]) => {
    const fact = findEntityAttribute(name, attribute);
    return `${fact ? `  // ${fact.description}\n` : ''}  ${attribute}: ${type},`;
  });
  const self = owner === 'metadata.name' ? ' Owns itself.' : '';
  return `// ${description}${self}\nentity ${name}${memberOf ? ` in [${memberOf}]` : ''}${shape.length > 0 ? ` {\n${shape.join('\n')}\n}` : ''};\n`;
}

function contextText(name: string, alwaysPresent: readonly string[]): string {
  const lines = Object.entries(contextAttributes).map(
    ([fact, { type, description, optional }]) =>
      `  // ${description}\n  ${fact}${optional && !alwaysPresent.includes(fact) ? '?' : ''}: ${type},`,
  );
  return `type ${name} = {\n${lines.join('\n')}\n};\n`;
}

function actionText(
  name: string,
  { description, groups, principals, resources, alwaysPresent }: ActionType,
): string {
  return `${description ? `// ${description}\n` : ''}action ${quote(name)}${groups.length > 0 ? ` in [${groups.map(quote).join(', ')}]` : ''} appliesTo {
  principal: [${principals.join(', ')}],
  resource: [${resources.join(', ')}],
  context: ${alwaysPresent ? contextTypeName(name) : 'Facts'},
};
`;
}
