import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AppDraft,
  clientIDOf,
  fillSettings,
  parseAddress,
  toClient,
} from '../../ui/console/apps/app-client.js';
import { appTemplates, otherApp } from '../../ui/console/apps/app-templates.js';
import data from '../../ui/console/apps/app-templates.json' with { type: 'json' };
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';

const apiVersion = 'id.vestibule.org/v1beta1';
const issuer = 'https://id.example.org';
let service: TestService;
let operator: Tab;

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
});
afterAll(stopAll);

/** With what only the documentation says of them. */
const documented: readonly { id: string; notes?: readonly string[] }[] = data;

const draftOf = (name: string, address = 'app.example.org/'): AppDraft => ({ name, address });

test('there are at least fifteen templates, each with its own ID', () => {
  expect(appTemplates.length).toBeGreaterThanOrEqual(15);
  expect(new Set(appTemplates.map(({ id }) => id)).size).toBe(appTemplates.length);
  const names = appTemplates.map(({ name }) => name);
  expect(names).toEqual([...names].sort(new Intl.Collator('en').compare));
});

describe.each([...appTemplates, otherApp])('the template $id', (template) => {
  const draft = draftOf(template.name || 'Notes');
  const client = toClient(template, draft, parseAddress(draft.address)!, apiVersion);

  test('makes a Client that the API takes as it is', async () => {
    const { body } = await operator.post('clients?dryRun=All', client).is(201);
    expect(body.spec).toMatchObject(client.spec);
  });

  test('fills in each placeholder of its settings and uses those that it needs', () => {
    const text = fillSettings(template, client, issuer, 'the-secret');
    expect(text).not.toMatch(/<[\w-]+>/);
    expect(text).toContain(issuer);
    expect(text).toContain(client.metadata.name);
    expect(text.includes('the-secret')).toBe(client.spec.type === 'Confidential');
    const beforeSecret = fillSettings(template, client, issuer, undefined);
    expect(beforeSecret.includes('<client-secret>')).toBe(client.spec.type === 'Confidential');
  });

  test('names in its settings only redirect URIs and scopes of the Client', () => {
    const text = fillSettings(template, client, issuer, 'the-secret');
    for (const [uri] of text.matchAll(/https?:\/\/(?:app\.example\.org|localhost)[^\s"',]*/g)) {
      const isBase = uri.replace(/\/$/, '') === 'https://app.example.org';
      if (!isBase) expect(client.spec.redirectURIs).toContain(uri);
    }
    if (/\bgroups\b/.test(text)) expect(client.spec.scopes).toContainEqual({ name: 'groups' });
  });

  test('sends PKCE by its settings or always, if its Client requires it', () => {
    const { notes = [] } = documented.find(({ id }) => id === template.id) ?? {};
    const said = [...template.settings, ...notes.filter((note) => /sends PKCE/.test(note))];
    const requires = client.spec.pkce === 'Required';
    if (requires) expect(said.join('\n')).toMatch(/pkce|S256/i);
  });

  test('asks for no more scopes than its Client lists', () => {
    const text = template.settings.join('\n');
    const listed = (client.spec.scopes as { name: string }[]).map(({ name }) => name);
    for (const scope of ['groups', 'offline_access']) {
      if (new RegExp(`\\b${scope}\\b`).test(text)) expect(listed).toContain(scope);
    }
  });

  test('gets logout tokens by https only', () => {
    const { spec } = toClient(template, draft, new URL('http://localhost:3000/'), apiVersion);
    expect(spec).not.toHaveProperty('backchannelLogoutURI');
    const { backchannelLogoutURI: uri } = client.spec;
    if (uri !== undefined) expect(uri).toMatch(/^https:\/\/app\.example\.org\//);
  });
});

/** What the console says of a program that it did not say before this table. */
test.each([
  ['forgejo', /--provider openidConnect/, {}],
  ['gitea', /--auto-discover-url/, {}],
  ['gitlab', /omniauth_allow_single_sign_on'\] = \['openid_connect'\]/, {}],
  ['harbor', /"oidc_scope": ".*,offline_access"/, { pkce: 'Required' }],
  ['hedgedoc', /^CMD_OAUTH2_PKCE=true$/m, { pkce: 'Required' }],
  ['immich', /RS256/, { backchannelLogoutURI: 'https://a.test/api/oauth/backchannel-logout' }],
  ['immich', /RS256/, { pkce: 'Required' }],
  ['jellyfin', /^Set default username claim: email\nScheme Override: https$/m, {}],
  ['mattermost', /licence/, {}],
  ['miniflux', /OIDC/, { pkce: 'Required' }],
  ['nextcloud', /user_oidc/, { pkce: 'Required' }],
  [
    'nextcloud',
    /user_oidc:provider Vestibule/,
    {
      backchannelLogoutURI: 'https://a.test/index.php/apps/user_oidc/backchannel-logout/Vestibule',
    },
  ],
  ['open-webui', /^OAUTH_CODE_CHALLENGE_METHOD=S256$/m, { pkce: 'Required' }],
  ['outline', /OIDC_LOGOUT_URI/, { postLogoutRedirectURIs: ['https://a.test'] }],
  ['portainer', /^Automatic user provisioning: on$/m, {}],
  ['rancher', /^PKCE Method: S256$/m, { pkce: 'Required' }],
  ['vault', /^vault write auth\/oidc\/config/m, { pkce: 'Required' }],
  ['vaultwarden', /^SSO_SCOPES=email profile offline_access$/m, {}],
])('%s is set up with %s and %j', (id, settings, fields) => {
  const template = appTemplates.find((appTemplate) => appTemplate.id === id)!;
  const client = toClient(template, draftOf(id), new URL('https://a.test/'), apiVersion);
  expect(fillSettings(template, client, issuer, 'the-secret')).toMatch(settings);
  expect(client.spec).toMatchObject(fields);
});

test.each(['harbor', 'vaultwarden', 'argo-cd'])('%s may get a refresh token', (id) => {
  const template = appTemplates.find((appTemplate) => appTemplate.id === id)!;
  const { spec } = toClient(template, draftOf(id), new URL('https://a.test/'), apiVersion);
  expect(spec.scopes).toContainEqual({ name: 'offline_access' });
});

test.each([
  ['grafana.example.org', 'https://grafana.example.org/'],
  [' https://example.org/grafana/ ', 'https://example.org/grafana/'],
  ['http://localhost:3000', 'http://localhost:3000/'],
  ['ftp://example.org', undefined],
  ['', undefined],
  ['two words', undefined],
])('the address %j is read as %j', (typed, read) => {
  expect(parseAddress(typed)?.href).toBe(read);
});

test('redirect URIs follow from an address with a path', () => {
  const grafana = appTemplates.find(({ id }) => id === 'grafana')!;
  const draft = draftOf('Grafana', 'https://example.org/grafana/?x#y');
  const { spec } = toClient(grafana, draft, parseAddress(draft.address)!, apiVersion);
  expect(spec.redirectURIs).toEqual(['https://example.org/grafana/login/generic_oauth']);
});

test.each([
  ['Grafana', 'grafana'],
  ['Café  Ångström!', 'cafe-angstrom'],
  ['لوحة', 'app-example-org'],
])('the client ID of %j is %j', (name, id) => {
  const grafana = appTemplates.find((appTemplate) => appTemplate.id === 'grafana')!;
  expect(clientIDOf(grafana, draftOf(name))).toBe(id);
});
