import { defineAction } from '../../registry/action.js';
import { notFound } from '../../registry/status.js';
import { PolicyDecision } from '../policy/policy-decision.js';
import { Interaction } from './interaction.js';

/**
 * GET decision: why policy refused the sign-up that this browser tried last; an account could read
 * it by itself, and there is none. What is counted together with others is not shown.
 */
export const readDecision = defineAction({
  of: Interaction,
  subresource: 'decision',
  verb: 'get',
  kind: 'PolicyDecision',
  answers: PolicyDecision,
  description: 'The decision by which the sign-up was refused.',
  async run(call, { internal, metadata }) {
    const decision =
      internal.refusedBy === undefined
        ? undefined
        : await call.store(PolicyDecision).get(internal.refusedBy);
    if (decision?.spec.input.caller.name !== metadata.name)
      throw notFound(PolicyDecision, internal.refusedBy ?? '');
    return decision;
  },
});
