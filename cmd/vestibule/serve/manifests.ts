import mergePatch from 'json-merge-patch';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { nameGrammar } from '../../../apiserver/handlers/apply-body.js';
import { Appearance } from '../../../kinds/appearance/appearance.js';
import { ClaimsProvider } from '../../../kinds/claims/claims-provider.js';
import { Client } from '../../../kinds/client/client.js';
import { Group } from '../../../kinds/group/group.js';
import { hashOf, Policy } from '../../../kinds/policy/policy.js';
import { PolicyRefusedError, type PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { AnyKind, Call, KindObject } from '../../../registry/kind.js';
import { apiVersion } from '../../../registry/kind.js';
import { Registry } from '../../../registry/registry.js';
import { invalid, StatusError } from '../../../registry/status.js';
import type { Store } from '../../../registry/store.js';

const lastAppliedAnnotation = 'id.vestibule.org/last-applied';
const loadableKinds: readonly AnyKind[] = [Client, ClaimsProvider, Group, Appearance, Policy];

interface Manifest {
  kind: AnyKind;
  file: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: Record<string, unknown>;
}

/**
 * Applies a folder of YAML files like `kubectl apply`: creates objects, patches those whose file
 * changed, and leaves the others alone. Throws one sentence that names the file.
 */
export async function applyManifests(
  folder: string,
  store: Store,
  policy: Pick<PolicyAuthorizer, 'load'>,
): Promise<void> {
  for (const manifest of readFolder(folder)) {
    try {
      await (manifest.kind === Policy
        ? policy.load(policySpec(manifest))
        : applyManifest(manifest, store));
    } catch (error) {
      throw error instanceof StatusError || error instanceof PolicyRefusedError
        ? new Error(`--manifests: ${manifest.file}: ${error.message}`)
        : error;
    }
  }
}

/**
 * Returns the problems of a folder that can be found without a store: its YAML, and each object
 * against the schema of its kind. Does not check that a Policy's text can become active.
 */
export function validateManifests(folder: string): string[] {
  const schemas = new Registry(loadableKinds, []);
  let manifests: Manifest[];
  try {
    manifests = readFolder(folder);
  } catch (error) {
    return [(error as Error).message];
  }
  return manifests.flatMap((manifest) => {
    const { kind, file, metadata, spec } = manifest;
    try {
      if (kind === Policy) policySpec(manifest);
      const causes =
        kind === Policy ? [] : schemas.schemas(kind).spec.check(structuredClone(spec), 'spec');
      return causes.length === 0
        ? []
        : [`--manifests: ${file}: ${invalid(kind, metadata.name, causes).message}`];
    } catch (error) {
      return [`--manifests: ${file}: ${(error as Error).message}`];
    }
  });
}

function readFolder(folder: string): Manifest[] {
  const manifests = readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .flatMap((name) => readManifests(join(folder, name)));
  const policies = manifests.filter(({ kind }) => kind === Policy);
  if (policies.length > 1)
    throw new Error(`--manifests: ${policies[1]!.file}: only one Policy can be loaded`);
  return manifests;
}

function readManifests(file: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'), {
    schema: 'core',
    uniqueKeys: true,
  });
  return [...documents].flatMap((document) => {
    if (document.errors.length > 0)
      throw new Error(
        `--manifests: ${file}: ${document.errors[0]!.message.split('\n')[0]!.replace(/:$/, '')}`,
      ); // without the quoted source lines
    const value = document.toJS({ maxAliasCount: 0 }) as {
      apiVersion?: string;
      kind?: string;
      metadata?: Manifest['metadata'];
      spec?: Record<string, unknown>;
    } | null;
    if (value === null) return [];
    const kind = loadableKinds.find((one) => one.kind === value.kind);
    if (!kind || value.apiVersion !== apiVersion)
      throw new Error(
        `--manifests: ${file}: only ${loadableKinds.map((one) => one.kind).join(', ')} of ` +
          `${apiVersion} can be loaded, got ${value.kind}`,
      );
    if (kind === Policy && value.metadata?.name)
      throw new Error(`--manifests: ${file}: a Policy has no name: the service numbers it`);
    if (
      kind !== Policy &&
      (typeof value.metadata?.name !== 'string' ||
        !nameGrammar.test(value.metadata.name) ||
        value.metadata.name.length > 200)
    )
      throw new Error(
        `--manifests: ${file}: metadata.name must be a lower-case name of letters, digits, dots and hyphens`,
      );
    return [{ kind, file, metadata: value.metadata ?? { name: '' }, spec: value.spec ?? {} }];
  });
}

function policySpec({ spec }: Manifest): { cedar: string; description?: string } {
  const { cedar, description, ...rest } = spec;
  const [unknownField] = Object.keys(rest);
  if (unknownField !== undefined)
    throw new PolicyRefusedError(`unknown field "spec.${unknownField}"`);
  if (typeof cedar !== 'string' || (description !== undefined && typeof description !== 'string'))
    throw new PolicyRefusedError('spec.cedar and spec.description must be strings');
  return { cedar, ...(description !== undefined && { description }) };
}

/** Characters from which a value, such as a logo, is its hash in the annotation. */
const longValue = 1024;

/** Returns a spec as the annotation has it, and the long values by their hashes. */
function summarize(spec: object): { text: string; longValues: ReadonlyMap<unknown, string> } {
  const longValues = new Map<unknown, string>();
  const text = JSON.stringify(spec, (_, value: unknown) => {
    if (typeof value !== 'string' || value.length < longValue) return value;
    const hash = `sha256:${hashOf(value)}`;
    longValues.set(hash, value);
    return hash;
  });
  return { text, longValues };
}

async function applyManifest({ kind, metadata, spec }: Manifest, store: Store): Promise<void> {
  const call: Call = store.systemCall();
  const { text: specText, longValues } = summarize(spec);
  await call.change(async (tx) => {
    const current = (await tx.get(kind, metadata.name)) as KindObject | undefined;
    const annotations = { ...metadata.annotations, [lastAppliedAnnotation]: specText };
    if (!current)
      return tx.create(kind, {
        metadata: { ...metadata, annotations },
        spec: structuredClone(spec),
      } as never);
    const lastApplied = current.metadata.annotations?.[lastAppliedAnnotation];
    if (lastApplied === specText) return current;
    const changed: unknown = mergePatch.generate(
      JSON.parse(lastApplied ?? '{}'),
      JSON.parse(specText),
    );
    const patch =
      changed &&
      JSON.parse(JSON.stringify(changed), (_, value: unknown) => longValues.get(value) ?? value);
    return tx.update(kind, metadata.name, (next: KindObject) => {
      next.spec = patch
        ? mergePatch.apply(structuredClone(next.spec), structuredClone(patch))
        : next.spec;
      next.metadata.annotations = { ...next.metadata.annotations, ...annotations };
    });
  });
}
