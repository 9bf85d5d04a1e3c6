import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';

const config = readFileSync('ui/vite.config.ts', 'utf8');

/** The parts of the messages that the catalogs of an entry have. */
const listed = (entry: string): string[] => {
  const [, parts = ''] = new RegExp(`^  ${entry}: \\[([^\\]]*)\\]`, 'm').exec(config)!;
  return [...parts.matchAll(/'(\w+)'/g)].map(([, part]) => part!);
};

/** The file of ours that an import names, or undefined. */
const resolved = (from: string, name: string): string | undefined => {
  const file = join(from, '..', name);
  return [file, file.replace(/\.js$/, '.ts'), file.replace(/\.js$/, '.tsx')].find(existsSync);
};

/** The English parts that a page can load: all that its imports lead to, also dynamic ones. */
function loadable(entry: string): Set<string> {
  const seen = new Set<string>();
  const open = [`ui/${entry}/main.tsx`, `ui/${entry}/main.ts`].filter(existsSync);
  for (let file = open.pop(); file; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (!/\.tsx?$/.test(file)) continue;
    const text = readFileSync(file, 'utf8').replace(/^(import|export) type [^;]*;/gm, '');
    for (const [, name] of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
      const found = resolved(file, name!);
      if (found) open.push(found);
    }
  }
  const parts = [...seen].filter((file) => file.startsWith('ui/messages/en/'));
  return new Set(parts.map((file) => basename(file, '.json')));
}

test.each(['signin', 'account', 'mailbox', 'policy', 'recovery', 'console', 'invitation'])(
  'every part of the messages that a page can load is in its catalogs: %s',
  (entry) => {
    const parts = loadable(entry);
    expect(parts).toContain('base');
    expect(parts.size).toBeGreaterThan(1);
    expect([...parts].filter((part) => !listed(entry).includes(part))).toEqual([]);
  },
);
