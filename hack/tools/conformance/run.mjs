/**
 * Runs plans of the OpenID Foundation's conformance suite against this service and prints a table
 * of their modules: `hack/conformance [PLAN ...]`. Exits with 1 if a module failed.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { staticServer, staticVariant } from './metadata.mjs';
import { Visitor } from './pages.mjs';
import { plans } from './plans.mjs';
import { clientsFor, startService } from './service.mjs';
import { Suite, suiteHost } from './suite.mjs';
import { countsOf, tableOf, writeSections } from './table.mjs';

const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });
const { values, names } = read(process.argv.slice(2));
const built = process.env.CONFORMANCE_BUILT;
const java = process.env.JAVA_HOME;
const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
const alias = 'vestibule';
const person = 'ada@example.test';
const profile = {
  displayName: 'Ada King',
  givenName: 'Ada',
  middleName: 'Augusta',
  familyName: 'King',
  nickname: 'Countess',
  preferredUsername: 'ada',
  profileURI: 'https://ada.example.test/about',
  pictureURI: 'https://ada.example.test/picture.png',
  websiteURI: 'https://ada.example.test/',
  gender: 'female',
  locale: 'en-GB',
  timeZone: 'Europe/London',
  birthdate: '1985-12-10',
};

// The suite's certificate is made for one run, and its host is this one.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');

/**
 * `--modules PATTERN` runs the modules whose name matches; `--write FILE` writes the tables of
 * whole plans into a page. `--metadata static` gives the suite the endpoints instead of discovery,
 * `--fapi-alg ES256` has the first Client of FAPI sign with it.
 * `--replicas 2` is two on etcd behind a round robin, and `--rotate-keys SECONDS` changes their keys so often.
 */
function read(args) {
  const options = {};
  const rest = [];
  for (let i = 0; i < args.length; i += 1) {
    if (args[i].startsWith('--')) {
      options[args[i].slice(2)] = args[i + 1];
      i += 1;
    } else {
      rest.push(args[i]);
    }
  }
  if (options.write && options.modules) {
    throw new Error('--write is for whole plans: leave out --modules');
  }
  if (options.write && (options.metadata || options['fapi-alg'] || options.replicas)) {
    throw new Error(
      '--write is for the usual plans: leave out --metadata, --fapi-alg and --replicas',
    );
  }
  if (![undefined, 'discovery', 'static'].includes(options.metadata)) {
    throw new Error('--metadata must be discovery or static');
  }
  if (![undefined, '1', '2'].includes(options.replicas)) {
    throw new Error('--replicas must be 1 or 2');
  }
  if (options['rotate-keys'] && (options.replicas !== '2' || !(options['rotate-keys'] >= 30))) {
    throw new Error('--rotate-keys must be 30 seconds or more, with --replicas 2');
  }
  const unknown = rest.filter((name) => !(name in plans));
  if (unknown.length > 0) {
    throw new Error(
      `no plan is called ${unknown.join(', ')}; there are ${Object.keys(plans).join(', ')}`,
    );
  }
  return { values: options, names: rest.length > 0 ? rest : Object.keys(plans) };
}

/**
 * The number of the visit, counted from 1, that only opens the page, by the end of the module's
 * name.
 */
const looks = {
  'reused-request-uri-prior-to-auth-completion-succeeds': 1,
  'rp-initiated-logout-no-id-token-hint': 2,
};

const isOver = ({ status }) => ['FINISHED', 'INTERRUPTED'].includes(status);

/**
 * Runs one module to its end: visits the addresses it asks for, and uploads a screenshot of each
 * page that a person must check.
 */
async function runModule(suite, service, browser, plan, module) {
  const name = module.testModule;
  const id = await suite.startModule(plan.id, module);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  const declines = name.endsWith('user-rejects-authentication');
  const visitor = new Visitor(page, {
    person,
    suite: suite.base,
    codeTo: service.codeTo,
    declines,
  });
  const look = Object.entries(looks).find(([end]) => name.endsWith(end))?.[1];
  const visits = { name: `${plan.name}-${name}`, count: 0, look, isPictured: true };
  let idleSince = Date.now();
  let info = await suite.call('GET', `info/${id}`);
  while (!isOver(info) && Date.now() < idleSince + 180_000) {
    if (info.status !== 'WAITING') {
      idleSince = Date.now();
    } else if (await visitNext(suite, visitor, id, visits)) {
      idleSince = Date.now();
    } else {
      await handPictures(suite, visitor, id, visits, Date.now() - idleSince);
    }
    await pause(300);
    info = await suite.call('GET', `info/${id}`);
  }
  const findings = [];
  if (!isOver(info)) {
    findings.push({
      source: 'runner',
      message: `timed out at ${page.url()}`,
      result: 'INTERRUPTED',
    });
    await page.screenshot({ path: join(folder, `${name}.png`) }).catch(() => undefined);
    await suite.call('DELETE', `runner/${id}`).catch(() => undefined);
  }
  await context.close();
  const log = await suite.call('GET', `log/${id}`);
  findings.push(...findingsOf(log));
  const result = info.status === 'FINISHED' ? info.result : 'INTERRUPTED';
  return { module: name, status: info.status, result, findings, id };
}

const findingsOf = (log) =>
  log
    .filter(({ result }) => ['FAILURE', 'WARNING', 'INTERRUPTED', 'SKIPPED'].includes(result))
    .map(({ src, msg, result }) => ({ source: src, message: msg, result }));

