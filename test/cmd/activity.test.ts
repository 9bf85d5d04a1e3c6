import { expect, test } from '@jest/globals';
import { Activity, type Sums } from '../../cmd/vestibule/serve/replicas/activity.js';

const none: Sums = {
  signIns: 0,
  signInsFailed: 0,
  mailsSent: 0,
  mailsFailed: 0,
  requestsRefused: 0,
};
const minute = 60_000;

test('a minute is counted when it is over, and belongs to the clock', () => {
  let totals: Sums = { ...none, signIns: 5 };
  const activity = new Activity(() => totals, 90_000);
  totals = { ...totals, signIns: 7 };
  expect(activity.until(119_999)).toMatchObject({
    endTimestamp: '1970-01-01T00:01:00Z',
    signIns: [],
  });
  expect(activity.until(120_000)).toMatchObject({
    endTimestamp: '1970-01-01T00:02:00Z',
    signIns: [2],
    mailsSent: [0],
  });
  expect(activity.until(120_001).signIns).toEqual([2]);
  totals = { ...totals, signIns: 8, requestsRefused: 4 };
  expect(activity.until(3 * minute)).toMatchObject({ signIns: [2, 1], requestsRefused: [0, 4] });
});

test('minutes without a call are empty, and an hour is kept', () => {
  let totals = none;
  const activity = new Activity(() => totals, 0);
  totals = { ...totals, mailsFailed: 1 };
  expect(activity.until(4 * minute).mailsFailed).toEqual([1, 0, 0, 0]);
  totals = { ...totals, mailsFailed: 3 };
  const { mailsFailed } = activity.until(62 * minute);
  expect(mailsFailed).toHaveLength(60);
  expect(mailsFailed.slice(0, 4)).toEqual([0, 0, 2, 0]);
  totals = { ...totals, mailsFailed: 4 };
  expect(activity.until(500 * minute).mailsFailed).toEqual([1, ...Array<number>(59).fill(0)]);
});

test('a clock that was set back adds no minutes', () => {
  const activity = new Activity(() => none, 10 * minute);
  expect(activity.until(11 * minute).signIns).toEqual([0]);
  expect(activity.until(5 * minute)).toMatchObject({
    endTimestamp: '1970-01-01T00:11:00Z',
    signIns: [0],
  });
});
