import { draftOf } from '../../../../apiserver/handlers/apply-body.js';
import { Audience } from '../../../../kinds/apps/audience/audience.js';
import { Client } from '../../../../kinds/apps/client/client.js';
import { hashOf, Policy } from '../../../../kinds/policy/policy.js';
import type { PolicyAuthorizer } from '../../../../policy/policy-service.js';
import type { AnyKind, Call, KindObject } from '../../../../registry/kind.js';
import { ConfigurationApply } from '../../../../registry/managedfields/apply.js';
import type { Store } from '../../../../registry/store/store.js';
import { hubOf } from '../../../../registry/versions/kind-view.js';
import { loadableKinds, type Manifest, policySpec } from './manifest-file.js';

/** The label of objects that manifests own: they are deleted when no file declares them. */
export const ownedLabel = 'id.vestibule.org/manifests';

/** The hash of the manifest that was applied last. */
const hashAnnotation = 'id.vestibule.org/manifest-hash';

/** What was done with an object, or would be on a dry run. */
export type ManifestChange = 'Create' | 'Change' | 'Unchanged';

/** Where manifests are applied. */
export interface ManifestTarget {
  readonly store: Store;
  readonly policy: Pick<PolicyAuthorizer, 'load' | 'wouldLoad'>;
}

/**
 * Applies a manifest if it is not the one that was applied last. The fields that it sets have the
 * manager `manifests`, fields that it no longer sets are removed, and others stay. A dry run takes
 * what others of `declared` declare as there.
 */
export async function applyManifest(
  { store, policy }: ManifestTarget,
  manifest: Manifest,
  { dryRun, declared }: { dryRun: boolean; declared: readonly Manifest[] },
): Promise<ManifestChange> {
  if (manifest.kind === Policy) {
    const spec = policySpec(manifest);
    if (dryRun) return (await policy.wouldLoad(spec)) ? 'Create' : 'Unchanged';
    return (await policy.load(spec)) ? 'Create' : 'Unchanged';
  }
  const call = store.systemCall({ dryRun });
  let change!: ManifestChange;
  await call.change(async (tx) => {
    const current = await tx.get(manifest.kind, manifest.metadata.name);
    const spec = dryRun ? withoutDeclared(manifest, declared) : manifest.spec;
    change = await applyTo(tx, call, store, { manifest, spec }, current);
  });
  return change;
}

async function applyTo(
  tx: Parameters<Parameters<Call['change']>[0]>[0],
  call: Call,
  store: Store,
  { manifest, spec }: { manifest: Manifest; spec: Manifest['spec'] },
  current: KindObject | undefined,
): Promise<ManifestChange> {
  const { kind, metadata } = manifest;
  const { name, labels, annotations } = metadata;
  const hash = `sha256:${hashOf(JSON.stringify([labels, annotations, manifest.spec]))}`;
  if (isOwned(current) && current.metadata.annotations?.[hashAnnotation] === hash) {
    return 'Unchanged';
  }
  const owned = {
    labels: { ...labels, [ownedLabel]: 'true' },
    annotations: { ...annotations, [hashAnnotation]: hash },
  };
  const draft = draftOf(hubOf(kind), structuredClone({ metadata: { name, ...owned }, spec }));
  const fields = { metadata: owned, spec };
  const apply = new ConfigurationApply(store.registry.schemas(kind).tracked, {
    view: hubOf(kind),
    fields,
    manager: 'manifests',
    force: true,
  });
  if (!current) {
    await tx.create(kind, draft, apply);
  } else {
    await tx.update(kind, name, (next) => apply.merge(next, call.now), apply);
  }
  return current ? 'Change' : 'Create';
}

/** Returns the spec of a manifest without the introspectors that other manifests declare. */
function withoutDeclared(
  { kind, spec }: Manifest,
  declared: readonly Manifest[],
): Manifest['spec'] {
  const { introspectors } = spec;
  if (kind !== Audience || !Array.isArray(introspectors)) return spec;
  const clients = new Set(
    declared.flatMap((manifest) => (manifest.kind === Client ? [manifest.metadata.name] : [])),
  );
  return { ...spec, introspectors: introspectors.filter((name) => !clients.has(name)) };
}

const isOwned = (object: KindObject | undefined): object is KindObject =>
  object?.metadata.labels?.[ownedLabel] === 'true';

/** An object of a kind, by name. */
export interface ObjectName {
  readonly kind: AnyKind;
  readonly name: string;
}

/** Returns the objects that manifests own and that are not declared any more. */
export async function undeclared(
  store: Store,
  declared: readonly Manifest[],
): Promise<ObjectName[]> {
  const names = new Set(declared.map(({ kind, metadata }) => `${kind.kind}/${metadata.name}`));
  const found: ObjectName[] = [];
  for (const kind of loadableKinds.filter(({ verbs }) => verbs.includes('delete'))) {
    for (const object of await store.reader(kind).list()) {
      const { name } = object.metadata;
      if (isOwned(object) && !names.has(`${kind.kind}/${name}`)) found.push({ kind, name });
    }
  }
  return found;
}

/** Deletes an object if manifests still own it. Returns whether it was deleted, or would be. */
export async function prune(
  store: Store,
  { kind, name }: ObjectName,
  { dryRun }: { dryRun: boolean },
): Promise<boolean> {
  let isPruned = false;
  await store.systemCall({ dryRun }).change(async (tx) => {
    isPruned = isOwned(await tx.get(kind, name));
    if (isPruned) await tx.delete(kind, name);
  });
  return isPruned;
}
