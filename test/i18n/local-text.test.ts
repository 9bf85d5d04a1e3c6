import { expect, test } from '@jest/globals';
import { catalogs } from '../../i18n/languages.js';
import { localText } from '../../i18n/local-text.js';
import { builtInScopes } from '../../kinds/apps/claims/scopes.js';

const texts = { en: 'Photos', de: 'Fotos', 'de-CH': 'Föteli', 'zh-Hans': '照片', sv: 'Foton' };

test.each([
  [['de'], { text: 'Fotos' }],
  [['de-AT'], { text: 'Fotos' }],
  [['de-CH'], { text: 'Föteli' }],
  [['zh-CN'], { text: '照片' }],
  [['sv', 'de-CH'], { text: 'Föteli' }],
  [['sv'], { text: 'Photos' }],
  [['en-GB'], { text: 'Photos' }],
  [['ar'], { text: 'Photos', lang: 'en' }],
  [['constructor'], { text: 'Photos' }],
])('a reader of %j sees %j', (wanted, shown) => {
  expect(localText('Pics', texts, wanted)).toEqual(shown);
});

test('a text without languages is shown as it is, without a language', () => {
  expect(localText('Pics', undefined, ['de'])).toEqual({ text: 'Pics' });
  expect(localText('Pics', { fr: 'Images' }, ['de'])).toEqual({ text: 'Pics' });
});

test('the messages of built-in scopes are those of the API, all translated', () => {
  const expected = builtInScopes.flatMap(({ name, title, description, permissions, claims }) => [
    [`scope.${name}.title`, title],
    [`scope.${name}.description`, description],
    ...(permissions ?? []).map((text, i) => [`scope.${name}.permission.${i + 1}`, text]),
    ...claims.map((claim) => [`claim.${claim.name}`, claim.title]),
  ]);
  const messages = Object.entries(catalogs.en!).filter(([id]) => /^(scope|claim)\./.test(id));
  const { 'scope.withdrawn': withdrawn, ...others } = Object.fromEntries(messages);
  expect(withdrawn).toBeDefined();
  expect(others).toEqual(Object.fromEntries(expected));
});
