import type { Call, KindObject, ObjectOf, StagedWrites, Transaction } from '../registry/kind.js';
import type { SignInEvent } from '../registry/sign-in-event.js';
import type { NameFallback } from './apps/claims/name-fallback.js';
import type { Scope } from './apps/claims/scopes.js';
import type { Interaction } from './interaction/interaction.js';
import type { SignInMetrics } from './interaction/sign-in-metrics.js';
import type { SignOut } from './people/session/session.js';
import type { PolicyCheckResult } from './policy/check-result.js';
import type { PolicyFault } from './policy/fault.js';
import type { Impact, PolicyObject } from './policy/policy.js';

/** A response to an outgoing request; its body is complete and within the size limit. */
export interface FetchResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** What the kind Policy needs from the policy engine. */
export interface PolicyPort {
  /** Checks whether a policy text may become active; takes up to seconds. */
  check(text: string): Promise<PolicyCheckResult>;
  /**
   * Resolves once this replica evaluates this policy or a newer one; logs the warnings of its
   * check.
   */
  activate(policy: PolicyObject, warnings: readonly PolicyFault[]): Promise<void>;
  /** Replays recorded decisions with a checked text and returns the differences. */
  replay(text: string): Promise<Impact>;
}

/** The writes that end sessions and, by Session name, the logout notifications of each. */
export type StagedSessionEnd = StagedWrites & { readonly signOut: ReadonlyMap<string, SignOut> };

declare module '../registry/kind.js' {
  interface Ports {
    /**
     * Returns the writes that end these sessions: library records, indexes and logout notices.
     * Grants without offline_access end with them.
     */
    endSessions(sessions: readonly KindObject[]): Promise<StagedSessionEnd>;
    /**
     * Ends the sign-ins under way of an account and what the command holds of it, in this commit
     * (docs/design/security.md#taking-an-account-back).
     */
    endSignInsUnderWay(tx: Transaction, call: Pick<Call, 'now'>, account: string): Promise<void>;
    /**
     * Returns the writes that delete every library copy of these Grants (by name), which
     * invalidates their tokens.
     */
    revokeGrants(grants: readonly string[]): Promise<StagedWrites>;
    /** Clears the session cookie of the browser that made this request. */
    clearSessionCookie(): void;
    /** Returns true if someone signed in with the address from this request's browser before. */
    knowsBrowser(address: string): boolean;
    /** Whether the request has the signed cookie of a session, which may have ended. */
    hasSessionCookie(): boolean;
    /** Remembers that someone signed in with the address from this browser. */
    rememberBrowser(address: string): void;
    /** Sends an outgoing request (docs/design/security.md#outgoing-requests). */
    fetch(
      url: string,
      init: { method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string },
    ): Promise<FetchResponse>;
    /** Returns the current scopes. */
    scopes(): readonly Scope[];
    /**
     * Returns the values that claims providers would share, by scope; undefined for scopes that
     * could not be fetched.
     */
    preview(
      interaction: ObjectOf<typeof Interaction>,
      scopes: readonly Scope[],
    ): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>> | undefined>>;
    /** Returns the names of the Groups that list an address. */
    groupsOf(address: string): Promise<readonly string[]>;
    /** Returns the fields of a Client's status that say what its program was seen to do. */
    clientReport(client: string, uid: string): Promise<object>;
    /** The policy engine. */
    policy: PolicyPort;
    /** Logs a security event for operators; `facts` must not contain secrets or addresses. */
    audit(event: string, facts: Readonly<Record<string, unknown>>): void;
    /** Adds facts about this request's sign-in attempt to the audit log and the log. */
    noteSignIn(facts: SignInEvent): void;
    /** Counts sign-in attempts. */
    signIns: SignInMetrics;
    /** Returns a JWT signed with the first ES256 key. */
    sign(claims: Record<string, unknown>, typ?: string): Promise<string>;
  }
  interface Settings {
    /** The sender of all mail. */
    readonly emailFrom: string;
    /** Addresses in lower case that count as members of Group `operators` while it is empty. */
    readonly operators: readonly string[];
    /** CIDR ranges that outgoing requests may reach in addition to public addresses. */
    readonly allowPrivateNetwork: readonly string[];
    /** The relying party ID of passkeys (WebAuthn). It must not change while passkeys exist. */
    readonly rpID: string;
    /** True if mail is stored in MockMessages instead of being sent. */
    readonly mockMail: boolean;
    /** True if devices and the command can be connected by device authorization (RFC 8628). */
    readonly deviceAuthorization: boolean;
    /** Whether redirect URIs may be http in private networks. */
    readonly allowPrivateHTTPRedirects: boolean;
    /** What apps get as the name of a person who filled in none. */
    readonly nameFallback: NameFallback;
  }
}
