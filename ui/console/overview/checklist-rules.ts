import type { Replica } from '../../api.js';

/** What the Replicas say about one item: whether it is done, and what is known of it. */
export interface Finding {
  readonly isDone: boolean;
  /** The timestamp of the last mail or snapshot, if there is one. */
  readonly last?: string | undefined;
}

const snapshotAgeMs = 7 * 86_400_000;

/** Returns a setting of a replica. */
export const settingOf = (
  { status }: Replica,
  name: string,
): Replica['status']['settings'][number] | undefined =>
  status.settings.find((setting) => setting.name === name);

/** Returns the newest of timestamps; all of them are in UTC, so they sort as text. */
const newest = (timestamps: readonly (string | undefined)[]): string | undefined =>
  timestamps
    .filter((timestamp) => timestamp !== undefined)
    .sort()
    .at(-1);

const loopback = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])\.?$/;

/** Returns whether a base URL is an https URL of another host than this one. */
export function isPublicURL(value: string | undefined): boolean {
  if (value === undefined || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' && !loopback.test(hostname);
}

/** The base URL is public on all replicas. */
export const baseURLFinding = (replicas: readonly Replica[]): Finding => ({
  isDone: replicas.every((replica) => isPublicURL(settingOf(replica, 'base-url')?.value)),
});

/** Returns whether a replica keeps mails in the mock mailbox. */
export const isMailMocked = (replicas: readonly Replica[]): boolean =>
  replicas.some((replica) => settingOf(replica, 'mock-mail')?.value === 'true');

/** Mail is sent, and the mail server accepted one. */
export function mailFinding(replicas: readonly Replica[]): Finding {
  const last = newest(replicas.map(({ status }) => status.lastMailTimestamp));
  return { isDone: last !== undefined && !isMailMocked(replicas), last };
}

/** A snapshot was saved in the last seven days; `now` in ms since the epoch. */
export function backupFinding(replicas: readonly Replica[], now: number): Finding {
  const last = newest(replicas.map(({ status }) => status.store.lastSnapshotTimestamp));
  return { isDone: last !== undefined && now - Date.parse(last) < snapshotAgeMs, last };
}
