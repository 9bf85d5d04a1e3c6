/** How long the tabs of one sign-in have to answer, in milliseconds. */
const answerMs = 300;

interface ElectionMessage {
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
  constructor(name: string, isOrigin: boolean, canContinue: () => boolean) {
    this.#weight = (isOrigin ? 2 : 1) + Math.random() / 2;
    this.#channel = new BroadcastChannel(`interaction ${name}`);
    this.#channel.onmessage = ({ data }: MessageEvent<ElectionMessage>) => {
      if (!data.ask) this.#lost ||= data.weight > this.#weight;
      else if (data.weight < this.#weight && canContinue()) this.#post(false);
    };
  }

  #post(ask: boolean): void {
    this.#channel.postMessage({ ask, weight: this.#weight } satisfies ElectionMessage);
  }

  /** Takes the right to go on without asking: the person acted here, where the sign-in began. */
  claim(): void {
    this.#weight += 1;
    this.#post(false);
  }

  /** Asks the other tabs; true when this one goes on. */
  async elect(): Promise<boolean> {
    this.#post(true);
    await new Promise((done) => {
      setTimeout(done, answerMs);
    });
    return !this.#lost;
  }
}
