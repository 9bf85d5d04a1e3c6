import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Where the repository is. */
export const root = join(import.meta.dirname, '../..');

/**
 * A piece of code on a page: what stands behind its fence, and its text; of an indented one there
 * is nothing but the text.
 */
export interface Block {
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

const elsewhere = new Set(['node_modules', 'dist', 'data', '.git', '.cache', 'out']);

/** Every file of the repository, by its path in it. */
export function files(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return elsewhere.has(entry.name) ? [] : files(path);
      return [relative(root, path)];
    })
    .sort();
}

/** Every page of the repository, by its path in it. */
export const pages = (): string[] => files().filter((path) => path.endsWith('.md'));

/** The text of a page. */
export const read = (page: string): string => readFileSync(join(root, page), 'utf8');

const fenced = /^```(\S*)(.*)\n([\s\S]*?)^```$/gm;

/** The fenced blocks of a page, in order. */
export const blocksOf = (page: string): Block[] =>
  [...read(page).matchAll(fenced)].map(([, language, words, text]) => ({
    language: language!,
    words: words!.trim().split(/\s+/).filter(Boolean),
    text: text!,
  }));

/** Its indented blocks, without the indent. */
export const indentedOf = (page: string): Block[] =>
  read(page)
    .replaceAll(fenced, '')
    .split(/\n(?! {4}|$)/)
    .flatMap((part) => {
      const lines = part.split('\n').filter((line) => line.startsWith('    '));
      return lines.length > 0
        ? [{ language: '', words: [], text: `${lines.map((line) => line.slice(4)).join('\n')}\n` }]
        : [];
    });

/** Its prose: without blocks and pieces of code in a line. */
export const proseOf = (page: string): string =>
  read(page)
    .replaceAll(fenced, '')
    .replaceAll(/`[^`\n]*`/g, '');

/** What may stand behind # in a link to it, as GitHub names headings. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of read(page)
    .replaceAll(fenced, '')
    .matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading!
      .replaceAll(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i += 1) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** A secret, and its hash for where a page says that one is to stand. */
export const secret = 'the secret of the tests, which stands on no page';

/** What pages leave to their reader, filled in: the hash of a secret. */
export const filled = (text: string, hash: string): string =>
  text.replaceAll(/sha256:<[^>]+>/g, `sha256:${hash}`);
