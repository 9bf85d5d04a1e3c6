import { createHash } from 'node:crypto';
import { apiVersion, version, type Action, type AnyKind } from '../registry/kind.js';
import type { Registry } from '../registry/registry.js';

/** A document that clients revalidate: its bytes and their strong ETag. */
export interface Document { readonly body: Buffer; readonly etag: string }

/** Encodes a document once. */
export function documentOf(value: unknown): Document {
  const body = Buffer.from(JSON.stringify(value));
  return { body, etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"` };
}

/** The versions served (specification 1). */
export const apiVersions = { kind: 'APIVersions', apiVersion: 'v1', versions: [version], serverAddressByClientCIDRs: [] };

/** Every resource and the verbs it takes (specification 1): all main resources before any subresource (`kubernetes.md` 1.1). */
export function resourceList(registry: Registry): unknown {
  return {
    kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion,
    resources: [...registry.kinds.map(mainResource), ...subresources(registry)],
  };
}

const mainResource = (kind: AnyKind) => ({
  name: kind.resource, singularName: kind.singular, namespaced: false, kind: kind.kind, verbs: [...kind.verbs].sort(),
  ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }), categories: ['identity'],
});

function subresources(registry: Registry): unknown[] {
  const byName = new Map<string, Action[]>();
  for (const action of registry.actions) {
    const name = `${action.of.resource}/${action.subresource}`;
    byName.set(name, [...(byName.get(name) ?? []), action]);
  }
  return [...byName].map(([name, actions]) => ({ name, singularName: '', namespaced: false, kind: actions[0]!.kind, verbs: actions.map(({ verb }) => verb).sort() }));
}

/** `/version`, in Kubernetes' style. */
export const versionInfo = (release: string) => ({
  major: '1', minor: '33', gitVersion: `v1.33.0+vestibule.${release}`, gitCommit: '', gitTreeState: 'clean', buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none', compiler: `node ${process.version}`, platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});
