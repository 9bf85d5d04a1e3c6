import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The line between a client and a service, which can be cut and led elsewhere. */
export class Wire {
  /** Connections made over it so far. */
  connections = 0;
  readonly #open = new Set<Socket>();
  readonly #server: Server;
  #to: number;
  #isCut = false;

  private constructor(to: number) {
    this.#to = to;
    this.#server = createServer((near) => this.#lead(near));
  }

  /** A line to a port of this machine. */
  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port);
    await new Promise<void>((resolve) => {
      wire.#server.listen(0, '127.0.0.1', resolve);
    });
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection, and each that is tried, until it is mended. */
  cut(): void {
    this.#isCut = true;
    for (const one of this.#open) one.resetAndDestroy();
  }

  /**
   * Lets connections through again, perhaps to another port; those there are stay where they are.
   */
  mend(to = this.#to): void {
    this.#to = to;
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #lead(near: Socket): void {
    if (this.#isCut) return void near.resetAndDestroy();
    this.connections += 1;
    const far = connect(this.#to, '127.0.0.1');
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
