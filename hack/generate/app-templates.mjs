/** Returns the Client of a template as a manifest, for the address of an example. */
function manifestOf({ id, name, client }, stringify) {
  const { type, scopes = [], ...fields } = client;
  const manifest = {
    apiVersion: 'id.vestibule.org/v1beta1',
    kind: 'Client',
    metadata: { name: id },
    spec: {
      displayName: name,
      ...(type && { type }),
      homepageURI: '<address>/',
      ...fields,
      ...(!type && { secretHashes: ['sha256:<hash>'] }),
      firstParty: true,
      scopes: ['openid', 'email', 'profile', ...scopes].map((scope) => ({
        name: scope,
        ...(scope === 'openid' && { required: true }),
      })),
    },
  };
  return stringify(manifest, { lineWidth: 0 }).replaceAll('<address>', addressOf(id));
}

const addressOf = (id) => `https://${id}.example.org`;

/** Returns the settings of a template for the address of an example. */
const settingsOf = ({ id, settings }) =>
  settings
    .join('\n')
    .replaceAll('<address>', addressOf(id))
    .replaceAll('<issuer>', 'https://id.example.org')
    .replaceAll('<client-id>', id)
    .replaceAll('<client-secret>', '<secret>');

const sectionOf = (template, pages, stringify) => [
  `## ${template.name}`,
  '',
  ...(pages[template.id]
    ? [`[${pages[template.id]}](../how-to/applications/${pages[template.id]}) has more.`, '']
    : []),
  '```yaml',
  manifestOf(template, stringify).trimEnd(),
  '```',
  '',
  `Settings (${template.target}):`,
  '',
  '```text',
  settingsOf(template),
  '```',
  '',
  ...(template.notes ?? []).map((note) => `- ${note}`),
  ...(template.notes ? [''] : []),
];

/**
 * Returns the page about the programs that the console knows. `pages` has the pages of some of them,
 * by their ID.
 */
export const appTemplatesReference = (templates, pages, stringify) =>
  `${[
    '# Programs that the console knows',
    '',
    '<!-- Generated from ui/console/apps/app-templates.json by hack/gen. Do not edit. -->',
    '',
    'The console offers these programs at [*Add an app*](../how-to/console.md#apps), and creates the Client that is',
    'shown here. The addresses are examples. `<hash>` and `<secret>` are',
    '[a secret that you create](../how-to/applications/README.md#declaring-the-client).',
    '',
    'The tests create each Client. They run Gitea, Miniflux, oauth2-proxy, Open WebUI and Vault, and the libraries with',
    'which Forgejo, GitLab and Paperless-ngx sign people in ([the table](compatibility.md#apps)). The others are as their',
    'documentation says: Argo CD needs a cluster, and no package registry has the servers of the rest.',
    '',
    ...templates.flatMap((template) => sectionOf(template, pages, stringify)),
  ]
    .join('\n')
    .trimEnd()}\n`;