/** Visits the next address that the module asks for. Returns false if there is none. */
async function visitNext(suite, visitor, id, visits) {
  const { browser } = await suite.call('GET', `runner/${id}`).catch(() => ({}));
  const [next] = browser?.urlsWithMethod ?? [];
  if (!next) return false;
  visits.count += 1;
  visits.isPictured = false;
  await suite.call('POST', `runner/browser/${id}/visit?${new URLSearchParams({ url: next.url })}`);
  await (visits.count === visits.look
    ? visitor.open(next.url)
    : visitor.visit(next.url, next.method === 'POST'));
  return true;
}

/**
 * Uploads a screenshot where the module waits for one: at once if the visit ended on a page of the
 * service. If it led back to the suite, the module may still be processing the response, so only
 * after it has waited for five seconds.
 */
async function handPictures(suite, visitor, id, visits, idleMs) {
  if (visits.isPictured || (visitor.isBack() && idleMs < 5_000)) return;
  const log = await suite.call('GET', `log/${id}`);
  for (const { upload, img } of log) {
    if (!upload || img) continue;
    const picture = await visitor.picture();
    writeFileSync(join(folder, `${visits.name}.png`), picture);
    const encoded = `data:image/png;base64,${picture.toString('base64')}`;
    await suite.call('POST', `log/${id}/images/${upload}`, encoded, 'text/plain');
    visits.isPictured = true;
  }
}

/**
 * Signs the person up and fills in every field of their profile, so that scope profile shares every
 * claim.
 */
async function fillProfile(service, suite, browser) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await new Visitor(page, { person, suite: suite.base, codeTo: service.codeTo }).visit(
    `${service.issuer}/account`,
  );
  await page.locator('main[data-phase=account]').waitFor();
  const code = await page.evaluate(async (spec) => {
    const body = JSON.stringify({ spec });
    const headers = { 'content-type': 'application/merge-patch+json' };
    return (await fetch('/api/v1beta1/accounts/~', { method: 'PATCH', body, headers })).status;
  }, profile);
  if (code !== 200) throw new Error(`the profile was answered with ${code}`);
  await context.close();
}

const discoveryOf = ({ issuer }) => `${issuer}/.well-known/openid-configuration`;

/** Returns the suite's configuration of a plan with its Clients. */
const configOf = async (service, clients, isStatic) => ({
  alias,
  description: 'Vestibule',
  server: {
    ...(isStatic
      ? staticServer(await (await fetch(discoveryOf(service))).json())
      : { discoveryUrl: discoveryOf(service) }),
    login_hint: person,
  },
  resource: { resourceUrl: `${service.issuer}/oauth2/userinfo` },
  ...clients,
});

/** Runs the modules of one plan, one after the other, and returns the result of each. */
async function runPlan(suite, service, browser, name) {
  const { plan: planName, variant, clients: set } = plans[name];
  const chosen = values.metadata === 'static' ? staticVariant(variant) : variant;
  const config = await configOf(service, clients.configs[set], chosen !== variant);
  const plan = await suite.createPlan(planName, chosen, config);
  const wanted = new RegExp(values.modules ?? '');
  const modules = plan.modules.filter(({ testModule }) => wanted.test(testModule));
  const rows = [];
  for (const [index, module] of modules.entries()) {
    const started = Date.now();
    const row = await runModule(suite, service, browser, plan, module).catch((error) => ({
      module: module.testModule,
      result: 'INTERRUPTED',
      findings: [{ source: 'runner', message: error.message, result: 'INTERRUPTED' }],
    }));
    rows.push(row);
    const seconds = Math.round((Date.now() - started) / 1000);
    const found = row.findings.map(({ source, message }) => `\n    ${source}: ${message}`).join('');
    console.error(
      `${name} ${index + 1}/${modules.length} ${row.module}: ${row.result} (${seconds} s)${found}`,
    );
    if (row.result === 'PASSED' || !row.id) continue;
    const log = await suite.call('GET', `log/${row.id}`).catch(() => []);
    writeFileSync(join(folder, `${name}-${row.module}.json`), JSON.stringify(log, undefined, 1));
  }
  return rows;
}

/** Starts Chromium so that it reaches the suite and localhost, and no other host. */
const openBrowser = () =>
  chromium.launch({
    executablePath:
      process.env.CHROMIUM ??
      ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)),
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--no-first-run',
      `--host-resolver-rules=MAP ${suiteHost} 127.0.0.1, EXCLUDE localhost, MAP * ~NOTFOUND`,
    ],
  });

const free = (base) => base + Math.floor(Math.random() * 500);
mkdirSync(folder, { recursive: true });
console.error(`logs and pictures: ${folder}`);
const suite = await Suite.start({
  java,
  built,
  folder,
  port: free(20_000),
  databasePort: free(21_000),
});
const clients = clientsFor(suite, alias, values['fapi-alg']);
const service = await startService({
  folder,
  port: free(22_000),
  securePort: free(23_000),
  manifests: clients.manifests,
  trusted: suite.certificate,
  replicas: Number(values.replicas ?? 1),
  rotateMs: values['rotate-keys'] && 1000 * Number(values['rotate-keys']),
});
const browser = await openBrowser();
const runs = {};
try {
  await fillProfile(service, suite, browser);
  for (const name of names) runs[name] = await runPlan(suite, service, browser, name);
} finally {
  await browser.close();
  await service.stop();
  suite.stop();
}

for (const [name, rows] of Object.entries(runs)) {
  console.log(`${plans[name].title}\n${tableOf(rows)}\n`);
}
if (values.write) {
  writeSections(values.write, runs, readFileSync(join(built, 'commit'), 'utf8').trim());
}
const { line, failed } = countsOf(Object.values(runs).flat());
console.log(line);
process.exitCode = failed > 0 ? 1 : 0;
