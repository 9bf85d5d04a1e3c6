import type { Chance } from '../chance.js';
import type { Served } from '../served.js';
import type { Call, Fault } from './history.js';

/** What all who take part in a recording share. */
export class Recorder {
  readonly calls: Call[] = [];
  readonly faults: Fault[] = [];
  /** Answers that no one should be given even when processes are killed; each a sentence. */
  readonly surprises: string[] = [];
  /** How often each code was answered to anyone who writes and reads. */
  readonly codes = new Map<number, number>();
  readonly places: readonly Served[];
  readonly chance: Chance;
  /** The cookies of an operator. */
  readonly cookie: string;
  over = false;
  #values = 0;

  constructor(places: readonly Served[], chance: Chance, cookie: string) {
    this.places = places;
    this.chance = chance;
    this.cookie = cookie;
  }

  now(): number {
    return performance.now();
  }
  place(): Served {
    return this.places[this.chance.between(0, this.places.length - 1)]!;
  }
  value(client: string): string {
    return `${client}.${this.#values++}`;
  }
  pick<T>(all: readonly T[]): T {
    return all[this.chance.between(0, all.length - 1)]!;
  }
  surprise(what: string): void {
    if (this.surprises.length < 50) this.surprises.push(what);
  }
}

/** The objects that are written, and the labels they carry. */
export const keys = Array.from({ length: 8 }, (_, i) => `h-${i}`);
export const shards = ['a', 'b'];
