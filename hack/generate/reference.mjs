const cell = (text) =>
  String(text ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');

/** Every kind with its paths, verbs and fields. */
export function kindsReference({ components: { schemas }, info }, registry) {
  const parts = registry.kinds.map((kind) => {
    const { properties } = schemas[kind.kind];
    const actions = registry.actions.filter((action) => action.of === kind);
    return [
      `## ${kind.kind}`,
      '',
      kind.description,
      '',
      `Resource \`${kind.resource}\`${kind.shortNames.length > 0 ? ` (${kind.shortNames.map((name) => `\`${name}\``).join(', ')})` : ''}; verbs ${kind.verbs.map((verb) => `\`${verb}\``).join(', ')}.`,
      '',
      ...(actions.length > 0
        ? [
            '| Method and path | What |',
            '|---|---|',
            ...actions.map(
              (action) =>
                `| ${{ create: 'POST', get: 'GET', patch: 'PATCH' }[action.verb]} \`${kind.resource}/<name>/${action.subresource}\` | ${cell(action.description)} |`,
            ),
            '',
          ]
        : []),
      '| Field | Type | What |',
      '|---|---|---|',
      ...fields('spec', properties.spec),
      ...fields('status', properties.status),
      '',
    ].join('\n');
  });
  return `<!-- Written by hack/gen. Do not edit. -->\n# Kinds\n\n${info.description}\n\n${parts.join('\n')}`;
}

