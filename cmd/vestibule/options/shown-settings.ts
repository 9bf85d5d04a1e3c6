import type { ReplicaStatus } from '../../../kinds/replica.js';
import type { RuntimeSettings } from '../../../kinds/settings/runtime-settings.js';
import { shownSource } from '../../../registry/limits/setting-sources.js';
import { settings } from './flags.js';

type ShownSetting = ReplicaStatus['settings'][number];

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : String(value);

/**
 * Returns the settings that are not the default of every process, by name. Values are those that
 * Config has for display, so no secret is among them.
 */
export const shownSettings = ({
  displayed,
  sources,
}: Pick<RuntimeSettings, 'displayed' | 'sources'>): ShownSetting[] =>
  settings
    .flatMap(({ flag, default: fallback }) => {
      const value = textOf(displayed[flag]);
      const source = shownSource(sources[flag]);
      if (source === 'Default' && value === textOf(fallback)) return [];
      return [{ name: flag, ...(value !== undefined && { value }), source }];
    })
    .sort((setting, other) => (setting.name < other.name ? -1 : 1));
