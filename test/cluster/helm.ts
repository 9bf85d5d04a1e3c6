import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const chart = join(import.meta.dirname, '../../deploy/chart');

/** An object as it is rendered. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly spec?: any;
  readonly data?: Record<string, string>;
  readonly [member: string]: unknown;
}

/** What came of one command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

const folder = mkdtempSync(join(tmpdir(), 'vestibule-helm-'));
export const forget = (): void => rmSync(folder, { recursive: true, force: true });

/** One Helm, with a home of its own. */
export class Helm {
  readonly name: string;
  /** The program. */
  readonly path: string;
  readonly #bin: string;
  readonly #config: string;

  constructor(bin: string, config = join(folder, 'none')) {
    this.name = bin.replace(/.*\/helm-/, 'Helm ');
    this.path = join(bin, 'helm');
    this.#bin = bin;
    this.#config = config;
  }

  /** The same, at the cluster that a kubeconfig leads to. */
  at(config: string): Helm {
    return new Helm(this.#bin, config);
  }

  run(args: readonly string[]): Promise<Ran> {
    return new Promise((resolve) => {
      execFile(
        this.path,
        args,
        {
          maxBuffer: 64 << 20,
          env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: this.#config },
        },
        (failure, out, error) => resolve({ code: failure ? Number(failure.code) : 0, out, error }),
      );
    });
  }

  /** Renders a release called vestibule in namespace identity. */
  template(more: readonly string[], from = chart): Promise<Ran> {
    return this.run([
      'template',
      'vestibule',
      from,
      '--namespace',
      'identity',
      '--kube-version',
      '1.33.0',
      ...more,
    ]);
  }

  /**
   * The notes for an installation with these values. Helm 3 asks a cluster before it renders them,
   * even where nothing is installed.
   */
  async notes(more: readonly string[]): Promise<string> {
    const { code, out, error } = await this.run([
      'install',
      'vestibule',
      chart,
      '--namespace',
      'identity',
      '--dry-run=client',
      ...more,
    ]);
    if (code !== 0) throw new Error(`${this.name}: ${error}`);
    return out.slice(out.lastIndexOf('\nNOTES:\n') + 8).trim();
  }

  /** Packs the chart up; the file, which is rendered as the folder is. */
  async pack(): Promise<string> {
    const to = mkdtempSync(join(folder, 'pack-'));
    const { code, error } = await this.run(['package', chart, '--destination', to]);
    if (code !== 0) throw new Error(`${this.name}: ${error}`);
    return join(to, readdirSync(to)[0]!);
  }

  /** A chart that depends on ours, by the condition `vestibule.enabled`; its folder. */
  async umbrella(): Promise<string> {
    const to = mkdtempSync(join(folder, 'umbrella-'));
    mkdirSync(join(to, 'charts'));
    copyFileSync(await this.pack(), join(to, 'charts/vestibule-0.1.0.tgz'));
    const vestibule = { name: 'vestibule', version: '0.1.0', condition: 'vestibule.enabled' };
    const about = { apiVersion: 'v2', name: 'umbrella', version: '1.0.0' };
    writeFileSync(join(to, 'Chart.yaml'), JSON.stringify({ ...about, dependencies: [vestibule] }));
    return to;
  }

  /** What it renders of values; throws what it says where it does not. */
  async render(more: readonly string[], from = chart): Promise<Rendered[]> {
    const { code, out, error } = await this.template(more, from);
    if (code !== 0) throw new Error(`${this.name}: ${error}`);
    return objectsOf(out);
  }
}

/** Those that hack/test-cluster built. */
export const helms = (process.env.HELMS ?? '')
  .split(delimiter)
  .filter(Boolean)
  .map((bin) => new Helm(bin));

/** A file of values. */
export function valuesFile(values: unknown): string {
  const file = join(folder, `values-${(count += 1)}.json`);
  writeFileSync(file, JSON.stringify(values));
  return file;
}
let count = 0;

/** Every values file of `deploy/chart/ci`, by its name. */
export const scenarios = readdirSync(join(chart, 'ci'))
  .map((file) => file.replace('-values.yaml', ''))
  .sort();
export const valuesOf = (scenario: string): string[] => [
  '--values',
  join(chart, `ci/${scenario}-values.yaml`),
];

/** Every example of `deploy/examples`, by its folder. */
export const examples = readdirSync(join(chart, '../examples'))
  .filter((name) => /^\d-/.test(name))
  .sort();

/** The values that a page shows, one after the other. */
export const valuesIn = (page: string): any[] =>
  [
    ...readFileSync(join(chart, '../..', page), 'utf8').matchAll(
      /^```yaml\n(baseURL:[\s\S]*?)^```$/gm,
    ),
  ].map(([, text]) => parse(text!));

/**
 * Everything that the chart is rendered to by one Helm: scenarios, examples, and the values that
 * pages show, each with what it was made of. Anyone who has an API server to put objects to, or a list
 * of what may be in them, takes them from here.
 */
export async function* everythingRendered(
  helm: Helm,
): AsyncGenerator<readonly [of: string, objects: Rendered[]]> {
  for (const scenario of scenarios) yield [scenario, await helm.render(valuesOf(scenario))];
  for (const name of examples) {
    yield [name, await helm.render(['--values', join(chart, '../examples', name, 'values.yaml')])];
  }
  for (const page of pages) {
    for (const [at, values] of valuesIn(page).entries()) {
      yield [`${page} ${at + 1}`, await helm.render(['--values', valuesFile(values)])];
    }
  }
}

/** Pages that show values of the chart. */
export const pages = ['deploy/chart/README.md', 'docs/how-to/kubernetes.md'];

/**
 * Objects of a stream of YAML as an API server reads it (YAML 1.1), by kind and name; a key that is
 * there twice throws.
 */
export function objectsOf(text: string): Rendered[] {
  const found = parseAllDocuments(text, { version: '1.1', uniqueKeys: true }).flatMap(
    (document) => {
      if (document.errors.length > 0) throw document.errors[0]!;
      const value = document.toJS() as Rendered | null;
      return value === null ? [] : [value];
    },
  );
  const key = ({ kind, metadata: { name } }: Rendered): string => `${kind} ${name}`;
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The one of a kind, by name where there are several. */
export function only(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  if (found.length !== 1) throw new Error(`${found.length} of ${kind} ${name ?? ''}`);
  return found[0]!;
}

/** The workload's pod, whichever it is. */
export const podOf = (objects: readonly Rendered[]): any =>
  objects.find(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))!.spec.template;
