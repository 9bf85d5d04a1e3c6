const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'Mac'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** Returns the platform of this device by its user agent, for the first name of a new passkey. */
export const platformName = (): string | undefined =>
  systems.find(([pattern]) => pattern.test(navigator.userAgent))?.[1];
