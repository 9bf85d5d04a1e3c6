import { begin, proceed } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import type { Served } from '../served.js';
import type { Use } from './history.js';
import { pause } from './line.js';
import type { Recorder } from './recorder.js';

interface Sent {
  readonly code: string;
  readonly token: string;
}
type Try = Pick<Use, 'by' | 'right'> & { send(place: Served): PromiseLike<Answer> };

/**
 * What a connection that broke off says of its request; anything else is a fault of the test. An
 * error of Node itself is none of the test's own class.
 */
function whyNot(error: NodeJS.ErrnoException): 'unsent' | 'unknown' {
  if (error.code === undefined) throw error;
  return error.code === 'ECONNREFUSED' ? 'unsent' : 'unknown';
}

/**
 * Someone whose code, link and authorization code are used by many at once, at all replicas, with
 * wrong codes among them; then the session is ended at one and tried at all.
 */
export class Racer {
  readonly #to: Recorder;
  readonly #number: number;
  #round = 0;
  done = 0;

  constructor(to: Recorder, number: number) {
    this.#to = to;
    this.#number = number;
  }

  /**
   * A round that a fault comes in between is left, and the next begins again; what was recorded of
   * it stands.
   */
  async run(): Promise<void> {
    while (!this.#to.over) {
      try {
        await this.#once(`racer${this.#number}-${this.#round++}`);
        this.done += 1;
      } catch (error) {
        if (/is not the document|does not list/.test(String(error))) {
          this.#to.surprise(String(error));
        }
      }
      await pause(50);
    }
  }

