import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  clientIDOf,
  fillSettings,
  parseAddress,
  toClient,
  type AppDraft,
} from '../../ui/console/app-client.js';
import { appTemplates, otherApp } from '../../ui/console/app-templates.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { signIn } from '../support/signin.js';
import type { Tab } from '../support/tab.js';

const apiVersion = 'id.vestibule.org/v1alpha1';
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

const draftOf = (name: string, address = 'app.example.org/'): AppDraft => ({ name, address });

test('there are at least fifteen templates, each with its own ID, in the order of their names', () => {
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
    expect(text.includes('the-secret')).toBe(!template.isPublic);
    const beforeSecret = fillSettings(template, client, issuer, undefined);
    expect(beforeSecret.includes('<client-secret>')).toBe(!template.isPublic);
  });

  test('names in its settings only redirect URIs and scopes of the Client', () => {
    const text = fillSettings(template, client, issuer, 'the-secret');
    for (const [uri] of text.matchAll(/https?:\/\/(?:app\.example\.org|localhost)[^\s"',]*/g)) {
      const isBase = uri.replace(/\/$/, '') === 'https://app.example.org';
      if (!isBase) expect(client.spec.redirectURIs).toContain(uri);
    }
    if (/\bgroups\b/.test(text)) expect(client.spec.scopes).toContainEqual({ name: 'groups' });
  });

  test('asks for PKCE in its settings if its Client requires it', () => {
    const requires = client.spec.pkce === 'Required';
    if (requires) expect(template.settings).toMatch(/pkce|S256/i);
  });
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
  const grafana = appTemplates.find((one) => one.id === 'grafana')!;
  expect(clientIDOf(grafana, draftOf(name))).toBe(id);
});
