import { Stream } from '../support/network/stream.js';
import { Tab } from '../support/people/tab.js';
import type { Served } from './served.js';

/** One mail as its reader needs it. */
export interface Received {
  readonly code: string;
  readonly token: string;
}

/**
 * Every mail of the mock mailbox by the interaction it was sent for, followed over all lives of the
 * service.
 */
export class Mailbox {
  readonly #served: Served;
  readonly #byInteraction = new Map<string, Map<string, Received>>();
  #stream: Stream | undefined;
  #wake: (() => void)[] = [];
  #open = true;

  constructor(served: Served) {
    this.#served = served;
    void this.#follow();
  }

  /**
   * The mail for an interaction, or undefined when it has not come within so long while the service
   * was up.
   */
  async to(interaction: string, milliseconds: number): Promise<Received | undefined> {
    const end = performance.now() + milliseconds;
    while (!this.#byInteraction.has(interaction) && performance.now() < end) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 250);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this.#byInteraction.get(interaction)?.values().next().value;
  }

  /** How many mails came for each interaction. */
  get counts(): ReadonlyMap<string, number> {
    return new Map([...this.#byInteraction].map(([name, mails]) => [name, mails.size]));
  }

  close(): void {
    this.#open = false;
    this.#stream?.close();
  }

  async #follow(): Promise<void> {
    while (this.#open) {
      await this.#served.up().catch(() => {
        this.#open = false;
      });
      this.#stream = new Stream(
        new Tab(this.#served.url, this.#served.baseURL),
        'mockmessages?watch=true',
      );
      await this.#stream.until((stream) => {
        this.#take(stream);
        return stream.ended || !this.#open;
      }, Infinity);
    }
  }

  #take({ events }: Stream): void {
    for (const { type, object } of events.splice(0)) {
      if (type !== 'ADDED') continue;
      const { link = '', code } = object.status as { link?: string; code: string };
      const name = /\/interaction\/([a-z2-7]{32})#/.exec(link)?.[1];
      if (name === undefined) continue;
      const mails = this.#byInteraction.get(name) ?? new Map<string, Received>();
      this.#byInteraction.set(
        name,
        mails.set(object.metadata.name as string, { code, token: link.split('#token=')[1]! }),
      );
    }
    for (const wake of this.#wake.splice(0)) wake();
  }
}
