import type { Account } from '../../api.js';
import { locale } from '../../base/text/i18n.js';

type Choice = readonly [value: string, name: string];

/** The languages to choose from, BCP 47. */
const languageTags = (
  'ar bg bn ca cs cy da de de-AT de-CH el en en-GB en-US es es-MX et eu fa fi fil fr fr-CA fr-CH ga he ' +
  'hi hr hu id is it ja ko lt lv ms nb nl pl pt-BR pt-PT ro ru sk sl sq sr sv th tr uk ur vi zh-Hans zh-Hant'
).split(' ');

function languages(): Choice[] {
  const names = new Intl.DisplayNames(locale(), {
    type: 'language',
    languageDisplay: 'standard',
  });
  const { compare } = new Intl.Collator(locale());
  return languageTags
    .map((tag): Choice => [tag, names.of(tag) ?? tag])
    .sort(([, label], [, other]) => compare(label, other));
}

const timeZones = (): Choice[] =>
  Intl.supportedValuesOf('timeZone').map((zone) => [zone, zone.replaceAll('_', ' ')]);

/**
 * Returns the values that a claim is chosen from, or undefined if it is typed. A value that was set
 * elsewhere is among them.
 */
export function choicesOf(
  claim: keyof Account['spec'],
  current: string | undefined,
): readonly Choice[] | undefined {
  if (claim !== 'locale' && claim !== 'timeZone') return undefined;
  const choices = claim === 'locale' ? languages() : timeZones();
  const isListed = !current || choices.some(([value]) => value === current);
  return [['', '—'], ...(isListed ? [] : [[current, current] as const]), ...choices];
}
