import type { Account, Interaction, PasskeyChallenge } from '../../api.js';
import { call, ApiError } from '../../base/api/api.js';
import { remainingMs } from '../../base/api/clock.js';
import { loadLocale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import { untilReturn, watch } from '../../base/api/watch.js';
import type { MessageID } from '../../messages/catalog.js';
import { TabElection } from './tab-election.js';
import { blockedByAction, blockedByLink, blockedByRead, type Blocked } from './blocked.js';
import { problemOf, type SignInAction, type Problem } from './action-error.js';
import { shouldOfferSetup } from './setup-reminder.js';

/** How a sign-in ended: returning to `returnTo`, done in another tab or earlier, or cancelled. */
type Ending = 'leaving' | 'done' | 'cancelled';

/** Milliseconds before its end at which a sign-in warns. */
const warningMs = 300_000;

const failureOf = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  throw thrown;
};

/**
 * One sign-in on this page: the Interaction last received, the pending action and the last error.
 */
export class SignInStore {
  readonly #path: string;
  readonly #election: TabElection;
  #unwatch: (() => void) | undefined;
  #actionCount = 0;
  #timers: ReturnType<typeof setTimeout>[] = [];
  interaction: Interaction | undefined;
  /** The token of the emailed link that opened this page, until it is used or given up. */
  token: string | undefined;
  blocked: Blocked | undefined;
  problem: Problem | undefined;
  busy: SignInAction | undefined;
  ending: Ending | undefined;
  /** The person asked to use another email address. */
  changesEmail = false;
  /** This tab shows setup before it leaves. */
  setup = false;
  /** The person signed in with a passkey from another device. */
  usedOtherDevice = false;
  /** Who has signed in in another tab, and whether nothing was typed in this one. */
  signedIn: { email: string; isUnused: boolean } | undefined;
  /** Called before the Interaction is shown for the first time. */
  prepare: (next: Interaction) => Promise<void> = async () => undefined;
  /** The person chose to sign in here, and is not asked again. */
  stays = false;
  /** Called when this tab leaves after a sign-in. */
  left: () => void = () => undefined;
  /** Less than five minutes remain. */
  endsSoon = false;
  /** Resolves when the person returns to the page. */
  readonly untilReturn = untilReturn;
  /** Called after every change. */
  changed: () => void = () => undefined;

  #challengeCount = 0;

  /** Requests nothing until `start`. */
  constructor(name: string, token: string | undefined) {
    this.#path = `interactions/${name}`;
    this.token = token;
    this.#election = new TabElection(name, !token, () => this.#canContinue());
  }

