/** Rules that show actions, by the name of the action; `examplesOf` makes one for every other action. */
const written = {
  discovery: `permit (principal, action == Action::"discovery", resource);`,
  health: `permit (principal, action == Action::"health", resource == Path::"/readyz");`,
  page: `forbid (principal, action == Action::"page", resource == Path::"/mailbox");`,
  asset: `permit (principal, action == Action::"asset", resource);`,
  provider: `forbid (principal, action == Action::"provider", resource == Path::"/oauth2/device");`,
  register: `permit (principal, action == Action::"register", resource)
when { resource.host == "apps.example.org" };`,
  signUp: `forbid (principal, action == Action::"signUp", resource)
unless { context.domain == "example.org" || context.invited };`,
  signIn: `forbid (principal, action == Action::"signIn", resource == Client::"bank")
unless { context.assurance == "phr" };`,
  share: `forbid (principal, action == Action::"share", resource == Scope::"groups")
unless { context.client == Client::"wiki" };`,
  get: `permit (principal in Group::"support", action == Action::"get", resource is Account);`,
  list: `permit (principal in Group::"auditors", action == Action::"list", resource is Client)
when { context.metadataOnly };`,
  watch: `permit (principal in Group::"auditors", action == Action::"watch", resource is PolicyDecision);`,
  create: `permit (principal in Group::"leads", action == Action::"create", resource is Invitation);`,
  update: `permit (principal in Group::"leads", action == Action::"update", resource == Group::"readers");`,
  patch: `forbid (principal, action == Action::"patch", resource is Account)
when { resource.owner == principal && !context.signedInRecently };`,
  delete: `permit (principal in Group::"support", action == Action::"delete", resource is Session);`,
  deletecollection: `permit (principal in Group::"support", action == Action::"deletecollection", resource is Session)
when { context.signedInRecently };`,
};

/** Returns a rule about an action of a kind. */
function exampleOf(name, { resources: [kind] }) {
  if (written[name]) return written[name];
  const condition =
    kind === 'Interaction'
      ? 'when { context.site == "cross-site" }'
      : 'unless { context.signedInRecently }';
  return `forbid (principal, action == Action::"${name}", resource is ${kind})\n${condition};`;
}

const code = (text) => `\`${text}\``;
const list = (names) => names.map(code).join(', ');
const cell = (text) => text.replaceAll('|', '\\|');

function typeRow([name, { description, memberOf, attributes }]) {
  const own = ['owner', 'browser']
    .filter((attribute) => attributes[attribute])
    .map((attribute) => `\`${attribute}\`: ${attributes[attribute]}`);
  return `| \`${name}\` | ${memberOf ? code(memberOf) : ''} | ${own.join(', ')} | ${cell(description)} |`;
}

const entityRows = ([type, own]) =>
  Object.entries(own).map(
    ([name, attribute]) =>
      `| \`${type}\` | \`${name}\` | ${attribute.type} | ${cell(attribute.description)} |`,
  );

const factRow = ([name, { type, optional, description }]) =>
  `| \`${name}\`${optional ? '?' : ''} | ${cell(type)} | ${cell(description)} |`;

function actionText(name, action) {
  const { description, groups, principals, resources, alwaysPresent = [] } = action;
  return [
    `### ${code(name)}`,
    '',
    ...(description ? [description, ''] : []),
    `- Principals: ${list(principals)}`,
    `- Resources: ${list(resources)}`,
    ...(groups.length > 0 ? [`- Part of: ${list(groups)}`] : []),
    ...(alwaysPresent.length > 0 ? [`- Always present: ${list(alwaysPresent)}`] : []),
    '',
    '```cedar',
    exampleOf(name, action),
    '```',
    '',
  ].join('\n');
}

/** Returns the reference of what policies may speak of: types, facts, and each action with a rule. */
export function policyReference({ types, actions, groups }, contextAttributes, entityAttributes) {
  return `<!-- Written by hack/gen. Do not edit. -->
# What policies may speak of

A request is one principal, one action, one resource and a context of facts. [Policies](../how-to/policies.md) explains
how to write rules. The same as a Cedar schema: \`GET /api/v1beta1/policyschema\`, as text or, with
\`Accept: application/json\`, as JSON. \`vestibule policy schema\` prints that of its own release.

## Types

| Type | Member of | Attributes | What |
|---|---|---|---|
${[...types].map(typeRow).join('\n')}

## Facts about entities

The attributes of these types. An entity that does not exist has empty ones, and so has a whole collection,
\`Client::"*"\`.

| Type | Attribute | Type of the value | What |
|---|---|---|---|
${Object.entries(entityAttributes).flatMap(entityRows).join('\n')}

## Facts

The attributes of \`context\`. Before a rule uses one with a question mark, it tests \`context has\` and the name, except in
the actions in which it is always present.

| Fact | Type | What |
|---|---|---|
${Object.entries(contextAttributes).map(factRow).join('\n')}

## Groups of actions

| Group | Actions |
|---|---|
${[...groups].map(([name, meaning]) => `| ${code(name)} | ${cell(meaning)} |`).join('\n')}

## Actions

Each has a rule as an example.

${[...actions].map(([name, action]) => actionText(name, action)).join('\n')}`;
}
