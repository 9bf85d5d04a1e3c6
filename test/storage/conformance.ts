import { describe } from '@jest/globals';
import { commitCases } from './cases/commits.js';
import { compactionCases } from './cases/compaction.js';
import { expiryCases } from './cases/expiry.js';
import { groupCases } from './cases/groups.js';
import { listCases } from './cases/lists.js';
import { modelCases } from './cases/model.js';
import { rangeCases } from './cases/ranges.js';
import { valueCases } from './cases/values.js';
import { watchCases } from './cases/watches.js';
import type { OpenStore } from './store.js';

/** Every case that every driver has to pass, given how to open an empty store of it. */
export function conformance(name: string, open: OpenStore): void {
  describe(`${name} conforms`, () => {
    describe('commits', () => {
      commitCases(open);
    });
    describe('checks of ranges', () => {
      rangeCases(open);
    });
    describe('groups', () => {
      groupCases(open);
    });
    describe('values and limits', () => {
      valueCases(open);
    });
    describe('lists', () => {
      listCases(open);
    });
    describe('watches', () => {
      watchCases(open);
    });
    describe('compaction', () => {
      compactionCases(open);
    });
    describe('expiry', () => {
      expiryCases(open);
    });
    describe('model', () => {
      modelCases(open);
    });
  });
}
