/** Where the value of a setting comes from, as objects say it. */
export const settingSources = ['Flag', 'Environment', 'File', 'Settings', 'Default'] as const;

type SettingSource = (typeof settingSources)[number];

const shownSources: ReadonlyMap<string, SettingSource> = new Map([
  ['flag', 'Flag'],
  ['file', 'File'],
  ['spec', 'Settings'],
  ['default', 'Default'],
]);

/** Returns the source of a setting as objects say it; other names are those of variables. */
export const shownSource = (source = 'default'): SettingSource =>
  shownSources.get(source) ?? 'Environment';
