import type { Call, ObjectOf } from '../../registry/kind.js';
import type { Account } from '../account.js';
import { canonical } from '../address.js';
import { claimsOf } from '../assurance.js';
import type { Method, Session } from '../session.js';

/** How somebody signed in, as policy sees it. */
interface SignedIn { readonly methods: readonly string[]; readonly assurance: string; readonly authenticated: number }

/** What policy is told of the person whose sign-in a browser carries on: never the address, but its domain. */
export function personFacts({ settings }: Pick<Call, 'settings'>, account: string | undefined, address: string, signedIn: SignedIn): Record<string, unknown> {
  const email = canonical(address);
  return { ...(account !== undefined && { account }), domain: email.slice(email.lastIndexOf('@') + 1), operator: settings.operators.includes(email), ...signedIn };
}

/** The same of the person of a live session. */
export const sessionFacts = (call: Pick<Call, 'settings'>, { metadata, status }: ObjectOf<typeof Account>, session: ObjectOf<typeof Session>): Record<string, unknown> =>
  personFacts(call, metadata.name, status.email.address, { methods: session.status.methods, assurance: session.status.assurance, authenticated: session.internal.loginSeconds });

/** A sign-in just made. */
export const signedInNow = (method: Method, now: number): SignedIn => ({ methods: [method], assurance: claimsOf[method].acr, authenticated: Math.floor(now / 1000) });
