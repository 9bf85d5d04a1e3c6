/** The device that a user agent names; `Other` if unknown. */
interface Device {
  readonly browser: string;
  readonly os: string;
  readonly device: 'Desktop' | 'Phone' | 'Tablet' | 'Other';
}

const browsers: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/[\d.]{1,16}(?: Mobile(?:\/\w{1,16})?)? Safari\//, 'Safari'],
];
const systems: readonly [RegExp, string][] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iOS'],
  [/\biPad\b/, 'iPadOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
const devices: readonly [RegExp, Device['device']][] = [
  [/\biPad\b|\bTablet\b/, 'Tablet'],
  [/\bMobi|\biPhone\b/, 'Phone'],
  [/\bAndroid\b/, 'Tablet'],
  [/\bWindows\b|\bMacintosh\b|\bX11\b|\bCrOS\b/, 'Desktop'],
];

const firstMatch = <T>(rows: readonly [RegExp, T][], text: string): T | undefined =>
  rows.find(([pattern]) => pattern.test(text))?.[1];

/** Returns browser, operating system and device type from a user agent. */
export function deviceOf(userAgent: string): Device {
  const text = userAgent.slice(0, 512);
  return {
    browser: firstMatch(browsers, text) ?? 'Other',
    os: firstMatch(systems, text) ?? 'Other',
    device: firstMatch(devices, text) ?? 'Other',
  };
}

/** Returns a browser as mails name it: "Firefox on Linux". */
export const describeBrowser = (userAgent: string): string => describeDevice(deviceOf(userAgent));

/** Returns the device of a session in the same form. */
export const describeDevice = ({ browser, os }: Pick<Device, 'browser' | 'os'>): string =>
  browser === 'Other' && os === 'Other' ? 'an unknown browser' : `${browser} on ${os}`;

/**
 * Returns the name of a program from its user agent: a known browser, else the first 80 printable
 * characters, if there are any.
 */
export function describeProgram(userAgent: string): string | undefined {
  if (deviceOf(userAgent).browser !== 'Other') return describeBrowser(userAgent);
  return (
    userAgent
      .replaceAll(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, 80) || undefined
  );
}
