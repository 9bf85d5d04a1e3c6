import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const root = mkdtempSync(join(tmpdir(), 'vestibule-ci-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
for (const folder of ['.ci', 'hack']) mkdirSync(join(root, folder));
cpSync(join(import.meta.dirname, '../.ci/run'), join(root, '.ci/run'));

/**
 * Runs .ci/run where both suites do no more than say something; what it says, how it ends, and what
 * the second was given, line by line.
 */
function run(first: string, second: string): { out: string; code: number | null; given: string } {
  const given = join(root, 'given');
  rmSync(given, { force: true });
  for (const [name, script] of [
    // What is built beside the tests has begun.
    ['test', `until [ -s ${given} ]; do sleep 0.05; done; ${first}`],
    ['node.sh', ''],
    ['test-cluster', `echo "$@" >> ${given}; [[ " $* " = *' --build '* ]] || { ${second}; }`],
  ]) {
    writeFileSync(join(root, 'hack', name!), `#!/usr/bin/env bash\n${script}\n`);
    chmodSync(join(root, 'hack', name!), 0o755);
  }
  const { stdout, status } = spawnSync(join(root, '.ci/run'), { encoding: 'utf8' });
  let argumentsGiven = '';
  try {
    argumentsGiven = readFileSync(given, 'utf8').trim();
  } catch {
    /* it was not begun */
  }
  return { out: stdout, code: status, given: argumentsGiven };
}

test('the image and the scripts have the same Node', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
  const [, image] = /node:(\d+\.\d+\.\d+)-/.exec(read('deploy/Dockerfile'))!;
  const { optionalDependencies } = JSON.parse(read('hack/tools/node/package.json'));
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([image]));
});

const building = '--ci --build aggregation chart';
const given = `${building}\n--ci aggregation chart`;

test.each([
  [
    'both pass',
    'echo noise; echo "7 passed, 0 failed"',
    'echo "SKIPPED chart: 9 passed, 9 failed"; echo "5 passed, 0 failed"',
    { out: '12 passed, 0 failed\n', code: 0, given },
  ],
  [
    'something is skipped',
    'echo "7 passed, 0 failed, 1 skipped"',
    'echo "SKIPPED chart: no Go"; echo "0 passed, 0 failed, 2 skipped"',
    { out: '7 passed, 0 failed, 3 skipped\n', code: 0, given },
  ],
  [
    'the first fails',
    'echo "7 passed, 2 failed"; exit 1',
    'echo "5 passed, 0 failed"',
    { out: '12 passed, 2 failed\n', code: 1, given },
  ],
  [
    'the second fails',
    'echo "7 passed, 0 failed"',
    'echo "4 passed, 1 failed, 1 skipped"; exit 3',
    { out: '11 passed, 1 failed, 1 skipped\n', code: 3, given },
  ],
  [
    'nothing could be tested',
    'echo "types are wrong" >&2; exit 2',
    'echo "5 passed, 0 failed"',
    { out: '', code: 2, given: building },
  ],
  [
    'nothing was counted',
    'true',
    'echo "5 passed, 0 failed"',
    { out: '', code: 1, given: building },
  ],
])('where %s, one line counts both suites and the exit code says so', (_, first, second, wanted) =>
  expect(run(first, second)).toEqual(wanted),
);

/**
 * Runs hack/test-cluster where Helm is built, nothing else is but as said, and every test passes;
 * what it says, how it ends, and what of the tests was run with what.
 */
function cluster(
  { kubernetes, kinds, images }: Record<'kubernetes' | 'kinds' | 'images', string>,
  ...args: string[]
): { out: string; code: number | null; ran: string[] } {
  const at = mkdtempSync(join(root, 'cluster-'));
  const script = (path: string, text: string): void => {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), `#!/usr/bin/env bash\n${text}\n`);
    chmodSync(join(at, path), 0o755);
  };
  for (const one of [
    'hack/prepare',
    'hack/node.sh',
    'bin/npm',
    'bin/etcd',
    'bin/go',
    ...['v4.2.4', 'v3.21.4'].map((version) => `.cache/bin/helm-${version}/helm`),
  ]) {
    script(one, 'true');
  }
  script('hack/tools/cache', `echo ${at}/.cache/bin`);
  script('hack/tools/kubernetes/build', kubernetes);
  script('hack/tools/crds/fetch', kinds);
  script('hack/tools/images/build', images);
  for (const program of ['kubelogin', 'oauth2-proxy', 'tofu']) {
    script(`hack/tools/${program}/build`, `echo /${program}`);
  }
  script(
    'bin/npx',
    `for one in "$@"; do case $one in --outputFile=*) echo '{"numPassedTests":3}' > "\${one#*=}" ;; --testPathPatterns=*) echo "\${one##*/} \${KUBERNETES_BIN:-} \${CRDS:-} \${NODE_IMAGE:-} \${BASE_IMAGE:-} \${ENGINE:-} \${KUBELOGIN:-} \${OAUTH2_PROXY:-} \${TOFU:-}" >> ${at}/ran ;; esac; done`,
  );
  cpSync(join(import.meta.dirname, '../hack/test-cluster'), join(at, 'hack/test-cluster'));
  const { stdout, status } = spawnSync(join(at, 'hack/test-cluster'), args, {
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: [join(at, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      KUBERNETES_BIN: '',
      CRDS: '',
      NODE_IMAGE: '',
      BASE_IMAGE: '',
      ENGINE: '',
      KUBELOGIN: '',
      OAUTH2_PROXY: '',
      TOFU: '',
    },
  });
  let ran = '';
  try {
    ran = readFileSync(join(at, 'ran'), 'utf8');
  } catch {
    /* nothing was */
  }
  return {
    out: stdout,
    code: status,
    ran: ran
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().replaceAll(/ +/g, ' ')),
  };
}

