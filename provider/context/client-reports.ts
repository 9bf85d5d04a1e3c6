import { Client } from '../../kinds/apps/client/client.js';
import { maxRefusals, type Refusal, type Share } from '../../kinds/apps/client/client-report.js';
import type { RawValue } from '../../registry/kind.js';
import { jsonValue } from '../../registry/schema/json-value.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import type { Store } from '../../registry/store/store.js';
import { BoundedMap } from '../../security/bounded-map.js';

/** What the program of a Client was seen to do. */
interface ClientReport {
  /** The uid of the Client, so that another one of its name starts without it. */
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  refusals: Refusal[];
  codeChallenge?: Share;
  nonce?: Share;
  /** Whether the program asked for userinfo. */
  userinfo?: true;
}

/** A change of a report; it may run more than once. */
export type ReportChange = (report: ClientReport) => void;

const minuteMs = 60_000;

/** How long a report is kept after its last change, and how long a replica relies on what it wrote. */
const keptMs = 7 * 86_400_000;
const reliedMs = 3_600_000;

/** The shortest time between two writes for one Client, and the changes that may wait in between. */
const writeEveryMs = 2_000;
const maxWaiting = 2 * maxRefusals;

/** The number of Clients that a replica follows at once. */
const maxFollowed = 1_000;

interface Followed {
  waiting: ReportChange[];
  writtenAt: number;
  isScheduled: boolean;
  /** When a change was made of what is noted once, by the Client's uid and what it is. */
  readonly madeAt: Map<string, number>;
}

/** A Client, by which a report is found. */
interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}

const reportKey = (client: string): string => `oidc/client-report/${client}`;

/**
 * Keeps what programs were seen to do, by Client. Strangers can cause it, so a replica writes at most every
 * two seconds for a Client, only if something changed, and never to the Client itself
 * (docs/design/provider.md#client-reports).
 */
export class ClientReports {
  readonly #store: Store;
  readonly #runInBackground: (work: () => Promise<unknown>) => void;
  readonly #followed = new BoundedMap<string, Followed>(maxFollowed);

  constructor(store: Store, runInBackground: (work: () => Promise<unknown>) => void) {
    this.#store = store;
    this.#runInBackground = runInBackground;
  }

  /** Adds a refusal; one of the same reason replaces it, at most once a minute. */
  addRefusal(client: string, refusal: Omit<Refusal, 'timestamp'>): void {
    const now = Date.now();
    this.#change(client, (report) => addRefusal(report, refusal, now));
  }

  /** Notes what an authorization request had that led to a code. */
  noteRequest(client: Named, sent: { codeChallenge: boolean; nonce: boolean }): void {
    this.#once(client, `request ${sent.codeChallenge} ${sent.nonce}`, (report) => {
      for (const name of ['codeChallenge', 'nonce'] as const) {
        const now = sent[name] ? 'Always' : 'Never';
        report[name] = (report[name] ?? now) === now ? now : 'Sometimes';
      }
    });
  }

  /** Notes that the program asked for userinfo. */
  noteUserinfo(client: Named): void {
    this.#once(client, 'userinfo', (report) => {
      report.userinfo = true;
    });
  }

  /** Runs a change of a report at once; without effect if there is no such Client. */
  async apply(client: string, changes: readonly ReportChange[]): Promise<void> {
    const object = await this.#store.reader(Client).get(client);
    if (!object) return;
    await this.#store.change(this.#store.systemCall(), async (tx) => {
      const { uid } = object.metadata;
      const key = reportKey(client);
      const before = reportOf(await tx.read(key), uid);
      const report = structuredClone(before) ?? { uid, since: Date.now(), refusals: [] };
      for (const change of changes) change(report);
      const text = JSON.stringify(report);
      if (text !== JSON.stringify(before)) tx.write(key, Buffer.from(text), Date.now() + keptMs);
    });
  }

  /** Returns the fields of the Client's status. */
  async statusOf(client: string, uid: string): Promise<object> {
    const report = reportOf((await this.#store.storage.get(reportKey(client))).entry, uid);
    if (!report) return {};
    const { refusals, since, codeChallenge, nonce } = report;
    return {
      ...(refusals.length > 0 && { lastRefusals: refusals }),
      ...(codeChallenge && {
        authorizationRequests: { since: toTimestamp(since), codeChallenge, nonce },
      }),
    };
  }

  /** Makes a change that this replica did not make in the last hour. */
  #once({ metadata: { name, uid } }: Named, what: string, change: ReportChange): void {
    const { madeAt } = this.#follow(name);
    const key = `${uid} ${what}`;
    if (Date.now() - (madeAt.get(key) ?? 0) < reliedMs) return;
    madeAt.set(key, Date.now());
    this.#change(name, change);
  }

  #follow(client: string): Followed {
    return this.#followed.getOrCreate(client, () => ({
      waiting: [],
      writtenAt: 0,
      isScheduled: false,
      madeAt: new BoundedMap(maxWaiting),
    }));
  }

  #change(client: string, change: ReportChange): void {
    const followed = this.#follow(client);
    followed.waiting = [...followed.waiting, change].slice(-maxWaiting);
    if (followed.isScheduled) return;
    followed.isScheduled = true;
    const delay = Math.max(0, followed.writtenAt + writeEveryMs - Date.now());
    setTimeout(() => this.#runInBackground(() => this.#write(client, followed)), delay).unref();
  }

  async #write(client: string, followed: Followed): Promise<void> {
    const changes = followed.waiting;
    Object.assign(followed, { waiting: [], isScheduled: false, writtenAt: Date.now() });
    try {
      await this.apply(client, changes);
    } catch (error) {
      followed.madeAt.clear();
      throw error;
    }
  }
}

/** Returns a stored report, if it is about the Client of that uid. */
function reportOf(raw: RawValue | undefined, uid: string): ClientReport | undefined {
  if (!raw || (raw.expires ?? Infinity) <= Date.now()) return undefined;
  const report = jsonValue<ClientReport>(raw);
  return report.uid === uid ? report : undefined;
}

/** Adds a refusal at `now`, in ms since the epoch, to a report. */
export function addRefusal(
  report: ClientReport,
  refusal: Omit<Refusal, 'timestamp'>,
  now: number,
): void {
  const isSame = (former: Refusal): boolean =>
    former.endpoint === refusal.endpoint && former.message === refusal.message;
  const before = report.refusals.find(isSame);
  if (before && now - Date.parse(before.timestamp) < minuteMs) return;
  report.refusals = [
    { timestamp: toTimestamp(now), ...refusal },
    ...report.refusals.filter((refusal) => !isSame(refusal)),
  ].slice(0, maxRefusals);
}
