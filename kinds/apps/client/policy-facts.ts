import type { EntityFacts } from '../../../registry/authorizer.js';
import type { Condition } from '../../../registry/schema/conditions.js';
import { documentURL } from './document-url.js';

/** The facts about a Client that rules may use. */
export interface ClientFacts {
  readonly firstParty: boolean;
  readonly type: string;
  readonly host: string;
  readonly groups: readonly string[];
  /** The types of its conditions that are true. */
  readonly conditions: readonly string[];
}

/** The parts of a Client that its facts come from. */
interface ClientParts {
  readonly spec: {
    readonly firstParty: boolean;
    readonly type: string;
    readonly homepageURI?: string | undefined;
    readonly initiateLoginURI?: string | undefined;
    readonly redirectURIs: readonly string[];
    readonly groups?: readonly string[] | undefined;
  };
  readonly status: { readonly conditions?: readonly Condition[] | undefined };
}

/** Returns the facts about a Client. */
export function clientFacts({ spec, status }: ClientParts): ClientFacts & EntityFacts {
  const conditions = (status.conditions ?? []).filter((condition) => condition.status === 'True');
  return {
    firstParty: spec.firstParty,
    type: spec.type,
    host: hostOf(spec.homepageURI ?? spec.initiateLoginURI ?? spec.redirectURIs[0]),
    groups: spec.groups ?? [],
    conditions: conditions.map(({ type }) => type),
  };
}

/**
 * Returns the facts about a Client with a metadata document; undefined for any other `client_id`. They
 * come from its URL alone: anyone can write anything into the document.
 */
export function documentFacts(clientID: string): (ClientFacts & EntityFacts) | undefined {
  const url = documentURL(clientID);
  return (
    url && {
      firstParty: false,
      type: 'Public',
      host: url.host,
      groups: [],
      conditions: ['Ready', 'PKCERequired'],
    }
  );
}

const hostOf = (address: string | undefined): string =>
  address !== undefined && URL.canParse(address) ? new URL(address).hostname : '';
