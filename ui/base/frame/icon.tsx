import sprite from '../../icons.svg';

/** The icons in the sprite, by their names in Lucide; `hack/tools/icons/build` reads this list. */
export type IconName =
  | 'activity'
  | 'app-window'
  | 'arrow-down'
  | 'arrow-up'
  | 'ban'
  | 'braces'
  | 'check'
  | 'chevron-down'
  | 'chevron-left'
  | 'circle-alert'
  | 'circle-check'
  | 'circle-user'
  | 'circle-x'
  | 'clock'
  | 'columns-3'
  | 'copy'
  | 'database'
  | 'download'
  | 'ellipsis'
  | 'external-link'
  | 'fingerprint-pattern'
  | 'inbox'
  | 'key-round'
  | 'layers'
  | 'layout-dashboard'
  | 'list-checks'
  | 'lock'
  | 'log-in'
  | 'log-out'
  | 'mail'
  | 'menu'
  | 'minus'
  | 'monitor'
  | 'palette'
  | 'pencil'
  | 'plus'
  | 'rotate-ccw'
  | 'scale'
  | 'search'
  | 'send'
  | 'share-2'
  | 'sliders-horizontal'
  | 'smartphone'
  | 'trash'
  | 'triangle-alert'
  | 'upload'
  | 'user-plus'
  | 'users'
  | 'x';

/** What points in the direction of reading, and turns where that is from right to left. */
const directed: ReadonlySet<IconName> = new Set([
  'chevron-left',
  'external-link',
  'log-in',
  'log-out',
]);

/** An icon of 16 px. It says nothing to screen readers: words stand beside it, or name its button. */
export const Icon = ({ of: name }: { of: IconName }) => (
  <svg class={directed.has(name) ? 'icon turns' : 'icon'} aria-hidden="true">
    <use href={`${sprite}#${name}`} />
  </svg>
);
