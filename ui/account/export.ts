import type { Account, ObjectMeta } from '../api.js';
import { call, Failure } from '../base/api.js';
import { readAll } from '../base/collection.js';
import { owned } from './me.js';

interface Thing { readonly metadata: ObjectMeta }

/** Collections with what an account owns, and the field that says whose it is. */
const collections = [['passkeys', 'status.account'], ['sessions', 'status.account'], ['grants', 'status.account'], ['policydecisions', 'spec.account'], ['claimsreviews', 'spec.account']] as const;

/** Everything of an account as the API gives it, as one List; `missing` names what could not be read. */
export interface Export { readonly list: { apiVersion: 'v1'; kind: 'List'; metadata: object; items: readonly Thing[] }; readonly missing: readonly string[] }

/** Reads everything that the API keeps about the account. */
export async function gather(account: Account): Promise<Export> {
  const missing: string[] = [];
  const items: Thing[] = [await call<Account>('GET', 'accounts/~')];
  for (const [collection, field] of collections) {
    try {
      items.push(...(await readAll<Thing>(collection, owned(account, field))).held.values());
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.code === 401) throw thrown;
      missing.push(collection);
    }
  }
  return { list: { apiVersion: 'v1', kind: 'List', metadata: {}, items }, missing };
}

/** Has the browser save an object as a file. The address of it is good in this page alone, and only until the file is saved. */
export function download(object: object, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${JSON.stringify(object, null, 2)}\n`], { type: 'application/json' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
