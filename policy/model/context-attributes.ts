import { emailAcr, phishingResistant } from '../../kinds/people/session/acr.js';
import { Method } from '../../kinds/people/session/session.js';
import type { AuthorizationRequest } from './authorization-request.js';
import type { CedarValue } from './cedar-value.js';
import { localTime, weekdays } from './local-time.js';

/** A context attribute that rules may use (docs/design/api.md#policy). */
export interface ContextAttribute {
  /** Its type in the published schema. */
  readonly type:
    | 'String'
    | 'Bool'
    | 'Long'
    | 'Set<String>'
    | 'Client'
    | 'datetime'
    | 'duration'
    | 'ipaddr';
  readonly description: string;
  /** All values that it, or a member of it, can have; absent if any text is possible. */
  readonly values?: readonly string[];
  /** True when the attribute may be absent; rules then test `context has` first. */
  readonly optional?: boolean;
  /** True when the value changes with time; decisions that depend on it are not cached. */
  readonly isTimeDependent?: boolean;
  /**
   * True when the value may differ between objects of a collection: the client and the sign-in of
   * an Interaction.
   */
  readonly isPerObject?: boolean;
  read(request: AuthorizationRequest): CedarValue | undefined;
  /** Returns the id of an attribute that is an entity. */
  id?(request: AuthorizationRequest): string | undefined;
}

const signInMethods = Method.options;
const acrs = ['', emailAcr, phishingResistant];

const entity = (type: string, id: string): CedarValue => ({ __entity: { type, id } });

