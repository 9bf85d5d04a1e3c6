import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { applyBody, type Change } from '../../apiserver/handlers/apply-body.js';
import { defineKind } from '../../kinds/define-kind.js';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import type { Call, KindObject } from '../../registry/kind.js';
import { ConfigurationApply } from '../../registry/managedfields/apply.js';
import { updatesBy } from '../../registry/managedfields/update.js';
import { mapList, setList } from '../../registry/schema/list-type.js';
import { StatusError } from '../../registry/status/status.js';
import { Registry } from '../../registry/store/registry.js';
import { schemasIn } from '../../registry/store/registry-view.js';
import { StoreTransaction } from '../../registry/store/transaction.js';
import { hubOf } from '../../registry/versions/kind-view.js';
import type { Entry } from '../../storage/storage.js';
import fc from '../support/fast-check.js';
import { isQuick } from '../support/stores.js';

const Sheet = defineKind({
  kind: 'Sheet',
  resource: 'sheets',
  description: 'A sheet.',
  verbs: ['get', 'create', 'patch', 'update'],
  spec: z.object({
    text: z.string().optional().describe('Text.'),
    level: z.number().int().default(1).describe('A number with a default.'),
    tags: setList(z.array(z.string())).optional().describe('A set.'),
    rows: mapList(
      z.array(
        z.object({
          name: z.string().describe('Name.'),
          value: z.number().int().optional().describe('Value.'),
          marks: setList(z.array(z.string())).optional().describe('Marks.'),
        }),
      ),
      'name',
    )
      .optional()
      .describe('A map list.'),
  }),
  status: z.object({}),
  columns: {},
});
const registry = new Registry([Sheet], []);
const sequences = isQuick ? 2_000 : 10_000;

interface Row {
  name: string;
  value?: number;
  marks?: string[];
}
interface Fields {
  labels?: Record<string, string>;
  text?: string;
  level?: number;
  tags?: string[];
  rows?: Row[];
}
type Step = { by: string } & (
  | { apply: Fields; force: boolean }
  | { write: Fields; mode: 'replace' | 'merge' | 'json' }
);

const letters = ['a', 'b', 'c'];
const some = fc.uniqueArray(fc.constantFrom(...letters), { minLength: 1, maxLength: 3 });
const fields = fc.record(
  {
    labels: fc.dictionary(fc.constantFrom(...letters), fc.constantFrom('1', '2'), { minKeys: 1 }),
    text: fc.constantFrom(...letters),
    level: fc.integer({ min: 1, max: 3 }),
    tags: some,
    rows: fc.uniqueArray(
      fc.record(
        { name: fc.constantFrom(...letters), value: fc.integer({ min: 0, max: 2 }), marks: some },
        { requiredKeys: ['name'] },
      ),
      { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Fields>;
const by = fc.constantFrom('flux', 'argo', 'kubectl');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ by, apply: fields, force: fc.boolean() }),
  fc.record({
    by,
    write: fields,
    mode: fc.constantFrom<'replace' | 'merge' | 'json'>('replace', 'merge', 'json'),
  }),
);

/**
 * The model: an object is its paths with their values, an owner a set of paths. `containers` are the
 * paths of fields with content of their own; they exist in an object, but no one applies them.
 */
type Paths = Map<string, unknown>;

const containers = (path: string): boolean =>
  /^(metadata|spec|metadata\/labels|spec\/tags|spec\/rows|spec\/rows\/[a-c]\/marks)$/.test(path);

function pathsOf({ labels, text, level, tags, rows }: Fields): Paths {
  const paths: Paths = new Map([
    ['metadata', true],
    ['spec', true],
  ]);
  const list = (at: string, items: readonly string[] | undefined): void => {
    if (items) paths.set(at, true);
    for (const item of items ?? []) paths.set(`${at}/${item}`, true);
  };
  if (labels) paths.set('metadata/labels', true);
  for (const [key, value] of Object.entries(labels ?? {})) {
    paths.set(`metadata/labels/${key}`, value);
  }
  if (text !== undefined) paths.set('spec/text', text);
  if (level !== undefined) paths.set('spec/level', level);
  list('spec/tags', tags);
  if (rows) paths.set('spec/rows', true);
  for (const { name, value, marks } of rows ?? []) {
    paths.set(`spec/rows/${name}`, true);
    paths.set(`spec/rows/${name}/name`, name);
    if (value !== undefined) paths.set(`spec/rows/${name}/value`, value);
    list(`spec/rows/${name}/marks`, marks);
  }
  return paths;
}

const isUnder = (path: string, at: string): boolean => path === at || path.startsWith(`${at}/`);

class Model {
  paths: Paths = new Map();
  owners = new Map<string, Set<string>>();
  #isTracked = false;

  constructor(first: Fields) {
    this.paths = withDefaults(pathsOf(first));
  }

  #changes(after: Paths): { changed: Set<string>; removed: Set<string> } {
    const before = this.paths;
    return {
      changed: new Set([...after.keys()].filter((path) => after.get(path) !== before.get(path))),
      removed: new Set([...before.keys()].filter((path) => !after.has(path))),
    };
  }

  update(manager: string, after: Paths): void {
    const { changed, removed } = this.#changes(withDefaults(after));
    if (!this.#isTracked) {
      this.paths = after;
      return;
    }
    this.paths = after;
    this.#take(`${manager} Update`, changed, removed, (own) => [
      ...[...own].filter((path) => !removed.has(path)),
      ...changed,
    ]);
  }

  /** Returns the fields in conflict, if there are any; then nothing changes. */
  apply(manager: string, configuration: Fields, force: boolean): string[] {
    const before: typeof this.owners = this.#isTracked
      ? this.owners
      : new Map([['before-first-apply Update', new Set(ownable(this.paths))]]);
    const id = `${manager} Apply`;
    const applied = pathsOf(configuration);
    const own = new Set(ownable(applied));
    const others = [...before].filter(([name]) => name !== id);
    const owned = [...own, ...others.flatMap(([, paths]) => [...paths])];
    const after = new Map([...this.paths, ...applied]);
    const last = [...(before.get(id) ?? [])];
    for (const path of after.keys()) {
      const isMine = containers(path)
        ? last.some((one) => isUnder(one, path))
        : last.includes(path);
      const isKept = containers(path)
        ? owned.some((one) => isUnder(one, path))
        : owned.includes(path);
      if (isMine && !isKept) {
        for (const below of after.keys()) if (isUnder(below, path)) after.delete(below);
      }
    }
    for (const path of ['metadata', 'spec']) after.set(path, true);
    withoutEmptyLists(after);
    withDefaults(after);
    const { changed, removed } = this.#changes(after);
    const conflicts = others.flatMap(([, paths]) => [...paths].filter((path) => changed.has(path)));
    if (conflicts.length > 0 && !force) return conflicts;
    [this.paths, this.owners, this.#isTracked] = [after, before, true];
    this.#take(id, changed, removed, () => [...own]);
    return [];
  }

  #take(
    id: string,
    changed: Set<string>,
    removed: Set<string>,
    ownAfter: (own: Set<string>) => string[],
  ): void {
    if (id.endsWith('Update') && changed.size === 0 && removed.size === 0) return;
    for (const [name, paths] of this.owners) {
      if (name !== id) {
        this.owners.set(
          name,
          new Set([...paths].filter((path) => !changed.has(path) && !removed.has(path))),
        );
      }
    }
    this.owners.set(id, new Set(ownAfter(this.owners.get(id) ?? new Set())));
    for (const [name, paths] of this.owners) if (paths.size === 0) this.owners.delete(name);
  }
}

