import { contrast, minContrast, mix } from './contrast.js';

/** The backgrounds of the pages. ui/style/tokens.css has the same ones, which a test compares. */
export const backgrounds = {
  light: { card: '#ffffff', ground: '#f6f5f2' },
  dark: { card: '#1b1a21', ground: '#121116' },
} as const;

/** The custom properties of ui/style/tokens.css that follow from an accent colour. */
export interface Palette {
  /** Links, the main button, the focus ring. */
  readonly accent: string;
  /** The text of the main button. */
  readonly 'accent-ink': string;
  /** A link or a main button under the pointer. */
  readonly 'accent-deep': string;
  /** The background of notices, quotes and pressed buttons. */
  readonly 'accent-soft': string;
  /** The light behind the card. */
  readonly glow: string;
}

const white = '#ffffff';
const black = '#000000';

/** The contrast that the colour of dark pages gets: more than required, for thin text. */
const darkContrast = 7;

/**
 * Returns why text cannot have this colour on the light pages or be white on it, or undefined. The
 * colour of dark pages is derived, so it always has enough contrast.
 */
export function accentFault(accent: string): string | undefined {
  const { card, ground } = backgrounds.light;
  const uses = [
    { color: card, use: 'the text of buttons' },
    { color: ground, use: 'the background of links' },
  ].map((pair) => ({ ...pair, ratio: contrast(accent, pair.color) }));
  const worst = uses.reduce((first, second) => (second.ratio < first.ratio ? second : first));
  if (worst.ratio >= minContrast) return undefined;
  const ratio = (Math.floor(worst.ratio * 100) / 100).toFixed(2);
  return `must have a contrast of at least ${minContrast}:1 with ${worst.color}, ${worst.use} (got ${ratio}:1)`;
}

/** Returns the colour mixed with white until it is readable on the dark card. */
function lighten(accent: string): string {
  for (let share = 0; share < 1; share += 0.05) {
    const lighter = mix(accent, white, share);
    if (contrast(lighter, backgrounds.dark.card) >= darkContrast) return lighter;
  }
  return white;
}

/** Returns the colours of light and dark pages for an accent colour in the form #rrggbb. */
export function palettesOf(color: string): { readonly light: Palette; readonly dark: Palette } {
  const { light, dark } = backgrounds;
  const onDark = lighten(color);
  return {
    light: {
      accent: color,
      'accent-ink': light.card,
      'accent-deep': mix(color, black, 0.25),
      'accent-soft': mix(light.card, color, 0.09),
      glow: mix(light.ground, color, 0.08),
    },
    dark: {
      accent: onDark,
      'accent-ink': dark.ground,
      'accent-deep': mix(onDark, white, 0.35),
      'accent-soft': mix(dark.card, onDark, 0.18),
      glow: mix(dark.ground, onDark, 0.1),
    },
  };
}

const declarations = (palette: Palette): string =>
  Object.entries(palette)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');

/**
 * Returns the style sheet that gives the pages an accent colour. Its selector wins over the one of
 * ui/style/tokens.css in any order; forced colours ignore both.
 */
export function accentStyleSheet(color: string): string {
  const { light, dark } = palettesOf(color);
  return (
    `:root:root{${declarations(light)}}\n` +
    `@media (prefers-color-scheme:dark){:root:root{${declarations(dark)}}}\n`
  );
}
