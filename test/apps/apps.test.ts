import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { type AppClient, fillSettings, toClient } from '../../ui/console/apps/app-client.js';
import { type AppTemplate, appTemplates } from '../../ui/console/apps/app-templates.js';
import { objectsShown } from '../docs/clients.js';
import { filled, read, secret } from '../docs/pages.js';
import { freePorts } from '../storage/etcd-server.js';
import { expectFor } from '../support/expect-for.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { type App, apps } from './apps.js';
import { Browser, type Page } from './browser.js';
import { missingFor, packagesOf } from './packages.js';
import { filledIn, type Place, Running, writeFolder, writePage } from './place.js';

/** Packages may be fetched and compiled beside other suites. */
jest.setTimeout(900_000);

/** What every run has; `hack/test-apps` runs the others, too, which take minutes to build. */
const light = apps.filter(({ registry }) => registry === 'npm' || registry === 'PyPI');
const chosen = process.env.VESTIBULE_TEST_APPS === 'all' ? apps : light;

const ada = 'ada@example.test';
const hash = createHash('sha256').update(secret).digest('hex');
const pages = 'docs/how-to/applications';

let service: TestService;
let operator: Tab;
let running: Running | undefined;

beforeAll(async () => {
  service = await startTest({
    // All programs together may take longer than an operator's sign-in is recent.
    flags: ['--operators=op@example.test', '--limit-factor=100000', '--limits-recent-sign-in=1h'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
  await operator
    .post('accounts', {
      metadata: { generateName: 'a' },
      spec: { email: ada },
    })
    .is(201);
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
afterAll(stopAll);

const templateOf = (id: string): AppTemplate =>
  appTemplates.find((appTemplate) => appTemplate.id === id)!;

/** The Client that the console creates for a program at this address. */
function clientOfTemplate(id: string, url: string): AppClient {
  const template = templateOf(id);
  const draft = { address: url, name: template.name };
  return toClient(template, draft, new URL(url), 'id.vestibule.org/v1beta1');
}

/** Writes the settings that the console shows for a program, as a file. */
function writeSettings(id: string, { folder, url, issuer }: Place): void {
  const settings = fillSettings(templateOf(id), clientOfTemplate(id, url), issuer, secret);
  writeFileSync(join(folder, 'settings'), settings);
}

/** The objects that a program needs, as its page or its folder gives them. */
function objectsOf(
  { page, folder, template, objects }: App,
  url: string,
): { kind: string; spec: any; metadata: any }[] {
  if (template !== undefined) {
    const client = clientOfTemplate(template, url);
    return [{ ...client, spec: { ...client.spec, secretHashes: [`sha256:${hash}`] } }];
  }
  if (folder !== undefined) {
    return parseAllDocuments(
      filled(readFileSync(join(import.meta.dirname, folder, 'client.yaml'), 'utf8'), hash),
    ).map((document) => document.toJS());
  }
  return objectsShown().filter(
    (one) => one.page === `${pages}/${page}` && (objects?.includes(one.metadata.name) ?? true),
  );
}

/** A place for a program, with its files; its objects are created as an operator does. */
async function placeOf(app: App): Promise<Place> {
  const [port] = await freePorts(1);
  const url = `http://localhost:${port}`;
  const place = { folder: temporary(), port: port!, url, issuer: service.baseURL };
  chmodSync(place.folder, 0o755);
  const objects = objectsOf(app, url);
  const host = objects.flatMap(({ spec }) => spec.redirectURIs ?? [])[0] as string;
  const said = (text: string): string => filledIn(text, place, new URL(host).origin);
  for (const { kind, metadata, spec } of objects) {
    const text = JSON.stringify({ metadata, spec });
    const plural = `${kind.toLowerCase()}s`;
    await operator.post(plural, plural === 'clients' ? said(text) : text).is(201);
  }
  if (app.template !== undefined) {
    writeSettings(app.template, place);
  } else if (app.folder !== undefined) {
    writeFolder(join(import.meta.dirname, app.folder), place, said);
  } else {
    writePage(`${pages}/${app.page}`, place, app.part, said);
  }
  return place;
}

/** Signs a person in at a program that was just started; returns the page where they end. */
async function signInTo(app: App, place: Place): Promise<Page> {
  const browser = new Browser(service, ada);
  const first = await browser.open(place.url + (app.path ?? '/'));
  return app.act ? app.act(browser, first, place) : first;
}

/** Where the Client and the configuration of a program are. */
function whereOf({ page, folder, template }: App): string {
  if (template !== undefined) return `docs/reference/app-templates.md#${template}`;
  return page === undefined ? `test/apps/${folder}` : `${pages}/${page}`;
}

const packagesIn = (app: App): string =>
  packagesOf(app)
    .map(({ name, version }) => (version ? `${name} ${version}` : name))
    .join(', ');

describe.each(chosen.map((app) => ({ app, name: app.name })))('$name', ({ app }) => {
  const missing = missingFor(app);
  const where = whereOf(app);
  const from = `${app.registry}: ${packagesIn(app)}`;
  // hack/apps-table.mjs makes a row of the table of the parts of this title.
  const title = ['signs a person in on the first try', from, where, ...missing].join(' | ');

  if (missing.length > 0) {
    process.stderr.write(`SKIPPED ${app.name}: ${missing.join()} not found\n`);
  }
  (missing.length === 0 ? test : test.skip)(title, async () => {
    const place = await placeOf(app);
    running = await Running.start(place, await app.start(place));
    const page = await signInTo(app, place);
    const seen = `${page.code} ${page.url.href}\n${page.text.slice(0, 2000)}\n${running.said.slice(-4000)}`;
    for (const shown of app.shows ?? [ada]) {
      if (page.code !== 200 || !page.text.includes(shown)) {
        throw new Error(`it does not show ${shown}: ${seen}`);
      }
    }
  });
});

test('each page names the versions that are run', () => {
  for (const app of apps.filter(({ page }) => page !== undefined)) {
    for (const { version } of packagesOf(app).filter((one) => one.version !== undefined)) {
      expectFor(app.page, read(`${pages}/${app.page}`)).toEqual(expect.stringContaining(version!));
    }
  }
});