function fields(at, schema) {
  const own = Object.entries(schema.properties ?? {});
  return own.flatMap(([name, field]) => {
    const path = `${at}.${name}`;
    const items = field.items?.properties ? fields(`${path}[]`, field.items) : [];
    return [
      `| \`${path}\`${schema.required?.includes(name) ? '' : '?'} | ${cell(typeName(field))} | ${cell(field.description)} |`,
      ...(field.properties ? fields(path, field) : []),
      ...items,
    ];
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
export function settingsReference(settings, file, settingKey, variableName) {
  const rows = [file, ...settings].map((setting) => {
    const { flag, value, default: fallback, secret, describe } = setting;
    const [variable, key] = [variableName(flag), settingKey(flag)];
    const keys = setting === file ? '' : `\`${key}\`${secret ? ` or \`${key}File\`` : ''}`;
    return `| \`--${flag}\` | \`${variable}\`${secret ? ` or \`${variable}_FILE\`` : ''} | ${keys} | ${value} | ${fallback === undefined ? '' : `\`${fallback}\``} | ${cell(describe)} |`;
  });
  return `<!-- Written by hack/gen. Do not edit. -->\n# Configuration\n\nSettings of \`vestibule serve\`: a flag wins over an environment variable, that over the file of settings that \`--config\` names, that over the default. A wrong or missing one stops the start with a line that names it. How they are given, checked and kept: [configuration](../how-to/configuration.md).\n\n| Flag | Variable | Key in the file | Value | Default | What |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** Every word of the command with its flags, and how it ends. */
export function commandReference(words, flags) {
  const written = (name) =>
    `${flags[name].short ? `\`-${flags[name].short}\`, ` : ''}\`--${name}${flags[name].value ? ` ${flags[name].value}` : ''}\``;
  const parts = Object.values(words).map(({ usage, about, flags: taken = [], examples = [] }) =>
    [
      `## \`vestibule ${usage}\``,
      `${about[0].toUpperCase()}${about.slice(1)}.`,
      '',
      ...(examples.length > 0 ? [...examples.map((one) => `    vestibule ${one}`), ''] : []),
      ...(taken.length > 0
        ? [
            '| Flag | What |',
            '|---|---|',
            ...taken
              .map((one) => (typeof one === 'string' ? [one, flags[one].about] : one))
              .map(([name, said]) => `| ${written(name)} | ${cell(said)} |`),
            '',
          ]
        : []),
    ].join('\n'),
  );
  const codes = [
    [
      '0',
      'Done. `--ignore-not-found` makes an absent object no failure; an empty list is none either.',
    ],
    [
      '1',
      'Refused by the service, failed, or the service cannot be reached. Where several objects were asked for, what could be done was done.',
    ],
    ['2', 'Wrong usage, or a wrong setting of `serve`.'],
    ['130', 'Interrupted, which is how `watch` ends.'],
  ];
  return `<!-- Written by hack/gen. Do not edit. -->\n# The command\n\nData goes to standard output, all else to standard error. What a service refuses is said as kubectl says it: \`Error from server (NotFound): groups.id.vestibule.org "staff" not found\`. \`--help\` after a word, or \`vestibule help WORD\`, says how it is used. As a plugin of kubectl (\`kubectl vestibule …\`) it is the same command.\n\nTypes of objects are what the service says it holds: by plural, singular, kind or short name, with or without group (\`groups\`, \`group\`, \`Group\`, \`groups.id.vestibule.org\`), several with commas; \`api-resources\` lists them.\n\n| Exit code | When |\n|---|---|\n${codes.map(([code, when]) => `| ${code} | ${when} |`).join('\n')}\n\n| Variable | What |\n|---|---|\n| \`VESTIBULE_CONTEXT\` | The sign-in to use, where \`--context\` names none. |\n| \`VESTIBULE_CONFIG\` | The file of sign-ins, in place of \`~/.config/vestibule/config\`. Only its owner may read it. For \`serve\` and \`config\`, the file of settings instead. |\n\n${parts.join('\n')}`;
}

/** Every metric with its type and labels. */
export function metricsReference(definitions) {
  const rows = definitions.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`,
  );
  return `<!-- Written by hack/gen. Do not edit. -->\n# Metrics\n\nWhat \`--metrics-port\` serves at \`/metrics\`, in Prometheus' text format 0.0.4, beside \`process_*\` and \`nodejs_*\` as prom-client names them. No label names a person, an object, an address, or a Client that a caller chose. Each replica tells its own; what is in the store every replica tells alike: take \`max\`, not \`sum\`, of gauges of objects. Without that port nothing is counted that costs anything.\n\n\`/configz\` on the same port has the settings in force; secrets and people's addresses are \`***\`. No credential is asked for there: the port belongs to the monitoring network alone.\n\n| Metric | Type | Labels | What |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/**
 * When each reason is given; one that is missing here, or is none any more, stops the generator.
 */
const meanings = {
  BadRequest:
    'The request cannot be read as it stands: malformed framing, JSON, path or query, a key twice, a continue token of someone else.',
  Unauthorized: 'A credential is needed and there is none, or the one given is not good.',
  Forbidden:
    'The policy refuses it (`details.policyDecision` names the decision where there is one), another site’s page sent it, or a sign-in of the last ten minutes is needed (cause `ReauthenticationRequired`).',
  NotFound: 'It is not there, or not yours to know of: both are the same bytes.',
  MethodNotAllowed: 'There is the path, but not for this method; `Allow` lists which.',
  NotAcceptable: 'None of the representations in `Accept` is served.',
  RequestTimeout:
    'Part of a request came and the rest did not: a header within ten seconds, the whole within sixty. The connection closes; one on which nothing came is closed without an answer.',
  AlreadyExists: 'The name is taken, or a value that must be unique (the cause names it).',
  Conflict:
    'The object has changed since the `resourceVersion` that was sent, or is in a phase in which this cannot be done.',
  Expired:
    'A code, link or sign-in is over or used, or a version or continue token is too old: begin again, list again.',
  RequestEntityTooLarge: 'The body is over the limit; the connection closes.',
  UnsupportedMediaType:
    'The body is of a type, charset or encoding that is not taken; the message says which are.',
  Invalid:
    'It was understood and is wrong; a cause names each field. A wrong code: `spec.code` with `details.triesLeft`.',
  TooManyRequests: 'A limit: wait `details.retryAfterSeconds`, as `Retry-After` says too.',
  RequestHeaderFieldsTooLarge: 'Headers are over 16 KiB or 200 fields.',
  InternalError:
    'A fault of the service. It says nothing but its Audit-ID (header `Audit-ID`), under which it is in the log.',
  ServiceUnavailable:
    'Nothing was done: the store cannot be reached or is full, or the service is starting or stopping. Repeat it as `Retry-After` says.',
  Timeout:
    'It is not known whether it was done: read before repeating. Or the version asked for is not there yet (cause `ResourceVersionTooLarge`).',
};

/** What each cause means, likewise. */
const causeMeanings = {
  FieldValueNotFound: 'It names something that is not there.',
  FieldValueRequired: 'It is missing.',
  FieldValueDuplicate: 'It is there twice, or taken by another.',
  FieldValueInvalid: 'It is not of the form it must have.',
  FieldValueNotSupported: 'It is none of the values there are, or a field that is not known.',
  FieldValueForbidden: 'It may not be set, or not to this.',
  FieldValueTooLong: 'It is too long.',
  FieldValueTooMany: 'There are too many.',
  FieldValueTypeInvalid: 'It is of another type.',
  InternalError: 'It could not be judged.',
  ResourceVersionTooLarge: 'The store has not come so far: wait, or list without a version.',
  ReauthenticationRequired:
    'Sign in again, by one of `details.methods`; it must be done within ten minutes of that (`limits.recentSignIn`). Of an account with a passkey that is `Passkey` alone.',
};

/**
 * What the provider's own endpoints answer in JSON or tell a Client by a redirect (RFC 6749, 8628,
 * 9126, 9449; OpenID Connect Core).
 */
const oauth = {
  access_denied: 'The person cancelled, or the policy refuses the sign-in or sharing `openid`.',
  authorization_pending: 'Device flow: no one has confirmed yet.',
  consent_required: '`prompt=none`, and consent is needed.',
  expired_token: 'Device flow: the code is over its ten minutes.',
  insufficient_scope:
    'Userinfo: the access token was not issued for `openid`, or the policy refuses to share it; the description has the words of the rule.',
  interaction_required: '`prompt=none`, and something must be shown.',
  invalid_client: 'The Client is not known, or did not prove itself.',
  invalid_dpop_proof: 'The DPoP proof is not good, or was used.',
  invalid_grant:
    'Code, device code or refresh token is used, over, of another Client or verifier, or the policy refuses the renewal. A second use ends all of the grant.',
  invalid_redirect_uri:
    'The redirect URI is not one of the Client’s. Told on a page, never by a redirect.',
  invalid_request: 'A parameter is missing, malformed or twice; most often `code_challenge`.',
  invalid_request_uri: 'The pushed request was used or is over.',
  invalid_scope: 'The Client asks for what it does not list, or what no one supplies.',
  invalid_target: '`resource` names an audience that is not issued for.',
  invalid_token: 'Userinfo: the access token is not good, or not any more.',
  login_required: '`prompt=none`, and no one is signed in, or less strongly than is asked for.',
  request_not_supported: 'There are no request objects here.',
  request_uri_not_supported: 'Only a pushed `request_uri` is served.',
  slow_down: 'Too many requests, or polled too fast: wait longer.',
  temporarily_unavailable: 'The store, or a supplier that must not be left out, cannot be reached.',
  unmet_authentication_requirements:
    'No sign-in here has an acr that was asked for, or the person left the sign-in that would have had it.',
  unauthorized_client: 'The Client may not use this grant.',
  unsupported_grant_type: 'There is no such grant here.',
  unsupported_response_mode: 'Only `query` and `form_post` are served.',
  unsupported_response_type: 'Only `code` is served.',
  unsupported_token_type: 'A JWT cannot be introspected or revoked.',
  use_dpop_nonce: 'The DPoP proof needs the nonce that came along.',
  server_error: 'A fault of the service.',
};

/**
 * Every reason, code and cause the API answers, and what the provider's endpoints do; `source` is
 * the text of registry/status.ts.
 */
export function errorsReference(codes, source) {
  const causes = [
    ...source
      .slice(source.indexOf('export type CauseReason'))
      .split(';')[0]
      .matchAll(/'(\w+)'/g),
  ].map(([, name]) => name);
  complete('reason', Object.keys(codes), meanings);
  complete('cause', causes, causeMeanings);
  const table = (rows) => rows.map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
  return (
    `<!-- Written by hack/gen. Do not edit. -->\n# Errors\n\n## The API\n\nEvery error is a Status: \`reason\` for programs, \`message\` for people, \`code\` as in the HTTP status. Below \`/api\` and \`/apis\` there is no other form.\n\n` +
    '```json\n{ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Invalid", "code": 422, "message": "…",\n  "details": { "causes": [{ "reason": "FieldValueInvalid", "field": "spec.code", "message": "…" }], "triesLeft": 4 } }\n```\n\n' +
    `| Code | \`reason\` | When |\n|---|---|---|\n${table(Object.entries(codes).map(([reason, code]) => [code, `\`${reason}\``, meanings[reason]]))}\n\n` +
    `## Causes\n\n\`details.causes\` has an entry for each thing that is wrong; \`field\` is a path such as \`spec.scopes[0].name\`.\n\n| \`reason\` | What |\n|---|---|\n${table(causes.map((name) => [`\`${name}\``, causeMeanings[name]]))}\n\n` +
    `## The provider\n\nThe endpoints below \`/oauth2\` answer \`{"error": …}\`, tell the Client by \`error\` in the redirect, or, where there is no Client to be told, show a page in words of its own.\n\n| \`error\` | When |\n|---|---|\n${table(Object.entries(oauth).map(([name, text]) => [`\`${name}\``, text]))}\n`
  );
}

function complete(what, names, told) {
  const missing = names.filter((name) => told[name] === undefined);
  const stray = Object.keys(told).filter((name) => !names.includes(name));
  if (missing.length > 0 || stray.length > 0)
    throw new Error(
      `hack/generate/reference.mjs: ${what}s without a meaning: ${missing.join(', ') || 'none'}; meanings of none: ${stray.join(', ') || 'none'}`,
    );
}

/** Every alert with its rule, how long it must hold, and its runbook. */
export function alertsReference({ groups }) {
  const parts = groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr, for: held, labels, annotations }) =>
      [
        `## ${alert}`,
        '',
        annotations.summary,
        '',
        `${labels.severity}; ${held ? `once it holds for ${held}` : 'at once'}. [What to do](${annotations.runbook.replace(/^docs\//, '../')})`,
        '',
        '```promql',
        expr,
        '```',
        '',
      ].join('\n'),
    );
  return `<!-- Written by hack/gen. Do not edit. -->\n# Alerts\n\nThe rules of [deploy/observability/alerts.yaml](../../deploy/observability/alerts.yaml), which Prometheus takes as they are and the chart as a PrometheusRule. [metrics.md](metrics.md) says what each metric is.\n\n${parts.join('\n')}`;
}
