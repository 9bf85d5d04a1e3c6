const cell = (text) =>
  String(text ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');

/** Returns the reference of kinds with their paths, verbs and fields. */
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

/**
 * Returns the reference of settings with flag, variable, key and default. The first row is the
 * setting that names the configuration file.
 */
export function settingsReference(settings, file, settingKey, variableName) {
  const rows = [file, ...settings].map((setting) => {
    const { flag, value, default: fallback, secret, describe } = setting;
    const [variable, key] = [variableName(flag), settingKey(flag)];
    const keys = setting === file ? '' : `\`${key}\`${secret ? ` or \`${key}File\`` : ''}`;
    return `| \`--${flag}\` | \`${variable}\`${secret ? ` or \`${variable}_FILE\`` : ''} | ${keys} | ${value} | ${fallback === undefined ? '' : `\`${fallback}\``} | ${cell(describe)} |`;
  });
  return `<!-- Written by hack/gen. Do not edit. -->\n# Configuration\n\nSettings of \`vestibule serve\`: a flag overrides an environment variable, which overrides the configuration file that \`--config\` names, which overrides the default. The service does not start with an invalid or missing setting; a line names it. How to set, check and store them: [configuration](../how-to/configuration.md).\n\n| Flag | Variable | Key in the file | Value | Default | What |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** Returns the reference of the subcommands with their flags and exit codes. */
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
      'Success. An empty list is a success, and so is a missing object with `--ignore-not-found`.',
    ],
    [
      '1',
      'The service refused the request, it failed, or the service is unreachable. With several objects, those that could be processed were processed.',
    ],
    ['2', 'Invalid usage, or an invalid setting of `serve`.'],
    ['130', 'Interrupted, which is how `watch` ends.'],
  ];
  return `<!-- Written by hack/gen. Do not edit. -->\n# The command\n\nData goes to standard output, everything else to standard error. Errors of the service have the form of kubectl: \`Error from server (NotFound): groups.id.vestibule.org "staff" not found\`. \`--help\` after a subcommand, or \`vestibule help WORD\`, describes its use. The command is also a kubectl plugin (\`kubectl vestibule …\`).\n\nThe service lists its types of objects. A type is named by plural, singular, kind or short name, with or without group (\`groups\`, \`group\`, \`Group\`, \`groups.id.vestibule.org\`), and several with commas. \`api-resources\` lists them.\n\n| Exit code | When |\n|---|---|\n${codes.map(([code, when]) => `| ${code} | ${when} |`).join('\n')}\n\n| Variable | What |\n|---|---|\n| \`VESTIBULE_CONTEXT\` | The sign-in to use if \`--context\` names none. |\n| \`VESTIBULE_CONTEXTS\` | The file with the sign-ins, instead of \`~/.config/vestibule/config\`. Only its owner may read it. |\n| \`VESTIBULE_CONFIG\` | The configuration file of \`serve\` and \`config\`. |\n\n${parts.join('\n')}`;
}

