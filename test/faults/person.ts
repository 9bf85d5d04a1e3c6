import { randomBytes } from 'node:crypto';
import { authorizationPath, wrong } from '../support/people/signin.js';
import { type Answer, type Init, type Pending, Tab } from '../support/people/tab.js';
import type { Chance } from './chance.js';
import type { Mailbox } from './mailbox.js';
import type { Served } from './served.js';

/** What people do depends on. */
export interface World {
  readonly served: Served;
  readonly mailbox: Mailbox;
  /** Called for every request as it is sent. */
  sent(): void;
}

/** What one browser has seen of one interaction; it must never find an earlier state. */
export interface Witnessed {
  readonly tab: Tab;
  readonly path: string;
  phase: string;
  triesLeft: number;
  code?: string;
}

/** What was issued, as far as it was acknowledged, for which code and when (ms). */
export interface Tokens {
  readonly access: string;
  readonly refresh?: string;
  readonly code: string;
  readonly verifier: string;
  readonly redeemed: number;
}

type Outcome = Answer | 'cut';
const order = ['LoginRequired', 'ConsentRequired', 'Authenticated', 'Completed'];
const cuts = new Set(['ECONNRESET', 'EPIPE']);

/**
 * A browser in a /24 of its own, as a trusted proxy says: limits by network do not stand in the
 * way.
 */
class Neighbour extends Tab {
  readonly #network: string;

  constructor({ url, baseURL }: Served, number: number) {
    super(url, baseURL);
    this.#network = `198.${18 + Math.floor(number / 250)}.${number % 250}.1`;
  }

  override send<T = any>(method: string, path: string, init: Init = {}): Pending<T> {
    return super.send<T>(method, path, {
      ...init,
      headers: { ...init.headers, 'x-forwarded-for': this.#network },
    });
  }
}

/** The attempt cannot go on, because an answer was lost; a new one begins. */
class Again extends Error {}

/**
 * A person who signs in however often the service dies, and remembers everything it acknowledged. A
 * fault of the service is thrown.
 */
export class Person {
  readonly address: string;
  readonly displayName: string;
  readonly offline: boolean;
  readonly witnessed: Witnessed[] = [];
  readonly accounts = new Set<string>();
  readonly spentRefresh: string[] = [];
  tokens: Tokens | undefined;
  named = false;
  cuts = 0;
  mailsLost = 0;
  readonly #world: World;
  readonly #number: number;
  readonly #wrongs: number;
  #tab: Tab;

  constructor(world: World, number: number, chance: Chance) {
    this.#world = world;
    this.#number = number;
    this.address = `person${number}@example.test`;
    this.displayName = `Person ${number}`;
    this.#wrongs = chance.between(0, 3);
    this.offline = chance.next() < 0.3;
    this.#tab = this.#newTab();
  }

