import type { Storage } from '../../storage/storage.js';
import { UnavailableError } from '../../storage/storage.js';
import type { Answer } from './people/tab.js';

/** Long enough that nothing else is the same by chance. */
const long = 16;
/** Fields of answers and parameters of redirects that open something to anyone who has them. */
const opening = [
  'access_token',
  'refresh_token',
  'id_token',
  'device_code',
  'code',
  'code_verifier',
  'client_secret',
  'client_assertion',
];
const everything = { start: '!', end: '~~' };
/**
 * Records of requests and their answers: no word of a claim's value belongs there, however short.
 */
const records = /^objects\/(policydecisions|claimsreviews)\//;

/**
 * What the browsers and Clients of one file of tests were given that opens something, and the
 * values that were supplied of people: nothing of it may be left in a store or a log.
 */
export class Secrets {
  readonly #byBeginning = new Map<string, Set<string>>();
  /** Whether one may begin with what has this hash: most places of a text are passed over by it. */
  readonly #mayBegin = new Uint8Array(1 << 16);
  readonly #codes = new Set<string>();
  readonly #claims = new Set<string>();

  /** How many there are. */
  get size(): number {
    return [...this.#byBeginning.values()].reduce((sum, { size }) => sum + size, this.#codes.size);
  }

  /** Remembers those that are too long to occur by chance. */
  add(...values: unknown[]): void {
    for (const value of values) {
      if (typeof value !== 'string' || value.length < long) continue;
      const beginning = value.slice(0, long);
      this.#mayBegin[hashAt(value, 0)] = 1;
      this.#byBeginning.set(beginning, (this.#byBeginning.get(beginning) ?? new Set()).add(value));
    }
  }

  /** Remembers what an answer gives away, and what was sent for a token. */
  note({ headers, body }: Pick<Answer, 'headers' | 'body'>, sent: string | Buffer = ''): void {
    for (const line of headers['set-cookie'] ?? []) {
      this.add(line.slice(line.indexOf('=') + 1).split(';')[0]);
    }
    const target = headers.location;
    const isEcho = target?.startsWith('/oauth2/'); // a form that is led back to its own address: what was sent, not what was given
    if (target && !isEcho && URL.canParse(target, 'http://localhost')) {
      this.#fields(Object.fromEntries(new URL(target, 'http://localhost').searchParams));
    }
    if (body === null || typeof body !== 'object') return;
    this.#fields(body);
    if (body.access_token) this.#fields(Object.fromEntries(new URLSearchParams(String(sent))));
    this.add(body.kind === 'ClientSecret' && body.status.secret);
    for (const mail of body.kind === 'MockMessageList' ? body.items : [body]) {
      if (mail.kind === 'MockMessage' || body.kind === 'MockMessageList') {
        this.#mail(mail.status ?? {});
      }
    }
  }

  /**
   * Remembers what was supplied of someone; what is long as any other secret, what is short for
   * the records alone.
   */
  claim(...values: unknown[]): void {
    this.add(...values);
    for (const text of values.map(String)) {
      if (text.length >= 4 && text.length <= 200 && !/^(true|false|null)$/.test(text)) {
        this.#claims.add(text);
      }
    }
  }

  #fields(of: Readonly<Record<string, unknown>>): void {
    this.add(...opening.map((name) => of[name]));
  }

  #mail({ link, code }: { link?: string; code?: string }): void {
    this.add(link?.split('#token=')[1]);
    if (code) this.#codes.add(code);
  }

  /** Whether a text has one of them; a code counts where it stands alone. */
  in(text: string): boolean {
    for (let at = 0; at + long <= text.length; at += 1) {
      if (!this.#mayBegin[hashAt(text, at)]) continue;
      const those = this.#byBeginning.get(text.slice(at, at + long));
      if (those) for (const one of those) if (text.startsWith(one, at)) return true;
    }
    return (
      this.#codes.size > 0 &&
      (text.match(/(?<![\w.:-])(\d{6,8}|\d{3,4} \d{3,4})(?![\w.-])/g) ?? []).some((code) =>
        this.#codes.has(code.replace(' ', '')),
      )
    );
  }

  /** Whether a record's framed object says a claim's value, alone or among other words. */
  claimedIn(value: Buffer): boolean {
    const said = value.toString('utf8', 4);
    return [...this.#claims].some((claim) =>
      new RegExp(`(?<![\\w-])${claim.replaceAll(/[^\w\s]/g, '\\$&')}(?![\\w-])`).test(said),
    );
  }
}

/** Returns a hash of three characters of a text, of 16 bits. */
const hashAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) << 12) ^ (text.charCodeAt(at + 1) << 6) ^ text.charCodeAt(at + 2)) & 0xffff;

/** Those of the file of tests that runs. */
export const seen = new Secrets();

/** Fails where a log has one of them. */
export function logsHoldNone(logs: string): void {
  const lines = logs.split('\n').filter((line) => seen.in(line));
  if (lines.length > 0) {
    throw new Error(`${lines.length} lines of the log hold a secret, the first: ${lines[0]}`);
  }
}

/**
 * Fails where a store has one of them in anything but the mails it keeps in place of sending them;
 * a store that is closed or gone is not looked at.
 */
export async function storeHoldsNone(storage: Storage): Promise<void> {
  const { entries } = await storage.list(everything).catch((error: Error) => {
    if (error instanceof UnavailableError) return { entries: [] };
    throw error;
  });
  const holding = entries.filter(
    ({ key, value }) =>
      !key.startsWith('objects/mockmessages/') &&
      (seen.in(`${key} ${value.toString('latin1')}`) ||
        (records.test(key) && seen.claimedIn(value))),
  );
  if (holding.length > 0) {
    throw new Error(
      `${holding.length} objects of the store hold a secret, the first: ${holding[0]!.key} ${holding[0]!.value.toString('latin1').slice(0, 2000)}`,
    );
  }
}
