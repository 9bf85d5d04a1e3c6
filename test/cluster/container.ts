import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');

/**
 * What hack/tools/images/build found: the images that the Dockerfile begins with, and the command
 * of the engine.
 */
const { NODE_IMAGE = '', BASE_IMAGE = '', ENGINE = 'podman' } = process.env;
export const base = BASE_IMAGE;
const [engineProgram, ...engineOptions] = ENGINE.split(' ') as [string, ...string[]];
/** The network of the machine, and limits that need no right to raise any. */
const common = ['--network=host', '--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'];

/** Runs a command of the engine to its end; what it said on standard output. */
export function engine(args: readonly string[], cwd = root): string {
  const { status, stdout, stderr } = spawnSync(engineProgram, [...engineOptions, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) {
    throw new Error(
      `${engineProgram} ${args.join(' ')} ended with ${status}: ${stderr.slice(-4_000)}${stdout.slice(-2_000)}`,
    );
  }
  return stdout;
}

/** The packages that a folder of an image holds, and those that its bill of materials names as installed. */
export function packagesOf(folder: string): { installed: string[]; named: string[] } {
  const files = readdirSync(join(folder, 'node_modules'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((file) => /(^|\/node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(file));
  const installed = new Set(
    files.map((file) => {
      const { name, version } = JSON.parse(
        readFileSync(join(folder, 'node_modules', file), 'utf8'),
      );
      return `${name}@${version}`;
    }),
  );
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    components: { 'bom-ref': string; properties: { value: string }[] }[];
  };
  return {
    installed: [...installed].sort(),
    named: components
      .filter(({ properties }) => properties.some(({ value }) => value === 'installed'))
      .map((component) => component['bom-ref'])
      .sort(),
  };
}

/**
 * Mounts by which the npm of a build asks the registry as this machine's does: its settings, whom
 * it trusts, what it has fetched. None of it stays.
 */
function registryOf(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const setting = (name: string): string =>
    execFileSync('npm', ['config', 'get', name], {
      cwd: tmpdir(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const kept = ['globalconfig', 'userconfig']
    .map(setting)
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => !/^\s*(cache|cafile|globalconfig|nodedir|prefix|userconfig)\s*=/.test(line));
  const trusted = [setting('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? '']
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const own = {
    npmrc: [
      ...kept,
      `registry=${setting('registry')}`,
      'prefer-offline=true',
      ...(trusted ? ['cafile=/root/.npm-ca'] : []),
      '',
    ].join('\n'),
    'npm-ca': trusted,
  };
  const cache = setting('cache');
  return [
    ...Object.entries(own)
      .filter(([, text]) => text)
      .map(([name, text]) => {
        writeFileSync(join(folder, name), text, { mode: 0o600 });
        return `--volume=${join(folder, name)}:/root/.${name}:ro`;
      }),
    ...(existsSync(cache) ? [`--volume=${cache}:/root/.npm:O`] : []),
  ];
}

/** Builds the Dockerfile of a checkout, or one stage of it; the image's id. */
export function build(
  context: string,
  {
    tag,
    epoch,
    revision,
    target,
    cached = true,
  }: { tag: string; epoch: number; revision: string; target?: string; cached?: boolean },
): string {
  if (NODE_IMAGE === '') {
    throw new Error(
      'NODE_IMAGE does not say which image to build in: run this by hack/test-cluster',
    );
  }
  const values = { NODE_IMAGE, BASE_IMAGE, SOURCE_DATE_EPOCH: epoch, REVISION: revision };
  engine(
    [
      'build',
      '--pull=never',
      ...common,
      `--timestamp=${epoch}`,
      ...Object.entries(values).map(([name, value]) => `--build-arg=${name}=${value}`),
      ...registryOf(`${context}.npm`),
      ...(target ? [`--target=${target}`] : []),
      ...(cached ? [] : ['--no-cache']),
      '--file=deploy/Dockerfile',
      `--tag=${tag}`,
      '.',
    ],
    context,
  );
  return engine(['image', 'inspect', '--format={{.Id}}', tag]).trim();
}

/** Removes all that was built for a time, tagged or not. */
export function removeBuilt(epoch: number): void {
  const found = JSON.parse(engine(['images', '--all', '--format=json'])) as {
    Id: string;
    Created: number;
  }[];
  const built = new Set(found.filter(({ Created }) => Created === epoch).map(({ Id }) => Id));
  if (built.size > 0) engine(['rmi', '--force', ...built]);
}

const {
  podSecurityContext: pod,
  securityContext: own,
  terminationGracePeriodSeconds: grace,
} = parse(readFileSync(join(root, 'deploy/chart/values.yaml'), 'utf8'));

/** What the chart lets a container do, as arguments of the engine. */
const confined = [
  `--user=${pod.runAsUser}:${pod.runAsGroup}`,
  ...(own.readOnlyRootFilesystem ? ['--read-only', '--read-only-tmpfs=false'] : []),
  ...(own.allowPrivilegeEscalation === false ? ['--security-opt=no-new-privileges'] : []),
  ...(own.capabilities.drop as string[]).map((name) => `--cap-drop=${name.toLowerCase()}`),
];
const line = (image: string, args: readonly string[], options: readonly string[]): string[] => [
  ...engineOptions,
  'run',
  '--rm',
  ...common,
  ...confined,
  ...options,
  image,
  ...args,
];

/** What came of a container that ends by itself. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs an image to its end, confined as the chart confines it. */
export function run(image: string, args: readonly string[], options: readonly string[] = []): Ran {
  const {
    status: code,
    stdout: out,
    stderr: error,
  } = spawnSync(engineProgram, line(image, args, options), { encoding: 'utf8' });
  return { code, out, error };
}

let started = 0;

/** A service in a container, confined as the chart confines it. */
export class Container {
  readonly name = `vestibule-test-${process.pid}-${(started += 1)}`;
  /** The line that says it is ready. */
  readonly ready: Promise<string>;
  complaints = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | string | null>;

  constructor(image: string, args: readonly string[], options: readonly string[] = []) {
    this.#child = spawn(engineProgram, line(image, args, [`--name=${this.name}`, ...options]), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(code ?? signal));
    });
    this.ready = new Promise((resolve, reject) => {
      let said = '';
      this.#child.stdout!.on('data', (text: Buffer) => {
        said += text.toString();
        const found = /^ready .*(?=\n)/m.exec(said);
        if (found) resolve(found[0]);
      });
      this.#child.stderr!.on('data', (text: Buffer) => {
        this.complaints += text.toString();
      });
      void this.#ended.then((code) =>
        reject(new Error(`it ended with ${code}: ${this.complaints}`)),
      );
    });
    this.ready.catch(() => {});
  }

  /** Runs a program in it, as a probe or `kubectl exec` does. */
  exec(...args: string[]): Ran {
    const {
      status: code,
      stdout: out,
      stderr: error,
    } = spawnSync(engineProgram, [...engineOptions, 'exec', this.name, ...args], {
      encoding: 'utf8',
    });
    return { code, out, error };
  }

  /** What a program of Node prints in it. */
  evaluate(text: string): string {
    const { code, out, error } = this.exec('/usr/local/bin/node', '--eval', text);
    if (code !== 0) throw new Error(`it ended with ${code}: ${error}`);
    return out;
  }

  /** Sends its first process a signal. */
  signal(name: string): void {
    engine(['kill', `--signal=${name}`, this.name]);
  }

  /** SIGTERM, and SIGKILL after the chart's period of grace; the exit code. */
  async stop(): Promise<number | string | null> {
    engine(['stop', `--time=${grace}`, this.name]);
    return this.#ended;
  }

  /** Ends it where a test left it going. */
  async remove(): Promise<void> {
    spawnSync(engineProgram, [
      ...engineOptions,
      'rm',
      '--force',
      '--ignore',
      '--time=0',
      this.name,
    ]);
    await this.#ended;
  }
}
