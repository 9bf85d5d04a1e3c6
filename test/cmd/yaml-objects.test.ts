import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  readManifestFiles,
  validateManifests,
} from '../../cmd/vestibule/serve/manifests/manifest-file.js';

const apiVersion = 'id.vestibule.org/v1beta1';
const group = (name: string): string =>
  `apiVersion: ${apiVersion}\nkind: Group\nmetadata: { name: ${name} }\nspec: { displayName: ${name} }\n`;
const json = (name: string): string =>
  JSON.stringify({ apiVersion, kind: 'Group', metadata: { name }, spec: { displayName: name } });
const items = (...names: string[]): string => `[${names.map(json).join(', ')}]`;

/** A folder with one file. */
function folderWith(text: string, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'vestibule-yaml-'));
  writeFileSync(join(folder, name), text);
  return folder;
}

describe('a file of manifests is read as kubectl reads it', () => {
  test.each<[string, string, string[]]>([
    ['with several documents', `${group('one')}---\n${group('two')}`, ['one', 'two']],
    ['with empty documents and comments', `---\n# none\n---\n${group('one')}---\n---\n`, ['one']],
    ['with a byte order mark', `\uFEFF${group('one')}`, ['one']],
    ['with CRLF', `${group('one')}---\n${group('two')}`.replaceAll('\n', '\r\n'), ['one', 'two']],
    [
      'with an anchor and an alias',
      `apiVersion: ${apiVersion}\nkind: Group\nmetadata: { name: &name one }\nspec: { displayName: *name }\n`,
      ['one'],
    ],
    [
      'with a merge key',
      `apiVersion: ${apiVersion}\nkind: Group\nmetadata: &all { name: one }\nspec: { displayName: one }\n---\napiVersion: ${apiVersion}\nkind: Group\nmetadata: { <<: { labels: { a: b } }, name: two }\nspec: { displayName: two }\n`,
      ['one', 'two'],
    ],
    ['with a List', `apiVersion: v1\nkind: List\nitems: ${items('one', 'two')}\n`, ['one', 'two']],
    ['with an empty List', 'apiVersion: v1\nkind: List\nitems: []\n', []],
    ['with a List of nothing', 'apiVersion: v1\nkind: List\nitems:\n', []],
    ['with a List without items', 'apiVersion: v1\nkind: List\n', []],
    [
      'with a list of a kind, of nothing',
      `apiVersion: ${apiVersion}\nkind: GroupList\nitems: null\n`,
      [],
    ],
    [
      'with a list of a kind, whose items have none',
      `apiVersion: ${apiVersion}\nkind: GroupList\nitems: [{ metadata: { name: one }, spec: { displayName: One } }]\n`,
      ['one'],
    ],
    [
      'with a List in a List',
      `apiVersion: v1\nkind: List\nitems: [{ apiVersion: v1, kind: List, items: ${items('one')} }]\n`,
      ['one'],
    ],
    ['in JSON', json('one'), ['one']],
    ['in JSON in a file of YAML', json('one'), ['one']],
    ['empty', '', []],
  ])('%s', (title, text, names) => {
    const folder = folderWith(text, title === 'in JSON' ? 'a.json' : 'a.yaml');
    const [file] = readManifestFiles(folder);
    expect([file!.fault, file!.manifests.map(({ metadata }) => metadata.name)]).toEqual([
      undefined,
      names,
    ]);
    expect(validateManifests(folder)).toEqual([]);
  });
});

describe('what cannot be loaded is named with the file and the place', () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
`;
  test.each<[string, string, RegExp]>([
    [
      'a kind of Kubernetes',
      `${group('one')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: two }\n`,
      /line 6: only Client.*can be loaded, got ConfigMap of v1/,
    ],
    [
      'a kind of ours in another group',
      'apiVersion: user.openshift.io/v1\nkind: Group\nmetadata: { name: one }\n',
      /line 1: .*got Group of user\.openshift\.io\/v1/,
    ],
    [
      'a foreign kind in a List',
      `apiVersion: v1\nkind: List\nitems: [${json('one')}, { apiVersion: apps/v1, kind: Deployment }]\n`,
      /line 1: items\[1\]: .*got Deployment of apps\/v1/,
    ],
    ['a document without kind', `${group('one')}---\nmetadata: { name: two }\n`, /line 6: kind is/],
    ['one without apiVersion', 'kind: Group\nmetadata: { name: one }\n', /line 1: apiVersion is/],
    ['text', 'hello\n', /line 1: is no object/],
    ['a List of text', 'apiVersion: v1\nkind: List\nitems: one\n', /line 1: items must be a list/],
    ['a List of a map', 'apiVersion: v1\nkind: List\nitems: {}\n', /line 1: items must be a list/],
    ['an item that is no object', 'apiVersion: v1\nkind: List\nitems: [1]\n', /items\[0\]: is no/],
    ['a tab', 'kind: Group\nmetadata:\n\tname: one\n', /line 3: Tabs are not allowed/],
    ['a list of objects', `- ${json('one')}\n`, /line 1: is no object/],
    ['an alias without anchor', 'kind: *none\n', /line 1: .*none/],
    [
      'an alias in what it names',
      'kind: Group\nmetadata: &m\n  labels: *m\n',
      /line 3: \*m is within/,
    ],
    ['an alias in a list that it names', '&l\n- *l\n', /line 2: \*l is within/],
    ['aliases that fill memory', bomb, /line 1: Excessive alias count/],
    ['what is no YAML', `${group('one')}---\nkind: [\n`, /line [67]: /],
    ['a key that is there twice', 'kind: Group\nkind: Client\n', /line 2: Map keys must be unique/],
  ])('%s', (_, text, fault) => {
    const folder = folderWith(text, 'a.yaml');
    const problems = validateManifests(folder);
    expect(problems).toEqual([expect.stringMatching(fault)]);
    expect(problems[0]).toContain(`--manifests: ${join(folder, 'a.yaml')}: `);
  });
});
