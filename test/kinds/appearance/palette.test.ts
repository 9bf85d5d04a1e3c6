import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { contrast, minContrast } from '../../../kinds/appearance/contrast.js';
import {
  accentFault,
  accentStyleSheet,
  backgrounds,
  type Palette,
  palettesOf,
} from '../../../kinds/appearance/palette.js';

const tokens = readFileSync('ui/style/tokens.css', 'utf8');

/** The properties of tokens.css, of light or of dark pages. */
function tokensOf(scheme: 'light' | 'dark'): Record<string, string> {
  const [light = '', dark = ''] = tokens.split('prefers-color-scheme: dark');
  const properties = (scheme === 'light' ? light : dark).matchAll(/--([\w-]+): (#[0-9a-f]+);/g);
  return Object.fromEntries(
    [...properties].map(([, name, value]) => [
      name,
      value!.length === 4 ? value!.replace(/[0-9a-f]/g, '$&$&') : value,
    ]),
  );
}

/** Each text of a palette with what it is on. */
function pairs(scheme: 'light' | 'dark', palette: Palette): [string, string, string][] {
  const { card, ground } = backgrounds[scheme];
  const { ink, soft } = tokensOf(scheme) as { ink: string; soft: string };
  return [
    ['a link on the card', palette.accent, card],
    ['a link beside the card', palette.accent, ground],
    ['a link under the pointer', palette['accent-deep'], card],
    ['a button', palette['accent-ink'], palette.accent],
    ['a button under the pointer', palette['accent-ink'], palette['accent-deep']],
    ['text of a notice', ink, palette['accent-soft']],
    ['small print of a notice', soft, palette['accent-soft']],
    ['the header', ink, palette.glow],
  ];
}

/** Colours from all over the cube. */
const colors = ['00', '33', '66', '99', 'cc', 'ff'].flatMap((red, _, all) =>
  all.flatMap((green) => all.map((blue) => `#${red}${green}${blue}`)),
);

describe('an accent colour', () => {
  test('is refused with its ratio where white text or a link would not be readable', () => {
    expect(accentFault('#ffd400')).toBe(
      'must have a contrast of at least 4.5:1 with #f6f5f2, the background of links (got 1.31:1)',
    );
    expect(accentFault('#ffffff')).toMatch(/the text of buttons \(got 1\.00:1\)$/);
    expect(accentFault('#000000')).toBeUndefined();
  });

  test('between the two is never rounded up to enough', () => {
    const ratios = colors
      .map((color) => /got ([\d.]+):1/.exec(accentFault(color) ?? '')?.[1])
      .filter((ratio) => ratio !== undefined);
    expect(ratios.length).toBeGreaterThan(50);
    expect(ratios.filter((ratio) => Number(ratio) >= minContrast)).toEqual([]);
  });

  test('that is accepted makes no text unreadable, on light and on dark pages', () => {
    const accepted = colors.filter((color) => accentFault(color) === undefined);
    expect(accepted.length).toBeGreaterThan(50);
    const unreadable = accepted.flatMap((color) =>
      (['light', 'dark'] as const).flatMap((scheme) =>
        pairs(scheme, palettesOf(color)[scheme])
          .filter(([, text, background]) => contrast(text, background) < minContrast)
          .map(([what]) => `${what} with ${color} on ${scheme} pages`),
      ),
    );
    expect(unreadable).toEqual([]);
  });

  test('is compared with the backgrounds that the pages have', () => {
    for (const scheme of ['light', 'dark'] as const) {
      expect(tokensOf(scheme)).toMatchObject(backgrounds[scheme]);
    }
  });

  test('sets properties that the pages use, and no others', () => {
    const names = [...accentStyleSheet('#0c6b62').matchAll(/--([\w-]+):/g)].map(([, name]) => name);
    expect(names).toHaveLength(10);
    for (const name of names) expect(tokens).toContain(`--${name}: `);
  });
});

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});
