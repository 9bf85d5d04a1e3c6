import { defineAction } from '../../registry/action.js';
import { notFound } from '../../registry/status/status.js';
import { PolicyDecision } from '../policy/policy-decision.js';
import { Interaction } from './interaction.js';

/**
 * GET decision: returns the decision that refused the last sign-up in this browser. An account
 * reads its decisions itself, but a refused sign-up has no account. A decision that is part of a
 * series is not shown.
 */
export const readDecision = defineAction({
  of: Interaction,
  subresource: 'decision',
  verb: 'get',
  kind: 'PolicyDecision',
  answers: PolicyDecision,
  description: 'Returns the decision that refused the sign-up.',
  async run(call, { internal, metadata }) {
    const decision =
      internal.refusedBy === undefined
        ? undefined
        : await call.store(PolicyDecision).get(internal.refusedBy);
    if (decision?.spec.input.caller.name !== metadata.name) {
      throw notFound(PolicyDecision, internal.refusedBy ?? '');
    }
    return decision;
  },
});
