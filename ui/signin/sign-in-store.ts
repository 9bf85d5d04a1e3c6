import type { Account, Interaction, PasskeyChallenge } from '../api.js';
import { call, ApiError } from '../base/api.js';
import { remainingMs } from '../base/clock.js';
import { loadLocale } from '../base/i18n.js';
import { t } from '../base/message.js';
import { untilReturn, watch } from '../base/watch.js';
import type { MessageID } from '../messages/catalog.js';
import { TabElection } from './tab-election.js';
import { blockedByAction, blockedByLink, blockedByRead, type Blocked } from './blocked.js';
import { problemOf, type SignInAction, type Problem } from './action-error.js';
import { shouldOfferSetup } from './setup-reminder.js';

/**
 * How a sign-in ended here: on its way to `returnTo`, done in another tab or before, or cancelled.
 */
type Ending = 'leaving' | 'done' | 'cancelled';

/** How long before its end a sign-in warns, in milliseconds. */
const warningMs = 300_000;

const failureOf = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  throw thrown;
};

/**
 * One sign-in as this page knows it: the Interaction last received, what is under way, and what
 * went wrong.
 */
export class SignInStore {
  readonly #path: string;
  readonly #election: TabElection;
  #unwatch: (() => void) | undefined;
  #actionCount = 0;
  #timers: ReturnType<typeof setTimeout>[] = [];
  interaction: Interaction | undefined;
  /** Of the emailed link that opened this page, until it is used or given up. */
  token: string | undefined;
  blocked: Blocked | undefined;
  problem: Problem | undefined;
  busy: SignInAction | undefined;
  ending: Ending | undefined;
  /** The person wants another address than the one the code went to. */
  changesEmail = false;
  /** This tab asks for what is missing on the account before it leaves. */
  setup = false;
  /** Signed in with a passkey that another device holds. */
  usedOtherDevice = false;
  /** Less than five minutes are left. */
  endsSoon = false;
  /** Settles when the person comes back to the page. */
  readonly untilReturn = untilReturn;
  /** Called whenever something here did. */
  changed: () => void = () => undefined;

  /** Nothing is fetched before `start`. */
  constructor(name: string, token: string | undefined) {
    this.#path = `interactions/${name}`;
    this.token = token;
    this.#election = new TabElection(name, !token, () => this.#canContinue());
  }

  /** Reads the interaction, again after an error page. */
  async start(): Promise<void> {
    this.blocked = undefined;
    try {
      await this.#receive(await call<Interaction>('GET', this.#path));
    } catch (thrown) {
      this.#block(blockedByRead(failureOf(thrown), Boolean(this.token)));
      await loadLocale();
    }
    this.changed();
  }

  /**
   * Sends an action and takes the Interaction it answers; while one is under way another is not
   * sent.
   */
  async act(action: SignInAction, body?: object): Promise<void> {
    if (this.busy) return;
    this.busy = action;
    this.problem = undefined;
    this.#actionCount += 1;
    this.changed();
    try {
      const path = action === 'cancel' ? this.#path : `${this.#path}/${action}`;
      const next = await call<Interaction>(action === 'cancel' ? 'DELETE' : 'POST', path, body);
      this.changesEmail = false;
      await this.#receive(next, true);
    } catch (thrown) {
      await this.#fail(action, failureOf(thrown));
    }
    this.busy = undefined;
    this.changed();
  }

  /** Saves what setup asked for (merge patch of the Account's spec), then goes on. */
  async save(spec: Account['spec']): Promise<void> {
    if (this.busy) return;
    this.busy = 'account';
    this.problem = undefined;
    this.changed();
    try {
      await call<Account>('PATCH', `${this.#path}/account`, { spec });
      this.leave();
    } catch (thrown) {
      await this.#fail('account', failureOf(thrown));
    }
    this.busy = undefined;
    this.changed();
  }

  /**
   * What the browser needs for a passkey; undefined, and the problem told unless `quietly`, where
   * it is refused.
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

  /** Adds a passkey while the account is set up; true once it is there. */
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

  /** Tells of what the browser could not do. */
  report(id: MessageID): void {
    this.problem = {
      action: 'passkey',
      failure: new ApiError(0),
      text: t(id),
      inField: false,
    };
    this.changed();
  }

  /** Follows `returnTo`, in place of this page; without one the sign-in is over here. */
  leave(): void {
    const { phase, returnTo } = this.interaction!.status;
    const target = returnTo && new URL(returnTo, location.origin);
    const ours = target && target.origin === location.origin;
    const ended = phase === 'Aborted' ? 'cancelled' : 'done';
    this.ending = ours ? 'leaving' : ended;
    if (ours) location.replace(target);
    this.changed();
  }

  /**
   * Shows the first view again: for another address, or instead of a link that is no longer good.
   */
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
    if (!over) this.#rewatch();
    else if (!this.ending)
      await this.#finish(
        acted,
        phase === 'Authenticated' && shouldOfferSetup(account, this.usedOtherDevice),
      );
  }

  /** What follows the end of a phase: in one tab only, setup and then `returnTo`. */
  async #finish(acted: boolean, setup: boolean): Promise<void> {
    this.#unwatch?.();
    this.problem = undefined;
    if (acted && !this.token) this.#election.claim();
    else if (!(await this.#election.elect())) this.ending = 'done';
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
      ? watch(this.#path, metadata.resourceVersion, () => this.#refresh())
      : undefined;
  }

  /**
   * Reads again in the background; an answer older than what the person did meanwhile is dropped.
   */
  async #refresh(): Promise<string | undefined> {
    const acts = this.#actionCount;
    try {
      const next = await call<Interaction>('GET', this.#path);
      if (acts !== this.#actionCount || this.busy)
        return this.interaction?.metadata.resourceVersion;
      const moved = next.status.phase !== this.interaction?.status.phase;
      if (moved) await this.#receive(next);
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
      if (link && next.status.phase === 'LoginRequired')
        return this.#block(blockedByLink(next, failure));
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
