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

/** Every setting with its flag, variable, key and default; first where their file is named. */
export function settingsReference(settings, file, keyOf, variableOf) {
  const rows = [file, ...settings].map((setting) => {
    const { flag, value, default: fallback, secret, describe } = setting;
    const [variable, key] = [variableOf(flag), keyOf(flag)];
    const keys = setting === file ? '' : `\`${key}\`${secret ? ` or \`${key}File\`` : ''}`;
    return `| \`--${flag}\` | \`${variable}\`${secret ? ` or \`${variable}_FILE\`` : ''} | ${keys} | ${value} | ${fallback === undefined ? '' : `\`${fallback}\``} | ${cell(describe)} |`;
  });
  return `<!-- Written by hack/gen. Do not edit. -->\n# Configuration\n\nSettings of \`vestibule serve\`: a flag wins over an environment variable, that over the file of settings that \`--config\` names, that over the default. A wrong or missing one stops the start with a line that names it. How they are given, checked and kept: [configuration](../how-to/configuration.md).\n\n| Flag | Variable | Key in the file | Value | Default | What |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** Every word of the command with its flags, and how it ends. */
export function commandReference(words, flags) {
  const written = (name) => `${flags[name].short ? `\`-${flags[name].short}\`, ` : ''}\`--${name}${flags[name].value ? ` ${flags[name].value}` : ''}\``;
  const parts = Object.values(words).map(({ usage, about, flags: taken = [], examples = [] }) => [
    `## \`vestibule ${usage}\``, `${about[0].toUpperCase()}${about.slice(1)}.`, '',
    ...(examples.length > 0 ? [...examples.map((one) => `    vestibule ${one}`), ''] : []),
    ...(taken.length > 0 ? ['| Flag | What |', '|---|---|', ...taken.map((one) => (typeof one === 'string' ? [one, flags[one].about] : one)).map(([name, said]) => `| ${written(name)} | ${cell(said)} |`), ''] : []),
  ].join('\n'));
  const codes = [['0', 'Done. `--ignore-not-found` makes an absent object no failure; an empty list is none either.'], ['1', 'Refused by the service, failed, or the service cannot be reached. Where several objects were asked for, what could be done was done.'], ['2', 'Wrong usage, or a wrong setting of `serve`.'], ['130', 'Interrupted, which is how `watch` ends.']];
  return `<!-- Written by hack/gen. Do not edit. -->\n# The command\n\nData goes to standard output, all else to standard error. What a service refuses is said as kubectl says it: \`Error from server (NotFound): groups.id.vestibule.org "staff" not found\`. \`--help\` after a word, or \`vestibule help WORD\`, says how it is used. As a plugin of kubectl (\`kubectl vestibule …\`) it is the same command.\n\nTypes of objects are what the service says it holds: by plural, singular, kind or short name, with or without group (\`groups\`, \`group\`, \`Group\`, \`groups.id.vestibule.org\`), several with commas; \`api-resources\` lists them.\n\n| Exit code | When |\n|---|---|\n${codes.map(([code, when]) => `| ${code} | ${when} |`).join('\n')}\n\n| Variable | What |\n|---|---|\n| \`VESTIBULE_CONTEXT\` | The sign-in to use, where \`--context\` names none. |\n| \`VESTIBULE_CONFIG\` | The file of sign-ins, in place of \`~/.config/vestibule/config\`. Only its owner may read it. For \`serve\` and \`config\`, the file of settings instead. |\n\n${parts.join('\n')}`;
}

/** Every metric with its type and labels. */
export function metricsReference(definitions) {
  const rows = definitions.map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`);
  return `<!-- Written by hack/gen. Do not edit. -->\n# Metrics\n\nWhat \`--metrics-port\` serves at \`/metrics\`, in Prometheus' text format 0.0.4, beside \`process_*\` and \`nodejs_*\` as prom-client names them. No label names a person, an object, an address, or a Client that a caller chose. Each replica tells its own; what is in the store every replica tells alike: take \`max\`, not \`sum\`, of gauges of objects. Without that port nothing is counted that costs anything.\n\n\`/configz\` on the same port has the settings in force; secrets and people's addresses are \`***\`. No credential is asked for there: the port belongs to the monitoring network alone.\n\n| Metric | Type | Labels | What |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}
