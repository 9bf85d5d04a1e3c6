/** A release of etcd as numbers. */
type Version = readonly [major: number, minor: number, patch: number];

const supported: readonly Version[] = [
  [3, 5, 33],
  [3, 6, 14],
];
const orderedProgress: readonly Version[] = [
  [3, 4, 25],
  [3, 5, 8],
  [3, 6, 0],
];

/** Reads `3.5.33`. */
export function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text
    .split(/[.+-]/)
    .map((part) => Number.parseInt(part, 10));
  return [major, minor, patch];
}

/**
 * Throws for an etcd before 3.4; answers a warning for one that is known to lose or repeat events
 * or to serve stale reads.
 */
export function checkVersion(text: string): string | undefined {
  const version = parseVersion(text);
  if (version[0] < 3 || (version[0] === 3 && version[1] < 4))
    throw new Error(`etcd ${text} is too old: at least 3.4 is needed, 3.5.33 or 3.6.14 supported`);
  return reaches(version, supported)
    ? undefined
    : `etcd ${text} is not supported: use 3.5.33, 3.6.14 or later`;
}

/** Whether an answer to a progress request cannot overtake events. */
export const ordersProgress = (version: Version): boolean => reaches(version, orderedProgress);

/** At least the named patch of its own minor line, or of a later line than all. */
function reaches([major, minor, patch]: Version, floors: readonly Version[]): boolean {
  const own = floors.find(([, line]) => line === minor);
  return major > 3 || (own ? patch >= own[2] : minor > floors.at(-1)![1]);
}
