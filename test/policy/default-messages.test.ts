import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openEngine } from '../../policy/engine/engine.js';
import { actions, kinds } from './kinds.js';

const folder = join(import.meta.dirname, '../../ui/messages');
const languages = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'en')
  .map(({ name }) => name);

const read = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(join(folder, language, 'rules.json'), 'utf8'));

test('every message of the default policy has a translation, and no other has', async () => {
  const engine = await openEngine(kinds, actions);
  const rules = await engine.summarizeRules(engine.defaultText);
  const messages = new Set(rules.map(({ message }) => `says.${message}`));
  expect([...messages].sort()).toEqual(Object.keys(read('en')).sort());
  expect(languages).toHaveLength(12);
  for (const language of languages) {
    const texts = read(language);
    expect(Object.keys(texts).sort()).toEqual([...messages].sort());
    for (const [id, text] of Object.entries(texts)) expect(id).not.toBe(`says.${text}`);
  }
});

test('a refusal by the default policy is in every language', async () => {
  const engine = await openEngine(kinds, actions);
  const caller = { type: 'Anonymous' } as const;
  const before = engine.decide({ caller, action: 'signUp' });
  await engine.activate('default', engine.defaultText);
  const refused = engine.decide({ caller, action: 'list', kind: kinds[0]! });
  for (const { allowed, reasons } of [before, refused]) {
    expect(allowed).toBe(false);
    expect(Object.keys(reasons[0]!.messages ?? {}).sort()).toEqual([...languages].sort());
  }
  const rules = await engine.summarizeRules(engine.defaultText);
  const forbidding = rules
    .filter(({ effect }) => effect === 'forbid')
    .map(({ message }) => message);
  const { catalogs } = await import('../../i18n/languages.js');
  for (const message of forbidding) expect(Object.values(catalogs['en']!)).toContain(message);
});
