import { t } from '../../base/text/message.js';

const known = (word: string | undefined): string =>
  word === undefined || word === 'Other' ? '' : word;

/** Returns the name of a browser and its system, as far as they are known. */
export function deviceName(client: { browser?: string; os?: string }): string {
  const [browser, os] = [known(client.browser), known(client.os)];
  return browser && os
    ? t('sessions.device', { browser, os })
    : browser || os || t('sessions.unknown');
}

/** Returns the same of a browser that the API names in English, such as "Firefox on Linux". */
export function browserName(name = ''): string {
  const [, browser, os] = /^(.+) on (\w+)$/.exec(name) ?? [];
  return deviceName({ ...(browser && os && { browser, os }) });
}
