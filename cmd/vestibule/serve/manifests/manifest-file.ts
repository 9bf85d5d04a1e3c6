import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unknownMembers } from '../../../../apiserver/handlers/field-validation.js';
import { group, servedVersions } from '../../../../kinds/api-version.js';
import { Appearance } from '../../../../kinds/appearance/appearance.js';
import { Audience } from '../../../../kinds/apps/audience/audience.js';
import { ClaimsProvider } from '../../../../kinds/apps/claims/claims-provider.js';
import { Client } from '../../../../kinds/apps/client/client.js';
import { Group } from '../../../../kinds/people/group/group.js';
import { Policy, type PolicyObject } from '../../../../kinds/policy/policy.js';
import { PolicyRefusedError } from '../../../../policy/policy-service.js';
import type { AnyKind } from '../../../../registry/kind.js';
import { nameGrammar } from '../../../../registry/schema/metadata-schema.js';
import { invalid } from '../../../../registry/status/status.js';
import { Registry } from '../../../../registry/store/registry.js';
import { type KindView, viewsOf } from '../../../../registry/versions/kind-view.js';
import { errorMessage } from '../../terminal/thrown.js';
import { readYAMLObjects } from '../../terminal/yaml-objects.js';

/** The kinds that manifests may declare, in the order in which their objects are applied. */
export const loadableKinds: readonly AnyKind[] = [
  Client,
  ClaimsProvider,
  Audience,
  Group,
  Appearance,
  Policy,
];

const registry = new Registry(loadableKinds, []);
const policySchema = registry.schemas(Policy).spec;

/** An object that a file declares. */
export interface Manifest {
  readonly kind: AnyKind;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A file of the folder: what it declares, or why it cannot be used. */
export interface ManifestFile {
  readonly path: string;
  readonly manifests: readonly Manifest[];
  readonly fault?: string;
}

/**
 * Reads the YAML and JSON files of a folder in the order of their names. A file that is malformed, or that
 * declares an object of an earlier file, has a fault. Throws if the folder cannot be read.
 */
export function readManifestFiles(folder: string): ManifestFile[] {
  const declaredIn = new Map<string, string>();
  return readdirSync(folder)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name): ManifestFile => {
      const path = join(folder, name);
      try {
        const manifests = parseManifests(readFileSync(path, 'utf8'));
        for (const manifest of manifests) declare(declaredIn, manifest, path);
        return { path, manifests };
      } catch (error) {
        return { path, manifests: [], fault: errorMessage(error) };
      }
    });
}

/**
 * Notes the file of an object; throws if it is declared already. There can be one Policy in each mode.
 */
function declare(
  declaredIn: Map<string, string>,
  { kind, metadata: { name }, spec }: Manifest,
  path: string,
): void {
  const isShadow = spec.mode === 'Shadow';
  const id = `${kind.kind} ${kind === Policy ? isShadow : name}`;
  const former = declaredIn.get(id);
  if (former !== undefined) {
    throw new Error(
      kind === Policy
        ? `only one Policy${isShadow ? ' in mode Shadow' : ''} can be loaded, and ${former} has one`
        : `${id} is declared in ${former} already`,
    );
  }
  declaredIn.set(id, path);
}

/**
 * Returns the problems of a folder that can be found without a store: its YAML, and each object
 * against the schema of its kind. Does not check that a Policy's text can become active.
 */
export function validateManifests(folder: string): string[] {
  const files = readManifestFiles(folder);
  return files.flatMap(({ path, manifests, fault }) =>
    [...(fault === undefined ? [] : [fault]), ...manifests.flatMap((manifest) => faultOf(manifest))] //
      .map((problem) => `--manifests: ${path}: ${problem}`),
  );
}

function faultOf(manifest: Manifest): string[] {
  const { kind, metadata, spec } = manifest;
  try {
    if (kind === Policy) {
      policySpec(manifest);
      return [];
    }
    const causes = registry.schemas(kind).spec.check(structuredClone(spec), 'spec');
    return causes.length === 0 ? [] : [invalid(kind, metadata.name, causes).message];
  } catch (error) {
    return [errorMessage(error)];
  }
}

function parseManifests(text: string): Manifest[] {
  return readYAMLObjects(text).map(({ place, object }) => {
    try {
      return manifestOf(object as unknown as Declaration);
    } catch (error) {
      throw new Error(`${place}: ${errorMessage(error)}`, { cause: error });
    }
  });
}

/** What a document of a file may be. */
interface Declaration {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: Manifest['metadata'];
  readonly spec?: Record<string, unknown>;
}

function manifestOf({
  apiVersion: version,
  kind: kindName,
  metadata,
  spec,
}: Declaration): Manifest {
  const kind = loadableKinds.find((loadableKind) => loadableKind.kind === kindName);
  const view = kind && viewsOf(kind).find(({ apiVersion }) => apiVersion === version);
  if (!view) {
    throw new Error(
      `only ${loadableKinds.map((loadableKind) => loadableKind.kind).join(', ')} of ` +
        `${servedVersions.map((served) => `${group}/${served}`).join(' or ')} can be loaded, ` +
        `got ${kindName} of ${version}`,
    );
  }
  const name: unknown = metadata?.name;
  if (kind === Policy && name) throw new Error('a Policy has no name: the service numbers it');
  if (
    kind !== Policy &&
    (typeof name !== 'string' || !nameGrammar.test(name) || name.length > 200)
  ) {
    throw new Error('metadata.name must be a lower-case name of letters, digits, dots and hyphens');
  }
  return { kind, metadata: metadata ?? { name: '' }, spec: specOf(view, spec ?? {}) };
}

/** Returns a spec as the hub has it; throws for a field that its version does not have. */
function specOf({ kind, names, version }: KindView, spec: Manifest['spec']): Manifest['spec'] {
  const below = names?.at('spec');
  if (!below) return spec;
  const [unknown] = unknownMembers(
    { spec: structuredClone(spec) },
    below.schemaFromHub(registry.schemas(kind).spec.schema),
  );
  if (unknown !== undefined) throw new Error(`${kind.kind} of ${version} has no field ${unknown}`);
  return below.toHub(spec) as Manifest['spec'];
}

/** Returns the spec of a Policy; throws PolicyRefusedError if it is malformed. */
export function policySpec({ spec }: Manifest): PolicyObject['spec'] {
  const checked = structuredClone(spec);
  const [cause] = policySchema.check(checked, 'spec');
  if (cause) throw new PolicyRefusedError(`${cause.field}: ${cause.message}`);
  return checked as PolicyObject['spec'];
}
