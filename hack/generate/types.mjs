const references = /"#\/components\/schemas\/(\w+)"/g;

/**
 * Returns TypeScript types of the component schemas that `imported` names and of those that they
 * refer to; nested ones inline.
 */
export function pageTypes({ components: { schemas } }, imported) {
  const names = new Set(imported);
  for (const name of names) {
    for (const [, referred] of JSON.stringify(schemas[name]).matchAll(references)) {
      names.add(referred);
    }
  }
  const body = [...names]
    .sort()
    .map(
      (name) =>
        `/** ${schemas[name].description ?? name} */\nexport ${declare(name, schemas[name])}`,
    )
    .join('\n\n');
  return `// Generated from the OpenAPI document by hack/gen. Do not edit.\n\n${body}\n`;
}

const declare = (name, schema) =>
  schema.type === 'object' && schema.properties
    ? `interface ${name} ${object(schema, '')}`
    : `type ${name} = ${typeOf(schema, '')};`;

function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return quoted(schema.const);
  if (schema.enum) return schema.enum.map(quoted).join(' | ');
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.map((one) => typeOf(one, indent)).join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array': {
      const item = typeOf(schema.items, indent);
      return /[|{ ]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    default:
      return object(schema, indent);
  }
}

function object({ properties = {}, required = [], additionalProperties }, indent) {
  const names = Object.keys(properties);
  if (names.length === 0) {
    return typeof additionalProperties === 'object'
      ? `Record<string, ${typeOf(additionalProperties, indent)}>`
      : 'Record<string, never>';
  }
  const inner = `${indent}  `;
  return `{\n${names.map((name) => `${inner}${/^\w+$/.test(name) ? name : quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(properties[name], inner)};`).join('\n')}\n${indent}}`;
}

const quoted = (value) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