const ownable = (paths: Paths): string[] => [...paths.keys()].filter((path) => !containers(path));

function withDefaults(paths: Paths): Paths {
  if (!paths.has('spec/level')) paths.set('spec/level', 1);
  return paths;
}

/** A list or map is there while an entry of it is; the labels of an object are never empty. */
function withoutEmptyLists(paths: Paths): void {
  for (const path of paths.keys()) {
    if (
      containers(path) &&
      path.includes('/') &&
      ![...paths.keys()].some((one) => one.startsWith(`${path}/`))
    ) {
      paths.delete(path);
    }
  }
}

/** Returns the paths of an object after a PUT, merge patch or JSON patch. */
function written(paths: Paths, write: Fields, mode: 'replace' | 'merge' | 'json'): Paths {
  if (mode === 'replace') return pathsOf(write);
  const after = new Map(paths);
  for (const [name, at] of Object.entries({
    labels: 'metadata/labels',
    tags: 'spec/tags',
    rows: 'spec/rows',
  })) {
    if (name in write && !(name === 'labels' && mode === 'merge')) {
      for (const path of after.keys()) if (isUnder(path, at)) after.delete(path);
    }
  }
  return new Map([...after, ...pathsOf(write)]);
}

const specOf = (of: Fields): Omit<Fields, 'labels'> => {
  const { labels: _, ...spec } = of;
  return spec;
};

function changeOf(object: KindObject, write: Fields, mode: 'replace' | 'merge' | 'json'): Change {
  const metadata = { ...(write.labels && { labels: write.labels }) };
  if (mode === 'json') {
    const operations = Object.entries(specOf(write)).map(([name, value]) => ({
      op: 'add',
      path: `/spec/${name}`,
      value,
    }));
    const labels = { op: 'add', path: '/metadata/labels', value: write.labels };
    return {
      mode,
      patch: { operations: write.labels ? [labels, ...operations] : operations, maxCopiedBytes: 0 },
    };
  }
  if (mode === 'merge') return { mode, body: { metadata, spec: specOf(write) } };
  const { resourceVersion } = object.metadata;
  return { mode, body: { metadata: { ...metadata, resourceVersion }, spec: specOf(write) } };
}

