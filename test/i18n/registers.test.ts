import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** Every message of a language, of pages and of the server, by file and ID. */
function messagesOf(language: string): [string, string][] {
  const folder = join(root, 'ui/messages', language);
  const files = [
    ...readdirSync(folder).map((name) => join(folder, name)),
    join(root, 'i18n/messages', `${language}.json`),
  ];
  return files.flatMap((file) =>
    Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>),
  );
}

/** One form of address and one word for a thing, in each language that had two. */
const other: Readonly<Record<string, RegExp>> = {
  es: /\busted|\bapps?\b(?!\})|claves? de acceso|\b(escriba|abra|elija|inicie|compruebe|añada|vuelva|guarde|cambie|consulte|pulse|introduzca|compartass|puede que no pueda|tiene sesión|no tiene que|qu[eé]\S* \w+ quiere)\b|\bsu cuenta\b(?! por correo)/i,
  it: /\b(scelga|acceda|inserisca|aggiunga|apra|legga|prema|verifichi|consulti|che può vedere|ciò che può)\b/i,
  ja: /サイン(イン|アウト)|端末|ブラウザ(?!ー)|運営者/,
  nl: /\b(u|uw|uzelf)\b/i,
  'zh-Hans': /账户|帐[户号]/,
};

test.each(Object.keys(other))('%s has one register and one vocabulary', (language) => {
  const pattern = other[language]!;
  expect(
    messagesOf(language).filter(([, text]) => pattern.test(text.replaceAll('{app}', ''))),
  ).toEqual([]);
});
