import { z } from 'zod';
import { type Action, defineAction } from '../../../registry/action.js';
import { clone } from '../../../registry/encoded-object.js';
import type { AnyKind, Call, KindObject } from '../../../registry/kind.js';
import { perMinute } from '../../../registry/limits/rate-limit.js';
import { apiVersion } from '../../api-version.js';
import { requireRecentAuthentication } from '../../signin/recent-sign-in.js';
import { Account } from './account.js';

/** Limits exports by client network, because one export may read many objects. */
const exportLimit = perMinute('export', 'exportsPerNetwork');

const AccountExport = z.object({
  apiVersion: z.literal('v1').describe('v1'),
  kind: z.literal('List').describe('List'),
  metadata: z.object({}).describe('Always empty.'),
  items: z
    .array(
      z.object({
        apiVersion: z.string().describe('Group and version.'),
        kind: z.string().describe('The kind.'),
        metadata: z.object({}).passthrough().describe('The metadata of the object.'),
        spec: z.object({}).passthrough().describe('The spec of the object.'),
        status: z.object({}).passthrough().describe('The status of the object.'),
      }),
    )
    .describe('The account, then every object that it owns.'),
});

/**
 * GET accounts/<name>/export: returns every stored object of an account in one document. Requires a
 * recent sign-in, by passkey if the account has one.
 */
export const exportAction = (kinds: readonly AnyKind[]): Action =>
  defineAction({
    of: Account,
    subresource: 'export',
    verb: 'get',
    kind: 'AccountExport',
    answers: { kind: 'AccountExport', schema: AccountExport },
    limit: exportLimit,
    description: 'Returns the account and every object that it owns.',
    async run(call, account) {
      const { name } = account.metadata;
      requireRecentAuthentication(call, Account, name, account.status.passkeys);
      const owned = kinds.filter(({ owner }) => owner && owner !== 'metadata.name');
      const lists = await Promise.all(
        owned.map(async (kind) =>
          (await call.store(kind).list(name)).map((object) => visibleObject(kind, object, call)),
        ),
      );
      return {
        apiVersion: 'v1',
        kind: 'List',
        metadata: {},
        items: [visibleObject(Account, account, call), ...lists.flat()],
      };
    },
  });

/** Returns an object as its owner reads it. */
function visibleObject(
  kind: AnyKind,
  object: KindObject,
  call: Call,
): z.infer<typeof AccountExport>['items'][number] {
  const copy = clone(object);
  kind.strategy.status?.(copy, call);
  const { metadata, spec, status } = copy;
  return { apiVersion, kind: kind.kind, metadata: { ...metadata }, spec, status };
}
