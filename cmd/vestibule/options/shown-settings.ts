import type { ReplicaStatus } from '../../../kinds/replica.js';
import type { Config } from './config.js';
import { settings } from './flags.js';

type ShownSetting = ReplicaStatus['settings'][number];

const sourceOf = (source: string | undefined): ShownSetting['source'] => {
  if (source === undefined || source === 'default') return 'Default';
  if (source === 'flag') return 'Flag';
  return source === 'file' ? 'File' : 'Environment';
};

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : String(value);

/**
 * Returns the settings that are not the default of every process, by name. Values are those that
 * Config has for display, so no secret is among them.
 */
export const shownSettings = ({
  displayed,
  sources,
}: Pick<Config, 'displayed' | 'sources'>): ShownSetting[] =>
  settings
    .flatMap(({ flag, default: fallback }) => {
      const value = textOf(displayed[flag]);
      const source = sourceOf(sources[flag]);
      if (source === 'Default' && value === textOf(fallback)) return [];
      return [{ name: flag, ...(value !== undefined && { value }), source }];
    })
    .sort((setting, other) => (setting.name < other.name ? -1 : 1));
