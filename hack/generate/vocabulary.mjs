const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Returns the names that rules may use, as the editor of the console completes them: what each is,
 * by its kind and name.
 */
export function pageVocabulary({ types, actions, groups }, contextAttributes, entityAttributes) {
  const attributes = new Set([...types.values()].flatMap((type) => Object.keys(type.attributes)));
  const aboutAttribute = (name) =>
    Object.entries(entityAttributes)
      .filter(([, own]) => Object.hasOwn(own, name))
      .map(([type, own]) => `${type}: ${own[name].description}`)
      .join(' ');
  const descriptions = (entries) =>
    Object.fromEntries([...entries].map(([name, { description = '' }]) => [name, description]));
  return json({
    type: descriptions(types),
    action: { ...descriptions(actions), ...Object.fromEntries(groups) },
    attribute: Object.fromEntries([...attributes].map((name) => [name, aboutAttribute(name)])),
    context: Object.fromEntries(
      Object.entries(contextAttributes).map(([name, { description, optional }]) => [
        name,
        optional ? `${description} Test \`context has ${name}\` first.` : description,
      ]),
    ),
  });
}

/** Returns what each setting is, its default and its type, as the console shows them. */
export const knownSettings = (settings) =>
  json(
    Object.fromEntries(
      settings.map(({ flag, describe, default: fallback, value, oneOf }) => [
        flag,
        {
          description: describe,
          ...(fallback !== undefined && { value: `${fallback}` }),
          ...(value === 'count' && { isCount: true }),
          ...(oneOf && { oneOf }),
        },
      ]),
    ),
  );
