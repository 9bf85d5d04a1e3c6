/** How long the tabs of one sign-in have to answer, in milliseconds. */
const patience = 300;

interface Word {
  ask: boolean;
  weight: number;
}

/**
 * Decides which of several tabs of one sign-in goes on, so that exactly one follows `returnTo`: the
 * heavier one. The tab where the sign-in began weighs more than that of the link.
 */
export class TabElection {
  readonly #channel: BroadcastChannel;
  #weight: number;
  #lost = false;

  /** `willing` says whether this tab can go on; it is then made to look at once. */
  constructor(name: string, began: boolean, willing: () => boolean) {
    this.#weight = (began ? 2 : 1) + Math.random() / 2;
    this.#channel = new BroadcastChannel(`interaction ${name}`);
    this.#channel.onmessage = ({ data }: MessageEvent<Word>) => {
      if (!data.ask) this.#lost ||= data.weight > this.#weight;
      else if (data.weight < this.#weight && willing()) this.#say(false);
    };
  }

  #say(ask: boolean): void {
    this.#channel.postMessage({ ask, weight: this.#weight } satisfies Word);
  }

  /** Takes the right to go on without asking: the person acted here, where the sign-in began. */
  hold(): void {
    this.#weight += 1;
    this.#say(false);
  }

  /** Asks the other tabs; true when this one goes on. */
  async take(): Promise<boolean> {
    this.#say(true);
    await new Promise((done) => {
      setTimeout(done, patience);
    });
    return !this.#lost;
  }
}
