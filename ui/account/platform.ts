const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'Mac'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/**
 * What this device is called by what it says of itself, for a first name of a passkey made here.
 */
export const platformName = (): string | undefined =>
  systems.find(([pattern]) => pattern.test(navigator.userAgent))?.[1];