  /**
   * Signs in, from the Client to its tokens, beginning again wherever a lost answer leaves no other
   * way.
   */
  async signIn(): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      try {
        return await this.#attempt();
      } catch (error) {
        if (!(error instanceof Again)) throw error;
      }
    }
    throw new Error(`${this.address} never got through`);
  }

  async #attempt(): Promise<void> {
    const verifier = randomBytes(32).toString('base64url');
    const scope = this.offline ? 'openid email profile offline_access' : 'openid email profile';
    let to = await this.#lead(
      await this.#orAgain(() =>
        this.#tab.navigate(
          authorizationPath('app', scope, verifier, this.offline ? { prompt: 'consent' } : {}),
        ),
      ),
    );
    while (to.startsWith('/api/')) to = await this.#interact(this.#witness(to));
    const tokens = await this.#redeem(new URL(to).searchParams.get('code')!, verifier);
    await this.#userinfo(tokens);
    this.tokens = tokens.refresh ? await this.#refresh(tokens, tokens.refresh) : tokens;
    await this.#userinfo(this.tokens);
  }

  /** Does what an interaction asks for and follows its way back. */
  async #interact(seen: Witnessed): Promise<string> {
    if ((await this.look(seen)).status.phase === 'LoginRequired') {
      await this.#prove(seen);
      await this.#setUp(seen);
    } else {
      await this.#agree(seen);
    }
    for (;;) {
      const { returnTo } = (await this.look(seen)).status;
      if (!returnTo) throw this.#startAgain();
      const answer = await this.#ask(() => seen.tab.navigate(returnTo));
      if (answer !== 'cut') return this.#lead(answer);
    }
  }

  async #prove(seen: Witnessed): Promise<void> {
    const sent = await this.#ask(() =>
      seen.tab.post(`${seen.path}/emailchallenge`, { spec: { email: this.address } }),
    );
    if (sent === 'cut' && !(await this.look(seen)).status.emailChallenge) return this.#prove(seen);
    if (sent !== 'cut') this.#expect(sent, 200);
    const mail = await this.#world.mailbox.to(seen.path.split('/').at(-1)!, 2_500);
    if (!mail) {
      this.mailsLost += 1;
      throw this.#startAgain();
    }
    for (let i = 0; i < this.#wrongs && seen.triesLeft > 2; i += 1) {
      await this.#login(seen, wrong(mail.code));
    }
    while ((await this.look(seen)).status.phase === 'LoginRequired') {
      if (seen.triesLeft === 0) throw this.#startAgain();
      await this.#login(seen, mail.code);
    }
    seen.code = mail.code;
  }

  async #login(seen: Witnessed, code: string): Promise<void> {
    const answer = await this.#ask(() =>
      seen.tab.post(`${seen.path}/login`, { spec: { method: 'EmailCode', code } }),
    );
    if (answer === 'cut') return void (await this.look(seen));
    if (answer.code === 422) {
      const { triesLeft } = answer.body.details;
      if (triesLeft >= seen.triesLeft) {
        throw new Error(`a spent try came back: ${triesLeft} left after ${seen.triesLeft}`);
      }
      seen.triesLeft = triesLeft;
    } else {
      this.#take(seen, this.#expect(answer, 200));
    }
  }

  async #setUp(seen: Witnessed): Promise<void> {
    let answer: Outcome;
    do {
      answer = await this.#ask(() =>
        seen.tab.patch(`${seen.path}/account`, { spec: { displayName: this.displayName } }),
      );
    } while (answer === 'cut');
    this.accounts.add(this.#expect(answer, 200).body.metadata.name);
    this.named = true;
  }

  async #agree(seen: Witnessed): Promise<void> {
    while ((await this.look(seen)).status.phase === 'ConsentRequired') {
      const scopes = ['openid', 'email', 'profile', ...(this.offline ? ['offline_access'] : [])];
      const answer = await this.#ask(() =>
        seen.tab.post(`${seen.path}/consent`, { spec: { scopes } }),
      );
      if (answer !== 'cut') this.#take(seen, this.#expect(answer, 200));
    }
  }

  async #redeem(code: string, verifier: string): Promise<Tokens> {
    const answer = await this.#token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://app.example.test/callback',
      client_id: 'app',
      code_verifier: verifier,
    });
    return {
      access: answer.access_token!,
      code,
      verifier,
      redeemed: Date.now(),
      ...(answer.refresh_token && { refresh: answer.refresh_token }),
    };
  }

  async #refresh(before: Tokens, refresh: string): Promise<Tokens> {
    const answer = await this.#token({
      grant_type: 'refresh_token',
      refresh_token: refresh,
      client_id: 'app',
    });
    this.spentRefresh.push(refresh);
    return { ...before, access: answer.access_token!, refresh: answer.refresh_token! };
  }

  /** A grant may be refused only where an earlier use of it got no answer. */
  async #token(fields: Record<string, string>): Promise<Record<string, string>> {
    for (let used = false; ; used = true) {
      const answer = await this.#ask(() =>
        this.#tab.send('POST', '/oauth2/token', {
          plain: true,
          body: new URLSearchParams(fields).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      );
      if (answer === 'cut') continue;
      if (used && answer.code === 400 && answer.body.error === 'invalid_grant') throw new Again();
      return this.#expect(answer, 200).body;
    }
  }

  async #userinfo({ access }: Tokens): Promise<void> {
    let answer: Outcome;
    do {
      answer = await this.#ask(() =>
        this.#tab.get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${access}` },
        }),
      );
    } while (answer === 'cut');
    const { sub, email, name } = this.#expect(answer, 200).body;
    this.accounts.add(sub);
    if (email !== this.address || name !== this.displayName) {
      throw new Error(`${this.address} received ${JSON.stringify(answer.body)}`);
    }
  }

  /** Reads an interaction, which must be where it was acknowledged to be, or further. */
  async look(seen: Witnessed): Promise<any> {
    let answer: Outcome;
    do {
      answer = await this.#ask(() => seen.tab.get(seen.path));
    } while (answer === 'cut');
    return this.#take(seen, this.#expect(answer, 200)).body;
  }

  #take(seen: Witnessed, answer: Answer): Answer {
    const { phase, emailChallenge } = answer.body.status;
    if (order.indexOf(phase) < order.indexOf(seen.phase)) {
      throw new Error(`an interaction went from ${seen.phase} back to ${phase}`);
    }
    if (emailChallenge && emailChallenge.triesLeft > seen.triesLeft) {
      throw new Error(
        `a spent try came back: ${emailChallenge.triesLeft} left after ${seen.triesLeft}`,
      );
    }
    seen.phase = phase;
    if (emailChallenge) seen.triesLeft = emailChallenge.triesLeft;
    if (answer.body.status.account) this.accounts.add(answer.body.status.account.name);
    return answer;
  }

  #witness(path: string): Witnessed {
    const seen: Witnessed = { tab: this.#tab, path, phase: 'LoginRequired', triesLeft: 5 };
    this.witnessed.push(seen);
    return seen;
  }

  async #lead(answer: Answer): Promise<string> {
    return this.#expect(answer, 303).headers.location!;
  }

  #expect(answer: Answer, code: number): Answer {
    if (answer.code !== code) {
      throw new Error(
        `${this.address}: expected ${code}, got ${answer.code}: ${answer.bytes.toString().slice(0, 400)}`,
      );
    }
    return answer;
  }

  /**
   * One request while the service is up: its answer, or that it was cut off and may have been
   * carried out.
   */
  async #ask(send: () => PromiseLike<Answer>): Promise<Outcome> {
    for (;;) {
      await this.#world.served.up();
      this.#world.sent();
      try {
        const answer = await send();
        if (answer.code !== 503) return answer;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (cuts.has(code ?? '')) {
          this.cuts += 1;
          return 'cut';
        }
        if (code !== 'ECONNREFUSED') throw error;
      }
    }
  }

  async #orAgain(send: () => PromiseLike<Answer>): Promise<Answer> {
    const answer = await this.#ask(send);
    if (answer === 'cut') throw this.#startAgain();
    return answer;
  }

  /** What this browser knows is of no more use: another one begins. */
  #startAgain(): Again {
    this.#tab = this.#newTab();
    return new Again();
  }

  #newTab(): Tab {
    return new Neighbour(this.#world.served, this.#number);
  }
}
