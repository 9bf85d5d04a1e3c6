import type { ReplicaStatus } from '../../../kinds/replica.js';
import type { Config } from './config.js';
import { settings } from './flags.js';

type ShownSetting = ReplicaStatus['settings'][number];

const sourceOf = (source: string | undefined): ShownSetting['source'] => {
  if (source === undefined || source === 'default') return 'Default';
  if (source === 'flag') return 'Flag';
  return source === 'file' ? 'File' : 'Environment';
};

/** Hides the user and the password of URLs, which Config shows. */
const withoutUserinfo = (value: string): string => value.replaceAll(/\/\/[^/,]*@/g, '//***@');

/**
 * Returns every setting with its value, by name. Values are those that Config has for display, so
 * no secret is among them.
 */
export const shownSettings = ({
  displayed,
  sources,
}: Pick<Config, 'displayed' | 'sources'>): ShownSetting[] =>
  settings
    .map(({ flag }) => ({
      name: flag,
      ...(displayed[flag] !== undefined && { value: withoutUserinfo(String(displayed[flag])) }),
      source: sourceOf(sources[flag]),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
