import { join } from 'node:path';
import type { ReplicaStatus } from '../../../../kinds/replica.js';
import type { Log } from '../../../../observability/log.js';
import { PolicyRefusedError } from '../../../../policy/policy-service.js';
import { toTimestamp } from '../../../../registry/schema/timestamp.js';
import { StatusError } from '../../../../registry/status/status.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import { watchFiles } from '../watch-files.js';
import {
  applyManifest,
  type ManifestTarget,
  type ObjectName,
  prune,
  undeclared,
} from './apply-manifest.js';
import {
  loadableKinds,
  type Manifest,
  type ManifestFile,
  readManifestFiles,
} from './manifest-file.js';

/** The state of a file, as the Replica of this process has it. */
export type ManifestFileStatus = NonNullable<ReplicaStatus['manifests']>[number];

/** What a pass over the folder did, or would do. */
interface Report {
  readonly created: string[];
  readonly changed: string[];
  readonly pruned: string[];
  unchanged: number;
}

/** How long after a failure the folder is applied again, in milliseconds. */
const retryMs = 30_000;

/**
 * Applies a folder of YAML files at the start and whenever a file changes: creates and changes the
 * objects that they declare, and deletes those that no file declares any more
 * (docs/design/operations.md#manifests).
 */
export class ManifestController {
  readonly #folder: string;
  readonly #target: ManifestTarget;
  readonly #log: Log;
  #files: readonly ManifestFileStatus[] = [];
  #running: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Called after each pass. */
  onChange: () => void = () => {};

  constructor(folder: string, target: ManifestTarget, log: Log) {
    this.#folder = folder;
    this.#target = target;
    this.#log = log;
  }

  /** The state of each file after the last pass. */
  get files(): readonly ManifestFileStatus[] {
    return this.#files;
  }

  /**
   * Tries everything on a dry run and logs what will change, then applies it. Throws with all faults
   * if there are any; then nothing was changed.
   */
  async start(): Promise<void> {
    const plan = await this.#pass({ dryRun: true });
    this.#throwFaults();
    this.#log.info({ ...plan }, 'manifests were tried on a dry run');
    await this.#pass({ dryRun: false });
    this.#throwFaults();
  }