/** All context attributes. */
export const contextAttributes: Readonly<Record<string, ContextAttribute>> = {
  acrRequested: {
    type: 'String',
    values: acrs,
    isPerObject: true,
    description:
      'The acr that the app requests: the weakest that satisfies acr_values and claims. ' +
      'An empty string if it requests none.',
    read: (request) => requireString(request.fact('acrRequested') ?? ''),
  },
  assurance: {
    type: 'String',
    values: acrs,
    isPerObject: true,
    description:
      'How strong the sign-in was: the acr that Clients receive, or an empty string. phr means a passkey that counts in full.',
    read: (request) => requireString(request.fact('assurance') ?? ''),
  },
  client: {
    type: 'Client',
    optional: true,
    isPerObject: true,
    description: 'The Client that a sign-in, a scope or the object is for.',
    read: (request) => {
      const name = clientNameOf(request);
      return name === undefined ? undefined : entity('Client', name);
    },
    id: clientNameOf,
  },
  domain: {
    type: 'String',
    description:
      'The domain of the person’s address, in lower case; never the address. An empty string if there is none.',
    read: (request) => requireString(request.facts?.domain ?? request.emailDomain),
  },
  invited: {
    type: 'Bool',
    description:
      'Whether a pending Invitation exists for the address of the person who signs in. True for signUp and signIn in the sign-in that accepts it, and false from then on.',
    read: (request) => request.fact('invited') === true,
  },
  metadataOnly: {
    type: 'Bool',
    description: 'Whether only metadata is requested, not whole objects.',
    read: (request) => request.fact('metadataOnly') === true,
  },
  method: {
    type: 'String',
    values: signInMethods,
    optional: true,
    description: 'The sign-in method that is about to be used: EmailCode, EmailLink or Passkey.',
    read: (request) => {
      const method = request.fact('method');
      return method === undefined ? undefined : requireString(method);
    },
  },
  methods: {
    type: 'Set<String>',
    values: signInMethods,
    isPerObject: true,
    description:
      'The methods the caller signed in with: EmailCode, EmailLink, Passkey. How the passkey was added is in assurance.',
    read: (request) => stringsOf(request, 'methods'),
  },
  network: {
    type: 'ipaddr',
    optional: true,
    description:
      'The network that the request comes from: an IPv4 address, or the /64 of an IPv6 address. ' +
      'Absent if an app sends the request, as for a refresh.',
    read: (request) => {
      const network = request.fact('network');
      if (request.isRecorded) throw new TypeError('the network of a request is not recorded');
      return network === undefined
        ? undefined
        : { __extn: { fn: 'ip', arg: requireString(network) } };
    },
  },
  newBrowser: {
    type: 'Bool',
    description:
      'Whether the person signs in from a browser that has not signed in to this account before. False beside a sign-in.',
    read: (request) => request.fact('newBrowser') === true,
  },
  now: {
    type: 'datetime',
    isTimeDependent: true,
    description: 'The time of the request.',
    read: ({ time }) => ({ __extn: { fn: 'datetime', arg: new Date(time).toISOString() } }),
  },
  operatorsHavePasskeys: {
    type: 'Bool',
    description:
      'Whether any member of Group operators has a passkey. Set for requests by operators; false for everyone else.',
    read: (request) => request.fact('operatorsHavePasskeys') === true,
  },
  operatorsHaveFullPasskeys: {
    type: 'Bool',
    description:
      'Whether one of those passkeys counts in full, so that an operator can sign in with assurance phr.',
    read: (request) => request.fact('operatorsHaveFullPasskeys') === true,
  },
  passkeys: {
    type: 'Long',
    optional: true,
    isPerObject: true,
    description:
      'How many passkeys the account has that makes the request, or that the sign-in or scope concerns.',
    read: (request) => {
      const count = request.fact('passkeys');
      return typeof count === 'number' ? count : undefined;
    },
  },
  scopesRequested: {
    type: 'Set<String>',
    isPerObject: true,
    description: 'The scopes that the app requests in a sign-in; empty elsewhere.',
    read: (request) => stringsOf(request, 'scopesRequested'),
  },
  signInAge: {
    type: 'Long',
    optional: true,
    isTimeDependent: true,
    isPerObject: true,
    description: 'Seconds since the caller last proved who they are.',
    read: (request) => {
      const authenticatedAt = request.fact('authenticated');
      return typeof authenticatedAt === 'number'
        ? Math.max(0, Math.floor(request.time / 1000) - authenticatedAt)
        : undefined;
    },
  },
  signedInRecently: {
    type: 'Bool',
    isPerObject: true,
    description:
      'Whether the caller last proved who they are as recently as limits.recentSignIn says, ten minutes unless set.',
    read: (request) => {
      const recentUntil = request.fact('recentUntil');
      return (
        request.fact('signedInRecently') === true ||
        (typeof recentUntil === 'number' && request.time / 1000 <= recentUntil)
      );
    },
  },
  site: {
    type: 'String',
    values: ['', 'same-origin', 'same-site', 'cross-site', 'none'],
    description:
      'The value of Sec-Fetch-Site: same-origin, same-site, cross-site or none; an empty string if absent.',
    read: (request) => requireString(request.fact('site') ?? ''),
  },
  timeOfDay: {
    type: 'duration',
    isTimeDependent: true,
    description: 'The time since midnight by the clock of the zone that policyTimeZone names.',
    read: (request) => ({ __extn: { fn: 'duration', arg: `${localTime(request).ms}ms` } }),
  },
  weekday: {
    type: 'String',
    values: weekdays,
    isTimeDependent: true,
    description: 'The day of the week in that zone: Monday, Tuesday and so on.',
    read: (request) => localTime(request).weekday,
  },
};

/** Returns the context attribute of a name; ignores inherited properties. */
export const findContextAttribute = (name: string): ContextAttribute | undefined =>
  Object.hasOwn(contextAttributes, name) ? contextAttributes[name] : undefined;

function requireString(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a context attribute is not a string');
  return value;
}

const stringsOf = (request: AuthorizationRequest, fact: string): string[] =>
  ((request.fact(fact) ?? []) as unknown[]).map(requireString);

function clientNameOf(request: AuthorizationRequest): string | undefined {
  const name = request.facts?.client ?? objectClient(request);
  return name === undefined ? undefined : requireString(name);
}

const objectClient = ({ object }: AuthorizationRequest): unknown => {
  const client = object?.spec?.client ?? object?.status?.client?.name;
  return typeof client === 'string' ? client : undefined;
};
