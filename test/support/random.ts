import { Chance } from '../faults/chance.js';

/**
 * The seed of what this suite draws at random; VESTIBULE_TEST_SEED repeats it. The environment adds
 * it to failures (test/support/environment.mjs).
 */
export const seed = Number(
  process.env['VESTIBULE_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31),
);
Object.assign(globalThis, { testSeed: seed });

const chance = new Chance(seed);

/** Draws a number from 0 to below 1. */
export const random = (): number => chance.next();

/** Draws a whole number from 0 to below `count`. */
export const draw = (count: number): number => Math.floor(chance.next() * count);