  #throwFaults(): void {
    const faults = this.#files.flatMap(({ file, state, message }) =>
      state === 'Faulty' ? [`--manifests: ${join(this.#folder, file)}: ${message}`] : [],
    );
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  /** Follows the folder until the returned function is called. */
  follow(): () => Promise<void> {
    const folder = [join(this.#folder, 'any file')];
    const stopWatching = watchFiles(folder, () => this.#schedule(), this.#log);
    this.#schedule(); // A file may have changed before this watch.
    return async () => {
      this.#isStopped = true;
      stopWatching();
      clearTimeout(this.#retry);
      await this.#running;
    };
  }

  #schedule(): void {
    clearTimeout(this.#retry);
    this.#running = this.#running.then(async () => {
      if (this.#isStopped || (await this.#applyChanges()) || this.#isStopped) return;
      this.#retry = setTimeout(() => this.#schedule(), retryMs).unref();
    });
  }

  /** Applies what can be applied and logs what changed. Returns whether all was applied. */
  async #applyChanges(): Promise<boolean> {
    const before = this.#files;
    try {
      const { created, changed, pruned, unchanged } = await this.#pass({ dryRun: false });
      if (created.length + changed.length + pruned.length > 0) {
        this.#log.info({ created, changed, pruned, unchanged }, 'manifests were applied');
      }
    } catch (error) {
      this.#log.error({ err: error, folder: this.#folder }, 'manifests could not be applied');
      return false;
    }
    for (const { file, state, message } of this.#files) {
      if (
        state === 'Faulty' &&
        before.find((former) => former.file === file)?.message !== message
      ) {
        this.#log.error({ file, fault: message }, 'a manifest was not applied');
      }
    }
    this.onChange();
    return this.#files.every(({ state }) => state === 'Applied');
  }

  async #pass(mode: { dryRun: boolean }): Promise<Report> {
    const files = readManifestFiles(this.#folder);
    const report: Report = { created: [], changed: [], pruned: [], unchanged: 0 };
    const statuses: ManifestFileStatus[] = [];
    const declared = files.flatMap(({ manifests }) => manifests);
    const outcomes = await this.#applyAll(declared, report, mode);
    for (const file of files) statuses.push(this.#statusOf(file, outcomes));
    if (declared.length > 0 && statuses.every(({ state }) => state === 'Applied')) {
      for (const object of await undeclared(this.#target.store, declared)) {
        if (await this.#prune(object, mode)) report.pruned.push(nameOf(object));
      }
    }
    this.#files = statuses;
    return report;
  }

  /** Deletes an object. Returns false, and logs it, if that is refused. */
  async #prune(object: ObjectName, mode: { dryRun: boolean }): Promise<boolean> {
    try {
      return await prune(this.#target.store, object, mode);
    } catch (error) {
      const fault = messageOf(error);
      this.#log.error(
        { object: nameOf(object), fault },
        'what no manifest declares was not deleted',
      );
      return false;
    }
  }

  /** Applies all manifests, those of one kind after those of kinds that it may name. */
  async #applyAll(
    declared: readonly Manifest[],
    report: Report,
    { dryRun }: { dryRun: boolean },
  ): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    for (const kind of loadableKinds) {
      for (const manifest of declared.filter((candidate) => candidate.kind === kind)) {
        try {
          const change = await applyManifest(this.#target, manifest, { dryRun, declared });
          outcomes.set(manifest, { hasChanged: change !== 'Unchanged' });
          note(report, manifest, change);
        } catch (error) {
          outcomes.set(manifest, { problem: messageOf(error) });
        }
      }
    }
    return outcomes;
  }

  #statusOf({ path, manifests, fault }: ManifestFile, outcomes: Outcomes): ManifestFileStatus {
    const file = path.slice(this.#folder.length).replace(/^\//, '');
    const status = { file, objects: manifests.length, timestamp: toTimestamp(Date.now()) };
    const before = this.#files.find((known) => known.file === file);
    const results = manifests.map((manifest) => outcomes.get(manifest));
    const problem = fault ?? results.find((outcome) => outcome?.problem !== undefined)?.problem;
    if (problem !== undefined) return { ...status, state: 'Faulty', message: problem };
    const hasChanged = results.some((outcome) => outcome?.hasChanged);
    return {
      ...status,
      state: 'Applied',
      ...(before?.state === 'Applied' && !hasChanged && { timestamp: before.timestamp }),
    };
  }
}

/** What came of each manifest: whether its object changed, or why it was not applied. */
type Outcomes = Map<Manifest, { readonly hasChanged?: boolean; readonly problem?: string }>;

function note(
  report: Report,
  { kind, metadata: { name } }: Manifest,
  change: Awaited<ReturnType<typeof applyManifest>>,
): void {
  if (change === 'Unchanged') {
    report.unchanged += 1;
  } else {
    report[change === 'Create' ? 'created' : 'changed'].push(nameOf({ kind, name }));
  }
}

const nameOf = ({ kind, name }: ObjectName): string => (name ? `${kind.kind}/${name}` : kind.kind);

/** Returns the message of a fault of a manifest; rethrows any other error. */
function messageOf(error: unknown): string {
  if (error instanceof StatusError || error instanceof PolicyRefusedError) return error.message;
  throw error;
}

/** Applies a folder, if there is one, and follows it until the stop. */
export async function openManifests(
  folder: string | undefined,
  target: ManifestTarget,
  log: Log,
  disposables: DisposableStack,
): Promise<ManifestController | undefined> {
  if (folder === undefined) return undefined;
  const controller = new ManifestController(folder, target, log);
  await controller.start();
  disposables.add(controller.follow());
  return controller;
}
