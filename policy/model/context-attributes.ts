import type { AuthorizationRequest } from './authorization-request.js';

/** A value in Cedar's JSON form. */
export type CedarValue =
  | boolean
  | number
  | string
  | CedarValue[]
  | { __entity: { type: string; id: string } }
  | { __extn: { fn: string; arg: string } };

/**
 * One attribute of the context: what rules may ask of a request besides who, what and on what
 * (docs/design/api.md#policy).
 */
export interface ContextAttribute {
  /** Its type in the published schema. */
  readonly type: 'String' | 'Bool' | 'Long' | 'Set<String>' | 'Client' | 'datetime';
  readonly description: string;
  /** Not always there: rules test `context has` first. */
  readonly optional?: boolean;
  /** Changes by itself: what mentions it is not remembered. */
  readonly moves?: boolean;
  /**
   * May be another for each object of a collection: what an Interaction is for, and how its browser
   * has signed in.
   */
  readonly ofObject?: boolean;
  read(asked: AuthorizationRequest): CedarValue | undefined;
  /** Where it is an entity, its id. */
  id?(asked: AuthorizationRequest): string | undefined;
}

const entity = (type: string, id: string): CedarValue => ({ __entity: { type, id } });

/** Everything that the context may hold. */
export const facts: Readonly<Record<string, ContextAttribute>> = {
  assurance: {
    type: 'String',
    ofObject: true,
    description:
      'How strong the sign-in was: the acr that Clients are told, or nothing. phr is a passkey that counts in full.',
    read: (asked) => text(asked.fact('assurance') ?? ''),
  },
  client: {
    type: 'Client',
    optional: true,
    ofObject: true,
    description: 'The Client that a sign-in, a scope or the object is for.',
    read: (asked) => {
      const name = clientNamed(asked);
      return name === undefined ? undefined : entity('Client', name);
    },
    id: clientNamed,
  },
  domain: {
    type: 'String',
    description:
      'The domain of the person’s address, in lower case; never the address. Nothing where there is none.',
    read: (asked) => text(asked.given?.domain ?? domainOf(asked)),
  },
  metadataOnly: {
    type: 'Bool',
    description: 'Only metadata is asked for, not whole objects.',
    read: (asked) => asked.fact('metadataOnly') === true,
  },
  method: {
    type: 'String',
    optional: true,
    description: 'The way to sign in that is about to be used: EmailCode, EmailLink or Passkey.',
    read: (asked) => {
      const method = asked.fact('method');
      return method === undefined ? undefined : text(method);
    },
  },
  methods: {
    type: 'Set<String>',
    ofObject: true,
    description:
      'The ways the caller signed in by: EmailCode, EmailLink, Passkey. Passkey says nothing of how that passkey was added: see assurance.',
    read: (asked) => ((asked.fact('methods') ?? []) as unknown[]).map(text),
  },
  now: {
    type: 'datetime',
    moves: true,
    description: 'The time of the request.',
    read: ({ time }) => ({ __extn: { fn: 'datetime', arg: new Date(time).toISOString() } }),
  },
  operatorsHavePasskeys: {
    type: 'Bool',
    description:
      'Whether any member of Group operators has a passkey. Known where an operator asks; false for everybody else.',
    read: (asked) => asked.fact('operatorsHavePasskeys') === true,
  },
  operatorsHaveFullPasskeys: {
    type: 'Bool',
    description:
      'Whether one of those passkeys counts in full, so that an operator can sign in with assurance phr.',
    read: (asked) => asked.fact('operatorsHaveFullPasskeys') === true,
  },
  passkeys: {
    type: 'Long',
    optional: true,
    ofObject: true,
    description:
      'How many passkeys the account has that asks, or that a sign-in or a scope is about.',
    read: (asked) => {
      const count = asked.fact('passkeys');
      return typeof count === 'number' ? count : undefined;
    },
  },
  signInAge: {
    type: 'Long',
    optional: true,
    moves: true,
    ofObject: true,
    description: 'Seconds since the caller last proved who they are.',
    read: (asked) => {
      const at = asked.fact('authenticated');
      return typeof at === 'number' ? Math.max(0, Math.floor(asked.time / 1000) - at) : undefined;
    },
  },
  signedInRecently: {
    type: 'Bool',
    ofObject: true,
    description:
      'Whether the caller last proved who they are as recently as limits.recentSignIn says, ten minutes unless set.',
    read: (asked) => {
      const until = asked.fact('recentUntil');
      return (
        asked.fact('signedInRecently') === true ||
        (typeof until === 'number' && asked.time / 1000 <= until)
      );
    },
  },
  site: {
    type: 'String',
    description:
      'Where a browser says the request comes from: same-origin, same-site, cross-site or none; nothing for others.',
    read: (asked) => text(asked.fact('site') ?? ''),
  },
};

/** The fact of that name, if there is one; never what every object inherits. */
export const factNamed = (name: string): ContextAttribute | undefined =>
  Object.hasOwn(facts, name) ? facts[name] : undefined;

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a fact that should be text is not');
  return value;
}

function clientNamed(asked: AuthorizationRequest): string | undefined {
  const name = asked.given?.client ?? clientOf(asked);
  return name === undefined ? undefined : text(name);
}

const clientOf = ({ object }: AuthorizationRequest): unknown => {
  const client = object?.spec?.client ?? object?.status?.client?.name;
  return typeof client === 'string' ? client : undefined;
};

const domainOf = ({ question: { caller } }: AuthorizationRequest): string =>
  caller.type === 'Account' ? caller.email.slice(caller.email.lastIndexOf('@') + 1) : '';
