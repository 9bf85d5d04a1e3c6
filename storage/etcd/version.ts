/** A version of etcd. */
type Version = readonly [major: number, minor: number, patch: number];

const supportedVersions: readonly Version[] = [
  [3, 5, 33],
  [3, 6, 14],
];
const orderedProgressVersions: readonly Version[] = [
  [3, 4, 25],
  [3, 5, 8],
  [3, 6, 0],
];

/** Parses a version such as `3.5.33`. */
export function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text
    .split(/[.+-]/)
    .map((part) => Number.parseInt(part, 10));
  return [major, minor, patch];
}

/**
 * Throws for etcd before 3.4. Returns a warning for versions known to lose or repeat events or to
 * serve stale reads.
 */
export function checkVersion(text: string): string | undefined {
  const version = parseVersion(text);
  if (version[0] < 3 || (version[0] === 3 && version[1] < 4)) {
    throw new Error(`etcd ${text} is too old: at least 3.4 is needed, 3.5.33 or 3.6.14 supported`);
  }
  return isAtLeast(version, supportedVersions)
    ? undefined
    : `etcd ${text} is not supported: use 3.5.33, 3.6.14 or later`;
}

/** Returns whether the response to a progress request cannot overtake events. */
export const ordersProgress = (version: Version): boolean =>
  isAtLeast(version, orderedProgressVersions);

/**
 * Returns whether a version has at least the minimum patch of its minor version, or a newer minor
 * version than all.
 */
function isAtLeast([major, minor, patch]: Version, minimums: readonly Version[]): boolean {
  const minimum = minimums.find(([, line]) => line === minor);
  return major > 3 || (minimum ? patch >= minimum[2] : minor > minimums.at(-1)![1]);
}
