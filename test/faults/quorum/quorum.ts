import { type EtcdServer, startEtcdCluster } from '../../storage/etcd-server.js';
import { Link } from '../../support/network/link.js';
import { settles } from '../../support/patience.js';
import { stopAll, temporary } from '../../support/service.js';
import { Served } from '../served.js';

/** The operator that tests sign in as. */
export const operator = 'op@example.test';

/**
 * Whether every fault is run, as often and as long as is promised: by hand, with `FAULTS=all`
 * (CONTRIBUTING.md).
 */
export const whole = process.env['FAULTS'] === 'all';

/** What may differ from two replicas on three members. */
interface Options {
  readonly replicas?: number;
  readonly etcd?: readonly string[];
  readonly flags?: (replica: number) => readonly string[];
  readonly environment?: (replica: number) => Readonly<Record<string, string>>;
  readonly manifest?: string;
}

/**
 * Three members of etcd and some replicas on them, with a link between each two that speak to each
 * other.
 */
export class Quorum {
  readonly members: readonly EtcdServer[];
  readonly replicas: readonly Served[];
  /** By member, how the others reach it. */
  readonly #peers: readonly Link[];
  /** By replica and member. */
  readonly #lines: readonly (readonly Link[])[];
  /** By member, what it calls itself where it connects to another. */
  readonly #ids: readonly string[];

  private constructor(
    members: readonly EtcdServer[],
    replicas: readonly Served[],
    links: { peers: readonly Link[]; lines: readonly (readonly Link[])[] },
    ids: readonly string[],
  ) {
    [this.members, this.replicas, this.#ids] = [members, replicas, ids];
    [this.#peers, this.#lines] = [links.peers, links.lines];
  }

  /** Starts all of it; `end` ends it. */
  static async start({
    replicas: count = 2,
    etcd = [],
    flags = () => [],
    environment = () => ({}),
    manifest = '',
  }: Options = {}): Promise<Quorum> {
    const ways = new Map<number, Link>();
    const members = await startEtcdCluster(etcd, async (port) => {
      const link = await Link.to(
        port,
        (head) => /X-Server-From: ([0-9a-f]+)/i.exec(head)?.[1] ?? '',
      );
      ways.set(port, link);
      return link.port;
    });
    const lines = await Promise.all(
      Array.from({ length: count }, () =>
        Promise.all(members.map(({ endpoint }) => Link.to(Number(new URL(endpoint).port)))),
      ),
    );
    const links = {
      peers: members.map(({ peerUrl }) => ways.get(Number(new URL(peerUrl).port))!),
      lines,
    };
    const servers = (replica: number): string =>
      lines[replica]!.map(({ port }) => `http://127.0.0.1:${port}`).join();
    try {
      const replicas = await Served.replicas(
        count,
        temporary(),
        servers,
        manifest,
        (replica) => [
          '--operators',
          operator,
          '--etcd-compaction-interval',
          '6h',
          ...flags(replica),
        ],
        environment,
      );
      return new Quorum(members, replicas, links, await Promise.all(members.map(idOf)));
    } catch (error) {
      await Quorum.#end(members, [], links);
      throw error;
    }
  }

  /** What is printed with every figure. */
  get about(): string {
    return `etcd ${this.members[0]!.version}, Node ${process.version}`;
  }

  /** The member that leads now, once there is one that all who answer agree on. */
  async leader(): Promise<number> {
    const seen = await settles(
      async () => Promise.all(this.members.map(leads)),
      (led) => led.filter(Boolean).length === 1,
    );
    return seen.indexOf(true);
  }

  async follower(): Promise<number> {
    return ((await this.leader()) + 1) % this.members.length;
  }

  /** How a replica reaches each member. */
  lines(replica: number): readonly Link[] {
    return this.#lines[replica]!;
  }

  /**
   * Cuts a member off from the other members; `one-way`: it is heard, and hears nothing. Replicas
   * reach it still.
   */
  isolate(member: number, how: 'whole' | 'one-way' = 'whole'): void {
    for (const [other, link] of this.#peers.entries()) {
      if (other === member) {
        for (const [from, id] of this.#ids.entries()) {
          if (from !== member) link.hole(how === 'whole' ? 'both' : 'forth', id);
        }
      } else {
        link.hole(how === 'whole' ? 'both' : 'back', this.#ids[member]!);
      }
    }
  }

  /** Has etcd forget everything before its present revision. */
  async compact(): Promise<void> {
    const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> =>
      (
        await fetch(`${this.members[await this.leader()]!.endpoint}/v3/kv/${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
        })
      ).json() as Promise<{ header: { revision: string } }>;
    const { header } = await ask('range', { key: 'AA==' });
    await ask('compaction', { revision: header.revision });
  }

  /** Every link as it was. */
  mend(): void {
    for (const link of [...this.#peers, ...this.#lines.flat()]) link.mend();
  }

  /** Resolves once every replica is ready. */
  async ready(): Promise<void> {
    for (const replica of this.replicas) {
      await settles(
        () =>
          replica
            .tab()
            .get('/readyz', { plain: true })
            .then(
              ({ code }) => code,
              () => 0,
            ),
        (code) => code === 200,
      );
    }
  }

  async end(): Promise<void> {
    await Quorum.#end(this.members, this.replicas, { peers: this.#peers, lines: this.#lines });
  }

  static async #end(
    members: readonly EtcdServer[],
    replicas: readonly Served[],
    { peers, lines }: { peers: readonly Link[]; lines: readonly (readonly Link[])[] },
  ): Promise<void> {
    for (const replica of replicas) await replica.end();
    for (const link of [...peers, ...lines.flat()]) link.close();
    for (const member of members) await member.stop();
    await stopAll();
  }
}

/** Whether a member says that it leads; undefined where it says nothing. */
async function leads({ metricsUrl }: EtcdServer): Promise<boolean | undefined> {
  try {
    const text = await (
      await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(1_000) })
    ).text();
    return /^etcd_server_is_leader 1$/m.test(text) && /^etcd_server_has_leader 1$/m.test(text);
  } catch {
    return undefined;
  }
}

/** A member's id as it stands in its requests to others. */
async function idOf({ endpoint }: EtcdServer): Promise<string> {
  const answer = await fetch(`${endpoint}/v3/maintenance/status`, { method: 'POST', body: '{}' });
  const { header } = (await answer.json()) as { header: { member_id: string } };
  return BigInt(header.member_id).toString(16);
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Says a figure that a machine which is busy must not be judged by. */
export const tell = (what: string): void => {
  process.stderr.write(`${what}\n`);
};
