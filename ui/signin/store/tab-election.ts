/** Milliseconds that the tabs of one sign-in have to answer. */
const answerMs = 300;

interface ElectionMessage {
  ask: boolean;
  weight: number;
}

/**
 * Elects the one of several tabs of a sign-in that follows `returnTo`: the one with the greatest
 * weight. The tab where the sign-in began weighs more than the tab of the link.
 */
export class TabElection {
  #channel: BroadcastChannel | undefined;
  #weight: number;
  #lost = false;

  /** `isOrigin`: the sign-in began in this tab. `canContinue` is called when another tab asks. */
  constructor(name: string, isOrigin: boolean, canContinue: () => boolean) {
    this.#weight = (isOrigin ? 2 : 1) + Math.random() / 2;
    try {
      this.#channel = new BroadcastChannel(`interaction ${name}`);
      this.#channel.onmessage = ({ data }: MessageEvent<ElectionMessage>) => {
        if (!data.ask) {
          this.#lost ||= data.weight > this.#weight;
        } else if (data.weight < this.#weight && canContinue()) {
          this.#post(false);
        }
      };
    } catch {
      /* Firefox refuses a channel where cookies are off: this tab is the only one */
    }
  }

  #post(ask: boolean): void {
    this.#channel?.postMessage({ ask, weight: this.#weight } satisfies ElectionMessage);
  }

  /** Claims the election without asking, because the person acted in this tab. */
  claim(): void {
    this.#weight += 1;
    this.#post(false);
  }

  /** Asks the other tabs. Returns true if this one continues. */
  async elect(): Promise<boolean> {
    this.#post(true);
    await new Promise((done) => {
      setTimeout(done, answerMs);
    });
    return !this.#lost;
  }
}
