import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { appsSection } from './apps-table.mjs';

const root = join(import.meta.dirname, '..');
const read = (file) => readFileSync(join(root, file), 'utf8');
const found = (file, pattern) => pattern.exec(read(file))[1];
const { devDependencies } = JSON.parse(read('package.json'));
const generatorVersion = found(
  'hack/tools/openapi-generator/pom.xml',
  /openapi-generator-maven-plugin<\/artifactId>\s*<version>([^<]+)/,
);
const typescriptTools = JSON.parse(read('hack/tools/openapi-typescript/package.json'));
const typescriptVersions = ['openapi-typescript', 'openapi-fetch'].map(
  (name) => `${name} ${typescriptTools.dependencies[name]}`,
);
const schemathesisVersion = found(
  'hack/tools/schemathesis/requirements.txt',
  /^schemathesis==(\S+)/m,
);
const clientGoVersions = ['go-0.29.mod', 'go.mod'].map((file) =>
  found(`hack/tools/client-go/${file}`, /k8s\.io\/client-go (v\S+)/),
);
const controllerRuntimeVersion = found(
  'hack/tools/controller-runtime/go.mod',
  /controller-runtime (v\S+)/,
);
const operatorVersions = [
  `controller-runtime ${controllerRuntimeVersion}`,
  `kopf ${found('hack/tools/python-clients/requirements.txt', /^kopf==(\S+)/m)}`,
  `Java Operator SDK ${found('hack/tools/java-operator-sdk/pom.xml', /operator-framework<\/artifactId>\s*<version>([^<]+)/)}`,
];
const fluxVersion = found('hack/tools/flux-apply/go.mod', /fluxcd\/pkg\/ssa (v\S+)/);
const argoVersion = found('hack/tools/argo-apply/go.mod', /argoproj\/gitops-engine (v\S+)/);
const terraformVersion = found(
  'hack/tools/terraform-apply/go.mod',
  /gavinbunney\/terraform-provider-kubectl (v\S+)/,
);
const tofuVersion = found('hack/tools/tofu/go.mod', /opentofu\/opentofu (v\S+)/);
const gitops = ['flux', 'argocd', 'terraform'];

/** Clients, and the tests that are about each: by the title around them, or by their suite. */
const clients = [
  {
    name: 'kubectl',
    columnOf: ({ around }) => /^kubectl (\d\S*)$/.exec(around[0] ?? '')?.[1],
    isAbout: ({ suite, around }) => !gitops.includes(suite) && /^kubectl \d/.test(around[0] ?? ''),
  },
  {
    name: `@kubernetes/client-node ${devDependencies['@kubernetes/client-node']}`,
    columnOf: ({ around }) => /on (\w+)$/.exec(around[0] ?? '')?.[1],
    isAbout: ({ around }) => /^@kubernetes\/client-node/.test(around[0] ?? ''),
  },
  {
    name: `client-go ${clientGoVersions.join(', ')}`,
    columnOf: ({ around }) => /^client-go (\S+)/.exec(around[0])?.[1],
    isAbout: ({ around }) => /^client-go/.test(around[0] ?? ''),
  },
  {
    name: `controller-runtime ${controllerRuntimeVersion}`,
    columnOf: () => 'works',
    isAbout: ({ around }) => /^controller-runtime/.test(around[0] ?? ''),
  },
  {
    name: `Operators that own a kind of the library: ${operatorVersions.join(', ')}`,
    columnOf: ({ around }) => / on (\w+)$/.exec(around[0] ?? '')?.[1],
    isAbout: ({ suite }) => suite === 'operators',
  },
  {
    name: `Flux: github.com/fluxcd/pkg/ssa ${fluxVersion}`,
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'flux',
  },
  {
    name: `Argo CD: github.com/argoproj/gitops-engine ${argoVersion}`,
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'argocd',
  },
  {
    name: `Terraform: github.com/gavinbunney/terraform-provider-kubectl ${terraformVersion}, OpenTofu ${tofuVersion}`,
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'terraform',
  },
  {
    name: `openapi-generator ${generatorVersion}`,
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'openapi-generator',
  },
  {
    name: `schemathesis ${schemathesisVersion}`,
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'schemathesis',
  },
  {
    name: `@modelcontextprotocol/sdk ${devDependencies['@modelcontextprotocol/sdk']}`,
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'mcp',
  },
  {
    name: typescriptVersions.join(' with '),
    columnOf: () => 'works',
    isAbout: ({ suite }) => suite === 'typescript',
  },
];

const marks = { passed: 'yes', failed: '**no**' };

/** Returns the results of jest reports. */
function resultsOf(files) {
  return files
    .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).testResults)
    .flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ ancestorTitles, title, status }) => ({
        suite: basename(name, '.test.ts'),
        around: ancestorTitles,
        title,
        mark: marks[status] ?? 'not run',
      })),
    );
}

const byVersion = (one, other) => one.localeCompare(other, 'en', { numeric: true });

/** Returns the table of one client; nothing if none of its tests ran. */
function tableOf({ name, columnOf, isAbout }, results) {
  const own = results.filter(isAbout);
  const columns = [...new Set(own.map(columnOf))].sort(byVersion);
  if (columns.length === 0) return [];
  const rows = new Map();
  for (const result of own) {
    const { suite, around, title, mark } = result;
    const what = [...around.slice(1), title].join(' › ');
    const row = rows.get(`${suite} ${what}`) ?? { suite, what, cells: {} };
    row.cells[columnOf(result)] = mark;
    rows.set(`${suite} ${what}`, row);
  }
  const sorted = [...rows.values()].sort((a, b) => a.suite.localeCompare(b.suite));
  return [
    `## ${name}`,
    '',
    `| Suite | What | ${columns.join(' | ')} |`,
    `|---|---|${columns.map(() => '---').join('|')}|`,
    ...sorted.map(
      ({ suite, what, cells }) =>
        `| ${suite} | ${what.replaceAll('|', '\\|')} | ${columns.map((one) => cells[one] ?? 'not run').join(' | ')} |`,
    ),
    '',
  ];
}

/** Returns the table of the versions of etcd, with the cases of every driver that each passed. */
function etcdSection(results) {
  const counts = new Map();
  for (const { suite, around, mark } of results) {
    const version = /^etcd(-versions)?$/.test(suite) && /^etcd (\d\S+)$/.exec(around[0] ?? '')?.[1];
    if (!version) continue;
    const [passed, failed] = counts.get(version) ?? [0, 0];
    counts.set(version, mark === marks.passed ? [passed + 1, failed] : [passed, failed + 1]);
  }
  return [
    '## etcd',
    '',
    'The cases that every driver has to pass (`test/storage/conformance.ts`), on each etcd. All other suites run on',
    'the newest of these.',
    '',
    '| etcd | Passed | Failed |',
    '|---|---|---|',
    ...[...counts]
      .sort(([one], [other]) => byVersion(one, other))
      .map(([version, [passed, failed]]) => `| ${version} | ${passed} | ${failed} |`),
    '',
  ];
}

const results = resultsOf(process.argv.slice(2));
const page = [
  '# Compatibility',
  '',
  'Clients that this project did not write, unmodified, and the tests that they passed: the record of a run of',
  '`hack/compatibility`. `hack/test-cluster aggregation` runs kube-apiserver as the front of the service.',
  '',
  ...appsSection().split('\n').slice(0, -1),
  ...etcdSection(results),
  ...clients.flatMap((client) => tableOf(client, results)),
];
writeFileSync(join(root, 'docs/reference/compatibility.md'), `${page.join('\n').trimEnd()}\n`);
