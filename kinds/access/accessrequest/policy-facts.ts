import type { EntityFacts } from '../../../registry/authorizer.js';

/** The facts about an AccessRequest that rules may use. */
export interface AccessRequestFacts {
  readonly group: string;
}

/** Returns the facts about an AccessRequest. */
export const accessRequestFacts = ({
  spec,
}: {
  readonly spec: AccessRequestFacts;
}): AccessRequestFacts & EntityFacts => ({ group: spec.group });
