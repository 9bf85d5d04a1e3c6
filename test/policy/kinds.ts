import { z } from 'zod';
import { defineKind } from '../../kinds/define-kind.js';
import { kinds as present, actions as served } from '../../kinds/index.js';
import { type Action, defineAction } from '../../registry/action.js';
import type { AnyKind, KindDefinition, Verb } from '../../registry/kind.js';

type Owner = KindDefinition<z.ZodTypeAny, z.ZodTypeAny, z.ZodTypeAny>['owner'];

/** A stand-in for a kind that is not there yet. */
const stand = (kind: string, resource: string, verbs: string, owner?: Owner): AnyKind =>
  defineKind({
    kind,
    resource,
    description: `${kind}.`,
    verbs: verbs.split(' ') as Verb[],
    spec: z.object({}),
    status: z.object({}),
    columns: {},
    ...(owner && { owner }),
  });

const coming: readonly AnyKind[] = [
  stand('Passkey', 'passkeys', 'get list watch create patch update delete', 'status.account'),
  stand('Policy', 'policies', 'get list watch create'),
  stand('PolicyDecision', 'policydecisions', 'get list watch', 'spec.account'),
  stand('ClaimsReview', 'claimsreviews', 'get list watch', 'spec.account'),
  stand('ClaimsProvider', 'claimsproviders', 'get list watch create patch update delete'),
  stand('Group', 'groups', 'get list watch create patch update delete'),
];

/** Verbs that the policy must know of kinds that offer less. */
const verbs: Record<string, string> = {
  Session: 'get list watch delete deletecollection',
  Account: 'get list watch patch update delete',
  Grant: 'get list watch patch update delete deletecollection',
};

/** Every kind, the real one where there is one, with all the verbs above. */
export const kinds: readonly AnyKind[] = [
  ...present.map((kind) =>
    verbs[kind.kind] ? { ...kind, verbs: verbs[kind.kind]!.split(' ') as Verb[] } : kind,
  ),
  ...coming.filter((kind) => !present.some((one) => one.kind === kind.kind)),
];

/** One of them by its name. */
export const kindOf = (name: string): AnyKind => kinds.find((kind) => kind.kind === name)!;

const act = (of: string, subresource: string): Action =>
  defineAction({
    of: kindOf(of),
    subresource,
    verb: 'create',
    kind: 'Any',
    description: `${subresource}.`,
    spec: z.object({}),
    run: async () => ({}),
  });

const missing = ['emailchallenge', 'email', 'passkeychallenge', 'disable', 'enable'].map((name) =>
  act('Account', name),
);

/** Every action, of the kinds above. */
export const actions: readonly Action[] = [
  ...served.map((action) => ({ ...action, of: kindOf(action.of.kind) })),
  ...[...missing, act('Interaction', 'passkeychallenge'), act('Interaction', 'passkeys')].filter(
    (one) =>
      !served.some(
        (action) => action.of.kind === one.of.kind && action.subresource === one.subresource,
      ),
  ),
];
