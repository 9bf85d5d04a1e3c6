import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { exchange } from '../people/tab.js';

/** One replica: where it answers for its readiness, and its port behind the balancer. */
export interface Replica {
  readonly url: string;
  readonly port: number;
}

/** Milliseconds between two looks at who is ready. */
const every = 200;

/**
 * What a Service of a cluster does: new connections go to replicas that are ready, in turn; those
 * that stand stay where they are. Where none is ready, who connects is hung up on.
 */
export class Balancer {
  /** How many new connections each replica was given, by port. */
  readonly given = new Map<number, number>();
  #ready: readonly Replica[] = [];
  #turn = 0;
  readonly #replicas: readonly Replica[];
  readonly #open = new Set<Socket>();
  readonly #server: Server;
  readonly #looking: NodeJS.Timeout;

  private constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
    this.#server = createServer((near) => this.#lead(near));
    this.#looking = setInterval(() => void this.look(), every);
  }

  /** One before these replicas, once it has looked at each. */
  static async before(...replicas: readonly Replica[]): Promise<Balancer> {
    const balancer = new Balancer(replicas);
    await new Promise<void>((resolve) => {
      balancer.#server.listen(0, '127.0.0.1', resolve);
    });
    await balancer.look();
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  /** Ports of those that are ready. */
  get ready(): readonly number[] {
    return this.#ready.map(({ port }) => port);
  }

  /** Asks every replica whether it is ready. */
  async look(): Promise<void> {
    const answers = await Promise.all(
      this.#replicas.map(({ url }) =>
        exchange(url, 'GET', '/readyz', {}).then(
          ({ code }) => code === 200,
          () => false,
        ),
      ),
    );
    this.#ready = this.#replicas.filter((_, i) => answers[i]);
  }

  close(): void {
    clearInterval(this.#looking);
    this.#server.close();
    for (const one of this.#open) one.destroy();
  }

  #lead(near: Socket): void {
    const to = this.#ready[(this.#turn += 1) % Math.max(1, this.#ready.length)];
    if (!to) return void near.on('error', () => {}).resetAndDestroy();
    this.given.set(to.port, (this.given.get(to.port) ?? 0) + 1);
    const far = connect(to.port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          this.#open.delete(one);
          other.destroy();
        })
        .pipe(other);
    }
  }
}