const made = 'echo "/built${1:+:$1,$2}"';
const [fetched, lost] = ['echo /kinds.yaml', 'exit 2'];
const [engine, none] = ['echo node base podman --quick', 'exit 1'];
const [charts, server, steps, container, pages, behind] = [
  'chart(start)?\\.',
  'chart(server|wait)',
  'image\\.',
  'imagerun',
  '(docs.kubelogin|docs.oauth2proxy|kubernetes.terraform)\\.',
  '(aggregation|trust|collector|oidc|rolling)',
];
const shortBehind = 'aggregation\\.';
const builtInCI = '/built:kube-apiserver,kubectl';

test.each([
  [
    'the chart is rendered, and installed on a server',
    { kubernetes: made, kinds: fetched, images: none },
    ['--require', 'chart'],
    { out: '6 passed, 0 failed\n', code: 0, ran: [charts, `${server} /built /kinds.yaml`] },
  ],
  [
    'in CI the chart is rendered, and what is behind kube-apiserver tested as far as it is quick',
    { kubernetes: made, kinds: fetched, images: none },
    ['--ci', 'aggregation', 'chart'],
    {
      out: '3 passed, 0 failed\n',
      code: 0,
      ran: [`(${shortBehind}|${charts}) ${builtInCI}`],
    },
  ],
  [
    'in CI what cannot be built is missed where there are Go and etcd',
    { kubernetes: 'exit 2', kinds: fetched, images: none },
    ['--ci', 'aggregation', 'chart'],
    {
      out: 'SKIPPED aggregation: kube-apiserver cannot be built here, as said above\n3 passed, 0 failed, 1 skipped\n',
      code: 1,
      ran: [`(${charts})`],
    },
  ],
  [
    'nothing runs where programs are built alone',
    { kubernetes: made, kinds: fetched, images: none },
    ['--ci', '--build', 'aggregation', 'chart'],
    { out: '0 passed, 0 failed\n', code: 0, ran: [''] },
  ],
  [
    'all of it is tested by hand',
    { kubernetes: made, kinds: fetched, images: none },
    ['--require', 'aggregation'],
    { out: '3 passed, 0 failed\n', code: 0, ran: [`${behind} /built /kubelogin`] },
  ],
  [
    'pages are put to the programs that they are about',
    { kubernetes: made, kinds: lost, images: none },
    ['--require', 'pages'],
    { out: '3 passed, 0 failed\n', code: 0, ran: [`${pages} /kubelogin /oauth2-proxy /tofu`] },
  ],
  [
    'what can neither be built nor fetched is named, and missed where it is required',
    { kubernetes: 'exit 2', kinds: lost, images: none },
    ['--require', 'chart'],
    {
      out: 'SKIPPED chart on an API server: kube-apiserver cannot be built here, as said above\n3 passed, 0 failed, 1 skipped\n',
      code: 1,
      ran: [charts],
    },
  ],
  [
    'without the kinds of other projects their objects alone are left out',
    { kubernetes: made, kinds: lost, images: none },
    ['chart'],
    {
      out: 'SKIPPED custom resources of the chart on an API server: their kinds cannot be fetched here, as said above\n6 passed, 0 failed, 1 skipped\n',
      code: 0,
      ran: [charts, `${server} /built`],
    },
  ],
  [
    'the image is run where there is an engine',
    { kubernetes: made, kinds: lost, images: engine },
    ['--require', 'image'],
    { out: '6 passed, 0 failed\n', code: 0, ran: [steps, `${container} node base podman --quick`] },
  ],
  [
    'an engine that is missing is named, and missed where it is required',
    { kubernetes: made, kinds: lost, images: none },
    ['--require', 'image'],
    {
      out: 'SKIPPED image in a container: no engine runs it here, as said above\n3 passed, 0 failed, 1 skipped\n',
      code: 1,
      ran: [steps],
    },
  ],
])('of the tests of a cluster, %s', (_, there, args, wanted) =>
  expect(cluster(there, ...args)).toEqual(wanted),
);
