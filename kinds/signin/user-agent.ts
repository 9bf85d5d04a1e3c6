/** What a user agent says it is; `Other` where it says nothing known. */
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

const first = <T>(rows: readonly [RegExp, T][], text: string): T | undefined =>
  rows.find(([pattern]) => pattern.test(text))?.[1];

/** Browser, system and kind of device, as its user agent says. */
export function deviceOf(userAgent: string): Device {
  const text = userAgent.slice(0, 512);
  return {
    browser: first(browsers, text) ?? 'Other',
    os: first(systems, text) ?? 'Other',
    device: first(devices, text) ?? 'Other',
  };
}

/** "Firefox on Linux", as a mail names who asked. */
export const describeBrowser = (userAgent: string): string => describeDevice(deviceOf(userAgent));

/** The same of what a session was begun from. */
export const describeDevice = ({ browser, os }: Pick<Device, 'browser' | 'os'>): string =>
  browser === 'Other' && os === 'Other' ? 'an unknown browser' : `${browser} on ${os}`;

/**
 * What asked, as it says itself: a browser by its name, any other program by the beginning of its
 * user agent.
 */
export function describeProgram(userAgent: string): string {
  if (deviceOf(userAgent).browser !== 'Other') return describeBrowser(userAgent);
  return (
    userAgent
      .replaceAll(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, 80) || 'an unknown program'
  );
}