  async #once(name: string): Promise<void> {
    const served = this.#to.place();
    const first = this.#tab(served);
    const { I, verifier } = await begin(
      { tab: () => first },
      { tab: first, scope: 'openid email offline_access', parameters: { prompt: 'consent' } },
    );
    const { body } = await first
      .post(`${I}/emailchallenge`, { spec: { email: `${name}@example.test` } })
      .is(200);
    const mail = await this.#mail(`${name}@example.test`);
    const login =
      (spec: object) =>
      (place: Served): PromiseLike<Answer> =>
        this.#at(place, first).post(`${I}/login`, { spec });
    const wrong = (by: number): Try => ({
      by: 'code',
      right: false,
      send: login({
        method: 'EmailCode',
        code: String((Number(mail.code) + by) % 10 ** mail.code.length).padStart(
          mail.code.length,
          '0',
        ),
      }),
    });
    const code: Try = {
      by: 'code',
      right: true,
      send: login({ method: 'EmailCode', code: mail.code }),
    };
    const link: Try = {
      by: 'link',
      right: true,
      send: login({ method: 'EmailLink', token: mail.token }),
    };
    const tries = this.#to.pick([
      [code, code, ...[1, 2, 3, 4].map(wrong)],
      [link, link, link, wrong(1), wrong(2)],
      [link, code, code, wrong(7)],
      [1, 2, 3, 4, 5, 6, 7].map(wrong),
    ]);
    const until = Date.parse(body.status.emailChallenge.expirationTimestamp);
    const won = await this.#race(`challenge of ${name}`, tries, until);
    if (won) await this.#goOn(name, first, won.body.status.returnTo, verifier);
  }

  async #goOn(name: string, tab: Tab, returnTo: string, verifier: string): Promise<void> {
    const callback = await proceed(tab, returnTo);
    const issued = Date.now();
    const fields = new URLSearchParams({
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code')!,
      redirect_uri: 'https://app.example.test/callback',
      client_id: 'app',
      code_verifier: verifier,
    }).toString();
    const redeem: Try = {
      by: 'grant',
      right: true,
      send: (place) =>
        this.#tab(place).send('POST', '/oauth2/token', {
          plain: true,
          body: fields,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
    };
    await this.#race(
      `authorization code of ${name}`,
      [redeem, redeem, redeem, redeem],
      issued + 60_000,
      10_000,
    );
    await this.#signOut(name, tab);
  }

  /** All at once, spread over the replicas; the answer of anyone who won. */
  async #race(
    object: string,
    tries: readonly Try[],
    until: number,
    tolerance = 0,
  ): Promise<Answer | undefined> {
    let won: Answer | undefined;
    await Promise.all(
      tries.map(async ({ by, right, send }, i) => {
        const place = this.#to.places[i % this.#to.places.length]!;
        await pause(this.#to.chance.between(0, 12));
        const [start, sent] = [this.#to.now(), Date.now()];
        const answer = await send(place).then((one) => one, whyNot);
        const end = this.#to.now();
        if (answer === 'unsent') return;
        const said = answer === 'unknown' ? answer : this.#said(object, answer);
        if (said === undefined) return;
        const triesLeft = answer === 'unknown' ? undefined : answer.body?.details?.triesLeft;
        this.#to.calls.push({
          type: 'use',
          object,
          by,
          right,
          start,
          answer: said,
          ...(said !== 'unknown' && { end }),
          ...(triesLeft !== undefined && { triesLeft }),
        });
        if (said !== 'used') return;
        this.#to.calls.push({ type: 'accepted', start, end, sent, until, tolerance });
        won = answer as Answer;
      }),
    );
    return won;
  }

  /** What an answer says of the use; nothing where it was not judged at all. */
  #said(object: string, { code, body, bytes }: Answer): Use['answer'] | undefined {
    if (code === 200) return 'used';
    if (code === 422) return 'wrong';
    if (code === 410 || code === 409 || (code === 400 && body?.error === 'invalid_grant')) {
      return 'over';
    }
    if (code === 503 || code === 504) return 'unknown';
    if (code !== 429) this.#to.surprise(`${object}: ${code} ${bytes.toString().slice(0, 200)}`);
    return undefined;
  }

  /** Ends the session at one replica and asks at all, until none knows it any more. */
  async #signOut(session: string, tab: Tab): Promise<void> {
    const held = this.#tab(this.#to.place());
    held.cookies = [...tab.cookies];
    for (const place of this.#to.places) await this.#at(place, held).get('accounts/~').is(200);
    const start = this.#to.now();
    const answer = await this.#at(this.#to.place(), held)
      .delete('sessions/~')
      .then(
        ({ code }) => code,
        () => 0,
      );
    this.#to.calls.push({
      type: 'signout',
      session,
      start,
      outcome: answer === 200 ? 'done' : 'unknown',
      ...(answer === 200 && { end: this.#to.now() }),
    });
    if (answer !== 200) return;
    await Promise.all(
      this.#to.places.map(async (place) => {
        for (const until = this.#to.now() + 6_000; this.#to.now() < until; await pause(100)) {
          const asked = this.#to.now();
          const code = await this.#at(place, held)
            .get('accounts/~')
            .then(
              (one) => one.code,
              () => 0,
            );
          if (code === 401) return;
          if (code === 200) {
            this.#to.calls.push({ type: 'accepted', session, start: asked, end: this.#to.now() });
          }
        }
      }),
    );
  }

  async #mail(address: string): Promise<Sent> {
    for (const until = this.#to.now() + 4_000; this.#to.now() < until; await pause(60)) {
      const { body } = await this.#tab(this.#to.place()).get('mockmessages').is(200);
      const found = (body.items as any[]).find(({ status }) => status.to === address);
      if (found) return { code: found.status.code, token: found.status.link.split('#token=')[1] };
    }
    throw new Error(`no mail to ${address}`);
  }

  #tab(place: Served): Tab {
    return Object.assign(place.tab(), {
      headers: { 'x-forwarded-for': `198.51.100.${1 + ((this.#number * 50 + this.#round) % 250)}` },
    });
  }
  #at(place: Served, { cookies }: Tab): Tab {
    return Object.assign(this.#tab(place), { cookies: [...cookies] });
  }
}
