import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { openapi } from '../dist/apiserver/discovery/openapi.js';
import {
  fileSetting,
  settingKey,
  settings,
  variableName,
} from '../dist/cmd/vestibule/options/flags.js';
import { apiDescription } from '../dist/cmd/vestibule/serve/api-description.js';
import { subcommands } from '../dist/cmd/vestibule/terminal/commands.js';
import { flags } from '../dist/cmd/vestibule/terminal/flags.js';
import { actions, kinds } from '../dist/kinds/index.js';
import { release } from '../dist/observability/build-info.js';
import { Metrics } from '../dist/observability/metrics/metrics.js';
import { contextAttributes } from '../dist/policy/model/context-attributes.js';
import { entityAttributes } from '../dist/policy/model/entity-attributes.js';
import { vocabularyOf } from '../dist/policy/model/vocabulary.js';
import { codes } from '../dist/registry/status/status.js';
import { Registry } from '../dist/registry/store/registry.js';
import { inVersion } from '../dist/registry/store/registry-view.js';
import { appTemplatesReference } from './generate/app-templates.mjs';
import { chartReadme, valuesOf, valuesSchema } from './generate/chart.mjs';
import { policyReference } from './generate/policy.mjs';
import {
  alertsReference,
  commandReference,
  errorsReference,
  kindsReference,
  metricsReference,
  settingsReference,
} from './generate/reference.mjs';
import { spaceReference } from './generate/space.mjs';
import { pageTypes } from './generate/types.mjs';
import { knownSettings, pageVocabulary } from './generate/vocabulary.mjs';

const root = join(import.meta.dirname, '..');
const registry = new Registry(kinds, actions);
const document = openapi(inVersion(registry, registry.version), release, apiDescription);
const vocabulary = vocabularyOf(kinds, actions);
const read = (file) => readFileSync(join(root, file), 'utf8');
const values = valuesOf(read('deploy/chart/values.yaml'), parse);

/** Returns the names that a source file imports from a file beside it. */
const importedNames = (source, file) =>
  [...source.matchAll(/\{([^{}]+)\} from '\.\/([^']+)'/g)]
    .filter(([, , from]) => from === file)
    .flatMap(([, names]) => names.match(/\w+/g));

/** All generated files and their text. */
const files = {
  'docs/reference/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'docs/reference/kinds.md': kindsReference(document, registry),
  'docs/reference/configuration.md': settingsReference(
    settings,
    fileSetting,
    settingKey,
    variableName,
  ),
  'docs/reference/command.md': commandReference(subcommands, flags),
  'docs/reference/metrics.md': metricsReference(new Metrics().definitions),
  'docs/reference/policy.md': policyReference(vocabulary, contextAttributes, entityAttributes),
  'docs/reference/errors.md': errorsReference(codes, read('registry/status/status.ts')),
  'docs/reference/app-templates.md': appTemplatesReference(
    JSON.parse(read('ui/console/apps/app-templates.json')),
    { 'argo-cd': 'argo-cd.md', grafana: 'grafana.md', 'oauth2-proxy': 'oauth2-proxy.md' },
    stringify,
  ),
  'docs/reference/space.md': spaceReference(),
  'docs/reference/alerts.md': alertsReference(parse(read('deploy/observability/alerts.yaml'))),
  'deploy/chart/values.schema.json': `${JSON.stringify(valuesSchema(values, settings), null, 2)}\n`,
  'deploy/chart/README.md': chartReadme(read('hack/generate/chart.md'), values, settings),
  // a chart cannot read files outside its folder
  'deploy/chart/files/alerts.yaml': read('deploy/observability/alerts.yaml'),
  'deploy/chart/files/dashboard.json': read('deploy/observability/dashboard.json'),
  'ui/api.gen.ts': pageTypes(document, importedNames(read('ui/api.ts'), 'api.gen.js')),
  'ui/console/settings/known-settings.json': knownSettings(settings),
  'ui/console/policy/policy-vocabulary.json': pageVocabulary(
    vocabulary,
    contextAttributes,
    entityAttributes,
  ),
};

const check = process.argv.includes('--check');
let stale = 0;
for (const [file, text] of Object.entries(files)) {
  const path = join(root, file);
  let held;
  try {
    held = readFileSync(path, 'utf8');
  } catch {
    held = undefined;
  }
  if (held === text) continue;
  stale += 1;
  if (check) {
    console.error(`${file} is stale: run hack/gen`);
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.error(`wrote ${file}`);
}
process.exit(check && stale > 0 ? 1 : 0);
