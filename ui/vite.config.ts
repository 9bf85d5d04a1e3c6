import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const messages = join(import.meta.dirname, 'messages');
/** The texts of the server; those of built-in scopes are the part `scopes` of a page. */
const sharedMessages = join(import.meta.dirname, '../i18n/messages');
const languages = readdirSync(messages, { withFileTypes: true })
  .filter((folder) => folder.isDirectory() && folder.name !== 'en')
  .map(({ name }) => name);

/** The parts of the messages that an entry uses; each file of messages/en is a part. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  signin: [
    'base',
    'signin',
    'proof',
    'address',
    'ends',
    'setup',
    'passkey',
    'refusal',
    'alternatives',
    'stepup',
    'scopes',
  ],
  account: [
    'base',
    'frame',
    'account',
    'address',
    'apps',
    'access',
    'passkey',
    'decisions',
    'rules',
    'alternatives',
    'scopes',
  ],
  mailbox: ['base', 'mailbox'],
  policy: ['base', 'policy', 'decisions', 'rules', 'alternatives'],
  recovery: ['base', 'recovery'],
  console: [
    'base',
    'frame',
    'console',
    'activity',
    'groups',
    'people',
    'accessrequests',
    'report',
    'checklist',
    'overview',
    'settings',
    'mail',
    'appearance',
    'signin',
    'policies',
    'policy',
    'decisions',
    'rules',
    'alternatives',
  ],
  invitation: ['base', 'invitation'],
};

/** What an entry that is no page of the service has, such as the gallery of the tests: all parts. */
const allParts = readdirSync(join(messages, 'en'))
  .map((file) => file.replace('.json', ''))
  .concat('scopes');

/** The entry of a language in `catalog:languages`: computed here, since it takes browsers long. */
function languageEntry(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag);
  const fields = JSON.stringify({ name, form: `${language}-${script}` });
  return tag === 'en'
    ? `['en', ${fields}]`
    : `['${tag}', { ...${fields}, load: () => import('catalog:${tag}') }]`;
}

/**
 * Serves `catalog:languages`, every language with its name in itself and, except English, an import
 * of its one catalog: the messages of the parts that the entry uses.
 */
const catalogs = (entry: string): Plugin => ({
  name: 'catalogs',
  resolveId: (id) => (id.startsWith('catalog:') ? `\0${id}` : undefined),
  load(id) {
    const name = /^\0catalog:(.+)$/.exec(id)?.[1];
    if (name === undefined) return undefined;
    if (name === 'languages') {
      const entries = ['en', ...languages].map(languageEntry);
      return `export const languages = new Map([${entries.join()}]);`;
    }
    const catalog: Record<string, string> = {};
    for (const part of partsOf[entry] ?? allParts) {
      const file =
        part === 'scopes'
          ? join(sharedMessages, `${name}.json`)
          : join(messages, name, `${part}.json`);
      this.addWatchFile(file);
      const texts = Object.entries<string>(JSON.parse(readFileSync(file, 'utf8')));
      const used = texts.filter(([id]) => part !== 'scopes' || /^(scope|claim)\./.test(id));
      Object.assign(catalog, Object.fromEntries(used));
    }
    return `export const catalog = ${JSON.stringify(catalog)};`;
  },
});

/**
 * Replaces Vite's preload helper: chunks have no style sheet and nothing to preload, so a dynamic
 * import needs no wrapper.
 */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) =>
    id === '\0vite/preload-helper.js'
      ? 'export const __vitePreload = (load) => load();'
      : undefined,
};

/** Leaves the notes about programs to the documentation, which is in one language. */
const templatesWithoutNotes: Plugin = {
  name: 'templates-without-notes',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/app-templates.json')) return undefined;
    return JSON.stringify(JSON.parse(code, (key, value) => (key === 'notes' ? undefined : value)));
  },
};

/**
 * The first line of a page's script. Every function in it runs before the first view, so V8
 * compiles the script off the main thread while it arrives. Chunks are compiled as they are called.
 */
const runAtOnce = '//# allFunctionsCalledOnLoad';

/** Pages with a style sheet of their own, named after the page. */
const dressed = new Set(['account', 'policy', 'console']);

/**
 * Builds one entry, named by the mode, into its own bundle: a page loads one script (the console two)
 * and one style sheet. Entries that are not in `dressed` share one style sheet, so its name is the
 * same for all of them. `build.mjs` runs this once per entry.
 */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: '/',
  publicDir: false,
  clearScreen: false,
  logLevel: 'warn',
  plugins: [plainImports, templatesWithoutNotes, catalogs(mode)],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    emptyOutDir: false,
    manifest: `manifest-${mode}.json`,
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    // A script that the page's script imports is loaded beside it.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_name, files, { hostType }) => (hostType === 'html' ? files : []),
    },
    reportCompressedSize: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/${mode}.html`,
      output: {
        // What several chunks of the console need is one file, not one for each set of chunks.
        ...(mode === 'console' && {
          codeSplitting: { groups: [{ name: 'shared', test: /\/ui\/(base|console\/base)\// }] },
        }),
        postBanner: ({ isDynamicEntry }) => (isDynamicEntry ? '' : runAtOnce),
        assetFileNames: ({ names: [name = ''] }) =>
          name.endsWith('.css')
            ? `assets/${dressed.has(mode) ? mode : 'style'}-[hash].css`
            : 'assets/[name]-[hash][extname]',
      },
    },
  },
}));