/** One object in a store in memory, written by transactions. */
class Live {
  readonly #entries = new Map<string, Entry>();
  #revision = 0;
  readonly #call = {
    now: Date.parse('2026-01-01T00:00:00Z'),
    caller: { type: 'System' },
    settings: { limits: defaultLimits },
  } as Call;

  async change(work: (tx: StoreTransaction) => Promise<unknown>): Promise<void> {
    const tx = new StoreTransaction(
      registry,
      {
        get: async (key) => this.#entries.get(key),
        list: async () => ({ entries: [], revision: this.#revision, more: 0 }),
      },
      this.#call,
    );
    await work(tx);
    this.#revision += 1;
    for (const write of tx.finish().part.writes) {
      if ('put' in write) {
        this.#entries.set(write.put, {
          key: write.put,
          value: write.value,
          revision: this.#revision,
        } as Entry);
      }
    }
  }

  async object(): Promise<KindObject> {
    let object: KindObject | undefined;
    await this.change(async (tx) => {
      object = await tx.get(Sheet, 'one');
    });
    return object!;
  }

  /** Runs a step; returns the conflicts of an apply. */
  async run(step: Step): Promise<string[]> {
    const { tracked } = registry.schemas(Sheet);
    const schemas = schemasIn(registry, hubOf(Sheet));
    if ('write' in step) {
      const { write, mode, by: manager } = step;
      await this.change((tx) =>
        tx.update(
          Sheet,
          'one',
          (next) => void applyBody(hubOf(Sheet), next, changeOf(next, write, mode), schemas),
          updatesBy(() => manager),
        ),
      );
      return [];
    }
    const apply = new ConfigurationApply(tracked, {
      view: hubOf(Sheet),
      fields: {
        metadata: step.apply.labels ? { labels: step.apply.labels } : {},
        spec: specOf(step.apply),
      },
      manager: step.by,
      force: step.force,
    });
    try {
      await this.change((tx) => tx.update(Sheet, 'one', (next) => apply.merge(next, 0), apply));
      return [];
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'Conflict') throw error;
      return error.details!.causes!.map(({ field }) => field!);
    }
  }
}

/** The paths of an element of FieldsV1, in the model's form. */
const elementOf = (element: string): string => {
  if (element.startsWith('k:')) return (JSON.parse(element.slice(2)) as { name: string }).name;
  return element.startsWith('v:') ? (JSON.parse(element.slice(2)) as string) : element.slice(2);
};

function ownersOf({ metadata }: KindObject): Record<string, string[]> {
  const owners: Record<string, string[]> = {};
  const collect = (fields: Record<string, any>, at: readonly string[], into: string[]): void => {
    for (const [element, below] of Object.entries(fields)) {
      if (element === '.') {
        into.push(at.join('/'));
      } else if (Object.keys(below).length === 0) {
        into.push([...at, elementOf(element)].join('/'));
      } else {
        collect(below, [...at, elementOf(element)], into);
      }
    }
  };
  for (const { manager, operation, fieldsV1 } of metadata.managedFields ?? []) {
    collect(fieldsV1, [], (owners[`${manager} ${operation}`] = []));
  }
  for (const paths of Object.values(owners)) paths.sort();
  return owners;
}

const fieldsOf = ({ metadata, spec }: KindObject): Fields => ({
  ...(metadata.labels && { labels: metadata.labels }),
  ...spec,
});

const sorted = (paths: Iterable<string>): string[] => [...paths].sort();

describe('random sequences of applies and updates by several managers', () => {
  test('give the object and the owners of a model', async () => {
    const tally = { steps: 0, conflicts: 0, owners: 0 };
    await fc.assert(
      fc.asyncProperty(
        fields,
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (first, steps) => {
          const live = new Live();
          await live.change((tx) =>
            tx.create(Sheet, {
              metadata: { name: 'one', ...(first.labels && { labels: first.labels }) },
              spec: specOf(first),
            } as never),
          );
          const model = new Model(first);
          for (const step of steps) {
            const conflicts = await live.run(step);
            const expected =
              'write' in step
                ? (model.update(step.by, written(model.paths, step.write, step.mode)), [])
                : model.apply(step.by, step.apply, step.force);
            const object = await live.object();
            const seen = [
              conflicts.length,
              Object.fromEntries(pathsOf(fieldsOf(object))),
              ownersOf(object),
            ];
            const wanted = [
              expected.length,
              Object.fromEntries(model.paths),
              Object.fromEntries([...model.owners].map(([id, paths]) => [id, sorted(paths)])),
            ];
            // `expect` alone would need most of the time.
            if (!isDeepStrictEqual(seen, wanted)) expect(seen).toEqual(wanted);
            tally.steps += 1;
            tally.conflicts += Math.min(1, conflicts.length);
            tally.owners = Math.max(tally.owners, model.owners.size);
          }
        },
      ),
      { numRuns: sequences },
    );
    expect(tally.steps).toBeGreaterThan(sequences);
    expect(tally.conflicts).toBeGreaterThan(sequences / 10);
    expect(tally.owners).toBeGreaterThan(4);
  }, 900_000);
});
