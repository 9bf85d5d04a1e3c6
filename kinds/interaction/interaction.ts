import { conflict } from '../../registry/status/status.js';
import { defineKind } from '../define-kind.js';
import { naming } from '../signin/interaction-naming.js';
import { decorateInteraction } from './decorate.js';
import { assertNotExpired } from './preconditions.js';
import {
  InteractionInternal,
  InteractionSpec,
  InteractionStatus,
  recordExpiresAt,
} from './schema.js';

export { type InteractionObject } from './schema.js';

/**
 * A sign-in in progress; bound to the browser that started it (docs/design/api.md#interactions,
 * docs/design/provider.md#a-sign-in-is-two-interactions).
 */
export const Interaction = defineKind({
  kind: naming.kind,
  resource: naming.resource,
  heldBy: naming.heldBy,
  names: {
    v1alpha1: {
      'status.client.privacyPolicyURI': 'policyURI',
      'status.client.termsOfServiceURI': 'termsURI',
    },
  },
  nameSource: 'service',
  bodyLimit: 64 << 10,
  description: 'A sign-in in progress.',
  verbs: ['get', 'list', 'watch', 'delete'],
  spec: InteractionSpec,
  status: InteractionStatus,
  internal: InteractionInternal,
  unique: { link: ({ internal }) => internal.email?.link },
  expires: ({ internal }) => recordExpiresAt(internal),
  selectableFields: {
    'spec.client': ({ spec }) => spec.client,
    'status.phase': ({ status }) => status.phase,
  },
  columns: { Phase: ({ status }) => status.phase, Client: ({ spec }) => spec.client },
  strategy: {
    decorate: decorateInteraction,
    /**
     * Cancels the sign-in. The Client receives `access_denied` when the browser follows returnTo.
     */
    async beginDelete(tx, old, call) {
      await tx.update(Interaction, old.metadata.name, (next) => {
        assertNotExpired(next, call);
        if (
          next.status.phase === 'Completed' ||
          next.status.phase === 'Aborted' ||
          next.internal.returnTo === undefined
        ) {
          throw conflict(Interaction, next.metadata.name, `it is already ${next.status.phase}`);
        }
        next.status.phase = 'Aborted';
        delete next.status.emailChallenge;
        next.internal.aborted = 'Declined';
      });
    },
  },
});
