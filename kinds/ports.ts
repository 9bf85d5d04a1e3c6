import type { KindObject, StagedWrites, Transaction } from '../registry/kind.js';
import type { SignInEvent } from '../registry/sign-in-event.js';
import type { Interaction } from './interaction/interaction.js';
import type { SignInMetrics } from './interaction/sign-in-metrics.js';
import type { ObjectOf } from '../registry/kind.js';
import type { PolicyCheckResult } from './policy/check-result.js';
import type { Impact, PolicyObject } from './policy/policy.js';
import type { PolicyFault } from './policy/fault.js';
import type { Scope } from './claims/scopes.js';
import type { SignOut } from './session/session.js';

/** An answer from outside, read whole and within its cap. */
export interface FetchAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** What the kind Policy needs of anyone who judges requests. */
export interface PolicyPort {
  /** Whether a text may be put in force; up to seconds. */
  check(text: string): Promise<PolicyCheckResult>;
  /**
   * Resolves once this replica judges by the policy, or a newer one; what its check warned of goes
   * into the log.
   */
  activate(policy: PolicyObject, warnings: readonly PolicyFault[]): Promise<void>;
  /** What recorded decisions would be under a text that was checked. */
  replay(text: string): Promise<Impact>;
}

/** What ends sessions, and, by Session name, which Clients are to be told and which cannot be. */
export type Ending = StagedWrites & { readonly signOut: ReadonlyMap<string, SignOut> };

declare module '../registry/kind.js' {
  interface Ports {
    /**
     * Hands the OpenID Connect library the result that the committed record states; may be
     * repeated. Resolves even when the library's side is gone.
     */
    finish(interaction: ObjectOf<typeof Interaction>): Promise<void>;
    /**
     * Adds the same to the transaction that makes the record state it; false where this request
     * cannot, so that it is to be finished when the record is read.
     */
    stageResult(interaction: ObjectOf<typeof Interaction>, tx: Transaction): Promise<boolean>;
    /**
     * What ends these library sessions (by Session name): their records, indexes, logout notices;
     * grants without offline_access follow.
     */
    endSessions(sessions: readonly KindObject[]): Promise<Ending>;
    /**
     * What deletes every library copy of these Grants (by Grant name), which alone ends their
     * tokens.
     */
    revokeGrants(grants: readonly string[]): Promise<StagedWrites>;
    /** Clears the session cookie of the browser that made this request. */
    forgetCookies(): void;
    /**
     * Whether the browser that made this request proves that someone signed in from it with this
     * address.
     */
    knowsBrowser(address: string): boolean;
    /** Lets that browser prove so later. */
    rememberBrowser(address: string): void;
    /** The one way out (docs/design/security.md#outgoing-requests). */
    fetch(
      url: string,
      init: { method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string },
    ): Promise<FetchAnswer>;
    /** The scopes there are, as they stand now. */
    scopes(): readonly Scope[];
    /**
     * What other services would share of these scopes, by scope: undefined where that could not be
     * fetched.
     */
    preview(
      interaction: ObjectOf<typeof Interaction>,
      scopes: readonly Scope[],
    ): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>> | undefined>>;
    /** The names of the Groups that list an address. */
    groupsOf(address: string): Promise<readonly string[]>;
    /** The policy's engine. */
    policy: PolicyPort;
    /** Tells those who watch over this service of something; never a secret, never an address. */
    audit(event: string, facts: Readonly<Record<string, unknown>>): void;
    /** Adds to what the audit log and the log say of the sign-in that this request tries. */
    noteSignIn(facts: SignInEvent): void;
    /** Where tries to sign in are counted. */
    signIns: SignInMetrics;
    /** A JWT by this service's first ES256 key. */
    sign(claims: Record<string, unknown>, typ?: string): Promise<string>;
  }
  interface Settings {
    /** The sender of all mail. */
    readonly emailFrom: string;
    /**
     * Addresses, lower case, that stand in for the members of Group `operators` while it lists
     * no one.
     */
    readonly operators: readonly string[];
    /** Ranges in CIDR notation that outgoing calls may reach besides public ones. */
    readonly allowPrivateNetwork: readonly string[];
    /**
     * The host that passkeys belong to (WebAuthn's relying party id): never another while there are
     * any.
     */
    readonly rpID: string;
    /** Mail is kept in MockMessages instead of being sent. */
    readonly mockMail: boolean;
    /** Devices and the command may be connected by device authorization (RFC 8628). */
    readonly deviceAuthorization: boolean;
  }
}