/** Returns the reference of metrics with type and labels. */
export function metricsReference(definitions) {
  const rows = definitions.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`,
  );
  return `<!-- Written by hack/gen. Do not edit. -->\n# Metrics\n\n\`--metrics-port\` serves these metrics at \`/metrics\` in Prometheus' text format 0.0.4, with prom-client's \`process_*\` and \`nodejs_*\`. No label names a person, an object, an address, or a Client that a caller chose. Each replica reports its own values, but all replicas report the same objects in the store: use \`max\`, not \`sum\`, for gauges of objects. Without that port, no metric that costs anything is counted.\n\n\`/configz\` on the same port shows the current settings; secrets and people's addresses are \`***\`. The port requires no credential: expose it only to the monitoring network.\n\n| Metric | Type | Labels | What |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** When each reason is used. The generator fails if one is missing or unknown. */
const meanings = {
  BadRequest:
    'The request cannot be parsed: malformed framing, JSON, path or query, a duplicate key, or a continue token of another caller.',
  Unauthorized:
    'A credential is required, and it is missing or invalid. Or the policy would permit the request after another sign-in than the one behind the token: `WWW-Authenticate` then contains `insufficient_user_authentication` (RFC 9470).',
  Forbidden:
    'The policy refuses the request (`details.policyDecision` names the decision if there is one), a page of another site sent it, or a sign-in of the last ten minutes is required (cause `ReauthenticationRequired`).',
  NotFound:
    'The object does not exist, or the caller may not know that it exists. Both responses have the same bytes.',
  MethodNotAllowed: 'The path does not support this method; `Allow` lists those it supports.',
  NotAcceptable: 'No representation in `Accept` is supported.',
  RequestTimeout:
    'Only a part of the request arrived: the header must arrive within ten seconds, the whole request within sixty and without a pause of thirty. The connection closes. A connection on which nothing arrived is closed without a response.',
  AlreadyExists:
    'The name, or a value that must be unique, is already in use (the cause names it).',
  Conflict:
    'The object has changed since the `resourceVersion` in the request, or its phase does not allow the action.',
  Expired:
    'A code, link or sign-in has expired or was already used, or a version or continue token is too old: start or list again.',
  RequestEntityTooLarge: 'The body exceeds the limit; the connection closes.',
  UnsupportedMediaType:
    'The type, charset or encoding of the body is not supported; the message lists the supported ones.',
  Invalid:
    'The request was understood but is not valid; a cause names each field. For a wrong code: `spec.code` with `details.triesLeft`.',
  TooManyRequests:
    'A limit was exceeded: wait `details.retryAfterSeconds`, which `Retry-After` also states.',
  RequestHeaderFieldsTooLarge: 'The headers exceed 16 KiB or 200 fields.',
  InternalError:
    'An internal error of the service. The response contains only its audit ID (header `Audit-ID`), by which the log has it.',
  ServiceUnavailable:
    'Nothing was done: the store is unreachable or full, or the service is starting or stopping. Repeat the request as `Retry-After` states.',
  Timeout:
    'It is unknown whether the request was carried out: read before you repeat it. Or the requested version does not exist yet (cause `ResourceVersionTooLarge`).',
};

/** What each cause means. The generator fails if one is missing or unknown. */
const causeMeanings = {
  FieldValueNotFound: 'The value names something that does not exist.',
  FieldValueRequired: 'The value is missing.',
  FieldValueDuplicate: 'The value is duplicate, or another object uses it.',
  FieldValueInvalid: 'The value does not have the required form.',
  FieldValueNotSupported: 'The value is not one of the supported values, or the field is unknown.',
  FieldValueForbidden: 'The field may not be set, or not to this value.',
  FieldValueTooLong: 'The value is too long.',
  FieldValueTooMany: 'There are too many values.',
  FieldValueTypeInvalid: 'The value has the wrong type.',
  FieldManagerConflict:
    'An apply would change a field that another manager owns; `force=true` takes it over.',
  InternalError: 'The value could not be checked.',
  ResourceVersionTooLarge:
    'The store has not reached this version: wait, or list without a version.',
  ReauthenticationRequired:
    'Sign in again with one of `details.methods`, and repeat the request within ten minutes (`limits.recentSignIn`). For an account with a passkey, only `Passkey` is accepted.',
};

/**
 * The errors of the provider's endpoints, as JSON or in a redirect to the Client (RFC 6749, 8628,
 * 9126, 9449; OpenID Connect Core).
 */
const oauth = {
  access_denied: 'The person cancelled, or the policy refuses the sign-in or sharing `openid`.',
  authorization_pending: 'Device flow: the person has not confirmed yet.',
  consent_required: '`prompt=none`, and consent is required.',
  expired_token: 'Device flow: the code has expired after ten minutes.',
  insufficient_scope:
    'Userinfo: the access token was not issued for `openid`, or the policy refuses to share it; the description contains the message of the rule.',
  interaction_required: '`prompt=none`, and the person must interact.',
  invalid_client: 'The Client is unknown, or its authentication failed.',
  invalid_dpop_proof: 'The DPoP proof is invalid or was already used.',
  invalid_grant:
    'The code, device code or refresh token was already used, has expired, or belongs to another Client or verifier, or the policy refuses the refresh. A second use revokes the whole grant; that of a refresh token, after 30 seconds or once the new token was used.',
  invalid_redirect_uri:
    'The redirect URI is not registered for the Client. Shown on a page, never sent by a redirect.',
  invalid_request: 'A parameter is missing, malformed or duplicate; most often `code_challenge`.',
  invalid_request_uri: 'The pushed request was already used or has expired.',
  invalid_scope:
    'The Client requests a scope that it does not list, or that no provider supplies, or does not request `openid`.',
  invalid_target: '`resource` names an audience for which no tokens are issued.',
  invalid_token: 'Userinfo: the access token is invalid or no longer valid.',
  login_required:
    '`prompt=none`, and no one is signed in, or the sign-in is weaker than requested.',
  request_not_supported: 'Request objects are not supported.',
  request_uri_not_supported: 'Only a pushed `request_uri` is supported.',
  slow_down: 'Too many requests, or polled too fast: wait longer.',
  temporarily_unavailable: 'The store, or a claims provider that is required, is unreachable.',
  unmet_authentication_requirements:
    'No sign-in method provides a requested acr, or the person cancelled the sign-in that would have provided it.',
  unauthorized_client: 'The Client may not use this grant.',
  unsupported_grant_type: 'This grant type is not supported.',
  unsupported_response_mode: 'Only `query` and `form_post` are supported.',
  unsupported_response_type: 'Only `code` is supported.',
  unsupported_token_type: 'A JWT cannot be introspected or revoked.',
  use_dpop_nonce: 'The DPoP proof must contain the nonce in the response.',
  server_error: 'An internal error of the service.',
};

/**
 * Returns the reference of all reasons, codes and causes of the API and the errors of the
 * provider's endpoints. `source` is the text of registry/status/status.ts.
 */
export function errorsReference(codes, source) {
  const causes = [
    ...source
      .slice(source.indexOf('export type CauseReason'))
      .split(';')[0]
      .matchAll(/'(\w+)'/g),
  ].map(([, name]) => name);
  assertComplete('reason', Object.keys(codes), meanings);
  assertComplete('cause', causes, causeMeanings);
  const table = (rows) => rows.map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
  return (
    `<!-- Written by hack/gen. Do not edit. -->\n# Errors\n\n## The API\n\nEvery error is a Status: \`reason\` for programs, \`message\` for people, \`code\` as in the HTTP status. Paths below \`/api\` and \`/apis\` return errors in no other form.\n\n` +
    '```json\n{ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Invalid", "code": 422, "message": "…",\n  "details": { "causes": [{ "reason": "FieldValueInvalid", "field": "spec.code", "message": "…" }], "triesLeft": 4 } }\n```\n\n' +
    `| Code | \`reason\` | When |\n|---|---|---|\n${table(Object.entries(codes).map(([reason, code]) => [code, `\`${reason}\``, meanings[reason]]))}\n\n` +
    `## Causes\n\n\`details.causes\` has an entry for each error; \`field\` is a path such as \`spec.scopes[0].name\`.\n\n| \`reason\` | What |\n|---|---|\n${table(causes.map((name) => [`\`${name}\``, causeMeanings[name]]))}\n\n` +
    `## The provider\n\nThe endpoints below \`/oauth2\` answer \`{"error": …}\`, send \`error\` to the Client in the redirect, or show an error page if there is no Client to redirect to.\n\n| \`error\` | When |\n|---|---|\n${table(Object.entries(oauth).map(([name, text]) => [`\`${name}\``, text]))}\n`
  );
}

function assertComplete(what, names, meaningOf) {
  const missing = names.filter((name) => meaningOf[name] === undefined);
  const stray = Object.keys(meaningOf).filter((name) => !names.includes(name));
  if (missing.length > 0 || stray.length > 0) {
    throw new Error(
      `hack/generate/reference.mjs: ${what}s without a meaning: ${missing.join(', ') || 'none'}; meanings of none: ${stray.join(', ') || 'none'}`,
    );
  }
}

/** Returns the reference of alerts with rule, duration and runbook. */
export function alertsReference({ groups }) {
  const parts = groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr, for: held, labels, annotations }) =>
      [
        `## ${alert}`,
        '',
        annotations.summary,
        '',
        `${labels.severity}; ${held ? `after ${held}` : 'at once'}. [What to do](${annotations.runbook.replace(/^docs\//, '../')})`,
        '',
        '```promql',
        expr,
        '```',
        '',
      ].join('\n'),
    );
  return `<!-- Written by hack/gen. Do not edit. -->\n# Alerts\n\nThe rules of [deploy/observability/alerts.yaml](../../deploy/observability/alerts.yaml), which Prometheus can load unchanged and the chart installs as a PrometheusRule. [metrics.md](metrics.md) describes each metric.\n\n${parts.join('\n')}`;
}
