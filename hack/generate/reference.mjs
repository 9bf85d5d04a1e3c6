const cell = (text) => String(text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Every kind with its paths, verbs and fields. */
export function kindsReference({ components: { schemas }, info }, registry) {
  const parts = registry.kinds.map((kind) => {
    const { properties } = schemas[kind.kind];
    const actions = registry.actions.filter((action) => action.of === kind);
    return [`## ${kind.kind}`, '', kind.description, '',
      `Resource \`${kind.resource}\`${kind.shortNames.length > 0 ? ` (${kind.shortNames.map((name) => `\`${name}\``).join(', ')})` : ''}; verbs ${kind.verbs.map((verb) => `\`${verb}\``).join(', ')}.`, '',
      ...(actions.length > 0 ? ['| Method and path | What |', '|---|---|', ...actions.map((action) => `| ${{ create: 'POST', get: 'GET', patch: 'PATCH' }[action.verb]} \`${kind.resource}/<name>/${action.subresource}\` | ${cell(action.description)} |`), ''] : []),
      '| Field | Type | What |', '|---|---|---|', ...fields('spec', properties.spec), ...fields('status', properties.status), ''].join('\n');
  });
  return `<!-- Written by hack/gen. Do not edit. -->\n# Kinds\n\n${info.description}\n\n${parts.join('\n')}`;
}

function fields(at, schema) {
  const own = Object.entries(schema.properties ?? {});
  return own.flatMap(([name, field]) => {
    const path = `${at}.${name}`;
    const items = field.items?.properties ? fields(`${path}[]`, field.items) : [];
    return [`| \`${path}\`${schema.required?.includes(name) ? '' : '?'} | ${cell(typeName(field))} | ${cell(field.description)} |`, ...(field.properties ? fields(path, field) : []), ...items];
  });
}

function typeName(schema) {
  if (schema.enum) return schema.enum.join(', ');
  if (schema.const !== undefined) return String(schema.const);
  if (schema.type === 'array') return `array of ${typeName(schema.items)}`;
  if (schema.format === 'date-time') return 'timestamp';
  return Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'one of several');
}

/** Every setting with its flag, variable and default. */
export function settingsReference(settings) {
  const rows = settings.map(({ flag, value, default: fallback, secret, describe }) => {
    const variable = `VESTIBULE_${flag.toUpperCase().replaceAll('-', '_')}`;
    return `| \`--${flag}\` | \`${variable}\`${secret ? ` or \`${variable}_FILE\`` : ''} | ${value} | ${fallback === undefined ? '' : `\`${fallback}\``} | ${cell(describe)} |`;
  });
  return `<!-- Written by hack/gen. Do not edit. -->\n# Configuration\n\nSettings of \`vestibule serve\`: a flag wins over an environment variable, that over the default. A wrong or missing one stops the start with a line that names it.\n\n| Flag | Variable | Value | Default | What |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}
