import { ended } from './ended.js';
import type { History } from './history.js';
import { kept } from './kept.js';
import { latest } from './latest.js';
import { order } from './order.js';
import { predecessor } from './predecessor.js';
import { singleUse } from './singleuse.js';
import { spent } from './spent.js';
import { watched } from './watched.js';

/** Every check of a history by its name; each answers what it finds wrong, a sentence a fault. */
export const checks: Readonly<Record<string, (history: History) => string[]>> = {
  'writes are ordered as they were answered': order,
  'a write that named a version had that predecessor': predecessor,
  'a latest read is the newest': latest,
  'no acknowledged write is lost, none is made twice': kept,
  'every watch is the log': watched,
  'nothing is used twice, no challenge tried too often': singleUse,
  'what is over is not accepted': (history) => ended(history, 2_000),
  'an order explains every use': spent,
};
