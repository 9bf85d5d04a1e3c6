import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of bytes on their way in one direction: `delay` milliseconds later, at most `rate`
 * bytes a second, or held until the link is mended, as where packets are lost and sent again.
 */
interface Conditions {
  readonly delay: number;
  readonly rate: number;
  readonly held: boolean;
}

const well: Conditions = { delay: 0, rate: Infinity, held: false };
/** So many bytes wait in a link before their sender is made to wait. */
const max = 256 << 10;
/** So many bytes go on at once where the rate is bounded. */
const piece = 1 << 10;

/**
 * One direction of a link, for all of its connections or, in part, for those of one who connects.
 */
class Way {
  /** Bytes that came out at its other end. */
  bytes = 0;
  #all = well;
  readonly #some = new Map<string, Conditions>();
  #waiting: (() => void)[] = [];

  of(who: string): Conditions {
    return this.#some.get(who) ?? this.#all;
  }

  set(change: Partial<Conditions>, who?: string): void {
    if (who === undefined) {
      this.#all = { ...this.#all, ...change };
    } else {
      this.#some.set(who, { ...this.of(who), ...change });
    }
    this.#stir();
  }

  clear(): void {
    this.#all = well;
    this.#some.clear();
    this.#stir();
  }

  /** Resolves once bytes may pass. */
  async open(line: Line): Promise<void> {
    while (this.of(line.who).held) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  #stir(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}

/**
 * A connection over a link, and who made it, as far as its first bytes show.
 */
interface Line {
  who: string;
}

/** What one side of a connection sends, on its way to the other. */
class Flow {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #way: Way;
  readonly #line: Line;
  readonly #queue: { readonly bytes: Buffer | undefined; readonly due: number }[] = [];
  #size = 0;
  #running = false;

  constructor(from: Socket, to: Socket, way: Way, line: Line) {
    [this.#from, this.#to, this.#way, this.#line] = [from, to, way, line];
  }

  begin(): void {
    this.#from
      .on('data', (bytes: Buffer) => this.#take(bytes))
      .on('end', () => this.#take(undefined));
  }

  /** Bytes, or that there will be no more of them. */
  #take(bytes: Buffer | undefined): void {
    this.#queue.push({ bytes, due: performance.now() + this.#way.of(this.#line.who).delay });
    this.#size += bytes?.length ?? 0;
    if (this.#size > max) this.#from.pause();
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      await until(next.due);
      await this.#way.open(this.#line);
      if (next.bytes) {
        await this.#pass(next.bytes);
      } else if (!this.#to.destroyed) {
        this.#to.end();
      }
    }
    this.#running = false;
  }

  async #pass(bytes: Buffer): Promise<void> {
    const { rate } = this.#way.of(this.#line.who);
    for (let at = 0, size; at < bytes.length; at += size) {
      size = rate === Infinity ? bytes.length : Math.min(piece, bytes.length - at);
      if (!this.#to.destroyed && !this.#to.write(bytes.subarray(at, at + size))) {
        await drained(this.#to);
      }
      this.#way.bytes += size;
      if (rate !== Infinity) await until(performance.now() + (size / rate) * 1000);
    }
    this.#size -= bytes.length;
    if (this.#size <= max) this.#from.resume();
  }
}

/** Resolves once more can be written, or nothing ever again. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

const until = async (time: number): Promise<void> => {
  const left = time - performance.now();
  if (left > 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, left);
    });
  }
};

/**
 * The network between those who connect to one port of this machine and anyone who listens there, for
 * tests that make it worse.
 */
export class Link {
  /** Connections made over it so far. */
  connections = 0;
  readonly #open = new Set<Socket>();
  readonly #server: Server;
  readonly #forth = new Way();
  readonly #back = new Way();
  readonly #to: number;
  readonly #identify: (head: string) => string;
  #isCut = false;

  private constructor(to: number, identify: (head: string) => string) {
    this.#to = to;
    this.#identify = identify;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#lead(near));
  }

  /**
   * A link to a port, which need not be listened on yet; `identify` says from the first bytes of a
   * connection whose it is.
   */
  static async to(port: number, identify = (_head: string): string => ''): Promise<Link> {
    const link = new Link(port, identify);
    await new Promise<void>((resolve) => {
      link.#server.listen(0, '127.0.0.1', resolve);
    });
    return link;
  }

  /** Where anyone who is to use it connects. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes that have come through, to anyone who listens and back. */
  get passed(): { readonly forth: number; readonly back: number } {
    return { forth: this.#forth.bytes, back: this.#back.bytes };
  }

  /** Resets every connection, and each that is tried, until it is mended. */
  cut(): void {
    this.#isCut = true;
    this.reset();
  }

  /** Resets every connection; others may be made. */
  reset(): void {
    for (const one of this.#open) one.resetAndDestroy();
  }

  /**
   * A hole, one way or both, for everybody or for one: connections stand and new ones are accepted,
   * and nothing comes through until it is mended; then everything does.
   */
  hole(which: 'forth' | 'back' | 'both' = 'both', who?: string): void {
    if (which !== 'back') this.#forth.set({ held: true }, who);
    if (which !== 'forth') this.#back.set({ held: true }, who);
  }

  /**
   * Slow in both directions: each byte comes `delay` milliseconds later, and at most `rate` of them
   * a second.
   */
  slow({ delay = 0, rate = Infinity }: { readonly delay?: number; readonly rate?: number }): void {
    for (const way of [this.#forth, this.#back]) way.set({ delay, rate });
  }

  /** As it was in the beginning. */
  mend(): void {
    this.#isCut = false;
    for (const way of [this.#forth, this.#back]) way.clear();
  }

  close(): void {
    this.mend();
    this.cut();
    this.#server.close();
  }

  #lead(near: Socket): void {
    if (this.#isCut) return void near.resetAndDestroy();
    this.connections += 1;
    const far = connect({ port: this.#to, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    near.setNoDelay(true);
    const line = { who: '' };
    near.once('data', (bytes: Buffer) => {
      line.who = this.#identify(bytes.toString('latin1'));
    });
    this.#follow(near, far, this.#forth, line);
    this.#follow(far, near, this.#back, line);
  }

  /**
   * Passes what one side sends to the other; its end takes the same way, and not through a hole.
   */
  #follow(one: Socket, other: Socket, way: Way, line: Line): void {
    new Flow(one, other, way, line).begin();
    this.#open.add(one);
    one
      .on('error', () => {})
      .on('close', (failed) => {
        this.#open.delete(one);
        void way.open(line).then(() => {
          if (failed) {
            other.resetAndDestroy();
          } else if (one.destroyed && !one.readableEnded) {
            other.destroy();
          }
        });
      });
  }
}
