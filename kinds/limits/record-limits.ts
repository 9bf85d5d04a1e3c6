import { count, duration, type LimitSetting } from '../../registry/limits/limit-setting.js';

const retentionBounds = 'less forgets what was decided before anyone asks, more fills the store';

/** The limits of what is recorded about decisions and reviews. */
export const recordLimits = {
  decisionRetention: duration(
    '2160h',
    ['24h', '26280h'],
    retentionBounds,
    'How long a refusal, a change or an attempt that failed stays recorded after it was last made.',
  ),
  readDecisionRetention: duration(
    '720h',
    ['24h', '26280h'],
    retentionBounds,
    'How long a permitted read, or a sign-in by a live session, stays recorded after it was last ' +
      'made.',
  ),
  signInRetention: duration(
    '1440h',
    ['24h', '26280h'],
    'less forgets who signed in before anyone asks, more fills the store',
    'How long a sign-in stays recorded.',
  ),
  decisionsPerAccount: count(
    2_000,
    [100, 20_000],
    'fewer forget what was just decided, and each is kept for decisionRetention',
    'Recorded decisions about one account; above it, the oldest are deleted. More frequent ' +
      'decisions are only counted.',
  ),
  recordedChanges: count(
    120,
    [10, 10_000],
    'fewer leave changes without a record of their own, and each is kept for decisionRetention',
    'Changes by one account that a replica records one by one in an hour; more are only counted.',
  ),
  recordedRefusals: count(
    60,
    [5, 10_000],
    'fewer hide what was tried, and each is kept for decisionRetention',
    'Refusals of one account that a replica records one by one in an hour; more are only counted.',
  ),
  recordedRefusalsInAll: count(
    1_200,
    [60, 1_000_000],
    'fewer hide what was tried, and each is kept for decisionRetention',
    'Refusals that a replica records one by one in a minute; more are only counted.',
  ),
  reviewsPerAccount: count(
    500,
    [50, 20_000],
    'fewer forget what an app was just given, and each is kept for 90 days',
    'Recorded claims reviews about one account; above it, the oldest are deleted.',
  ),
} as const satisfies Record<string, LimitSetting>;