  /** Reads the interaction, also after an error page. */
  async start(): Promise<void> {
    this.blocked = undefined;
    try {
      const next = await call<Interaction>('GET', this.#path);
      await this.prepare(next);
      await this.#receive(next);
    } catch (thrown) {
      this.#block(blockedByRead(failureOf(thrown), Boolean(this.token)));
      await loadLocale();
    }
    this.changed();
  }

  /**
   * Changes with each new code. Timestamps have whole seconds, so the codes that this page requested
   * count as well.
   */
  get challengeKey(): string {
    return `${this.interaction?.status.emailChallenge?.sentTimestamp} ${this.#challengeCount}`;
  }

  /** Performs an action and receives the Interaction in the response. */
  act(action: SignInAction, body?: object): Promise<void> {
    return this.#perform(action, async () => {
      const path = action === 'cancel' ? this.#path : `${this.#path}/${action}`;
      const next = await call<Interaction>(action === 'cancel' ? 'DELETE' : 'POST', path, body);
      this.changesEmail = false;
      if (action === 'emailchallenge') this.#challengeCount += 1;
      await this.#receive(next, true);
    });
  }

  /** Saves the input of setup as a merge patch of the Account's spec, then leaves. */
  save(spec: Account['spec']): Promise<void> {
    return this.#perform('account', async () => {
      await call<Account>('PATCH', `${this.#path}/account`, { spec });
      this.leave();
    });
  }

  /** Does the work of an action, unless another one is pending. */
  async #perform(action: SignInAction, work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = action;
    this.problem = undefined;
    this.#actionCount += 1;
    this.changed();
    try {
      await work();
    } catch (thrown) {
      await this.#fail(action, failureOf(thrown));
    }
    this.busy = undefined;
    this.changed();
  }

  /**
   * Returns the WebAuthn options, or undefined if the API refuses. Reports the refusal unless
   * `quietly`.
   */
  async challenge<Options>(
    purpose: 'Authenticate' | 'Register',
    quietly = false,
  ): Promise<Options | undefined> {
    try {
      return (
        await call<PasskeyChallenge<Options>>('POST', `${this.#path}/passkeychallenge`, {
          spec: { purpose },
        })
      ).status.options;
    } catch (thrown) {
      if (!quietly) await this.#fail('passkey', failureOf(thrown));
      this.changed();
      return undefined;
    }
  }

  /** Adds a passkey during setup. Returns true if it was added. */
  async addPasskey(credential: object): Promise<boolean> {
    try {
      await call('POST', `${this.#path}/passkeys`, { spec: { credential } });
      return true;
    } catch (thrown) {
      await this.#fail('passkey', failureOf(thrown));
      this.changed();
      return false;
    }
  }

  /** Reports an error of the browser, or in a field before anything is sent. */
  report(id: MessageID, action: SignInAction = 'passkey'): void {
    const inField = action !== 'passkey';
    this.problem = { action, failure: new ApiError(0), text: t(id), inField };
    this.changed();
  }

  /** Replaces this page with `returnTo`. Without one, the sign-in ends here. */
  leave(): void {
    const { phase, returnTo } = this.interaction!.status;
    const target = returnTo && new URL(returnTo, location.origin);
    const ours = target && target.origin === location.origin;
    const ended = phase === 'Aborted' ? 'cancelled' : 'done';
    this.ending = ours ? 'leaving' : ended;
    if (ours) location.replace(target);
    if (phase === 'Authenticated') this.left();
    this.changed();
  }

  /** True while the person is asked to sign in here, and nothing is pending. */
  get isWaiting(): boolean {
    const { interaction, blocked, busy, token, ending, signedIn } = this;
    const over = blocked ?? busy ?? token ?? ending ?? signedIn;
    return !over && interaction?.status.phase === 'LoginRequired';
  }

  /** Offers to go on as the person who signed in in another tab. */
  offer(signedIn: { email: string; isUnused: boolean }): void {
    this.signedIn = signedIn;
    this.changed();
  }

  /** Signs in here, although another tab has signed in. */
  stay(): void {
    this.signedIn = undefined;
    this.stays = true;
    this.changed();
  }

  /** Goes on with the session of another tab. */
  resume(): void {
    this.ending = 'leaving';
    location.replace(this.interaction!.status.resumeTo!);
    this.changed();
  }

  /** Leaves once more, since the app did not open. `returnTo` works once: without one, this is the end. */
  async leaveAgain(): Promise<void> {
    const next = await call<Interaction>('GET', this.#path).catch(failureOf);
    if (next instanceof ApiError) {
      this.#block(blockedByRead(next, false));
    } else {
      this.interaction = next;
    }
    if (!this.blocked) this.leave();
    this.changed();
  }

  /** Shows the first view again, for another address or after a link that is no longer valid. */
  restart(): void {
    const replaced = this.blocked?.kind === 'linkreplaced';
    this.token = this.blocked = this.problem = undefined;
    this.changesEmail = !replaced;
    this.#rewatch();
    this.changed();
  }

  #canContinue(): boolean {
    return Boolean(this.interaction) && !this.blocked && this.ending !== 'done';
  }

  async #receive(next: Interaction, acted = false): Promise<void> {
    const first = !this.interaction;
    this.interaction = next;
    if (first) await loadLocale(next.spec.locales);
    this.#schedule(remainingMs(next.status.expirationTimestamp));
    const { phase, account } = next.status;
    const over = phase === 'Authenticated' || phase === 'Completed' || phase === 'Aborted';
    if (!over) {
      this.#rewatch();
    } else if (!this.ending) {
      await this.#finish(
        acted,
        phase === 'Authenticated' && shouldOfferSetup(account, this.usedOtherDevice),
      );
    }
  }

  /** Ends a phase: one tab alone shows setup and then follows `returnTo`. */
  async #finish(acted: boolean, setup: boolean): Promise<void> {
    this.#unwatch?.();
    this.problem = undefined;
    if (acted && !this.token) {
      this.#election.claim();
    } else if (!(await this.#election.elect())) {
      this.ending = 'done';
    }
    this.token = undefined;
    this.setup = setup;
    if (!setup && !this.ending) this.leave();
  }

  #rewatch(): void {
    this.#unwatch?.();
    const { status, metadata } = this.interaction!;
    const canChange =
      status.phase === 'ConsentRequired' ||
      (status.phase === 'LoginRequired' && status.emailChallenge && !this.token);
    this.#unwatch = canChange
      ? watch(this.#path, metadata.resourceVersion, () => this.refresh())
      : undefined;
  }

  /**
   * Reads again in the background. Drops a response that is older than the person's last action.
   */
  async refresh(): Promise<string | undefined> {
    const acts = this.#actionCount;
    try {
      const next = await call<Interaction>('GET', this.#path);
      if (acts !== this.#actionCount || this.busy) {
        return this.interaction?.metadata.resourceVersion;
      }
      const moved = next.status.phase !== this.interaction?.status.phase;
      if (moved) {
        await this.#receive(next);
      } else {
        this.#schedule(remainingMs(next.status.expirationTimestamp));
      }
      this.interaction = next;
      this.changed();
      return next.metadata.resourceVersion;
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.code === 404 || failure.code === 410) this.#block(blockedByRead(failure, false));
      this.changed();
      return undefined;
    }
  }

  async #fail(action: SignInAction, failure: ApiError): Promise<undefined> {
    const link = action === 'login' && Boolean(this.token);
    if (failure.code === 409 || failure.code === 410) {
      const next = await call<Interaction>('GET', this.#path).catch(failureOf);
      if (next instanceof ApiError) return this.#block(blockedByRead(next, link));
      await this.#receive(next);
      if (link && next.status.phase === 'LoginRequired') {
        return this.#block(blockedByLink(next, failure));
      }
      if (failure.code === 409 || next.status.phase !== 'LoginRequired') return undefined;
    }
    this.blocked = blockedByAction(failure, link);
    if (!this.blocked) this.problem = problemOf(action, failure, this.interaction!);
    return undefined;
  }

  #block(blocked: Blocked): undefined {
    this.blocked = blocked;
    this.#unwatch?.();
  }

  #schedule(left: number): void {
    this.#timers.forEach(clearTimeout);
    const schedule = (delay: number, work: () => void) =>
      setTimeout(
        () => {
          work();
          this.changed();
        },
        Math.max(0, delay),
      );
    this.endsSoon = left < warningMs;
    this.#timers = [
      schedule(left - warningMs, () => {
        this.endsSoon = true;
      }),
      schedule(left, () => {
        if (!this.ending) this.#block({ kind: 'over' });
      }),
    ];
  }
}
