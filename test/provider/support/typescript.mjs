/**
 * Lets a plain node process import the TypeScript sources, for tests of what a real start prints.
 */
import { register } from 'node:module';

const hooks = `
  import { readFileSync, existsSync } from 'node:fs';
  import { fileURLToPath } from 'node:url';
  import { transformSync } from ${JSON.stringify(import.meta.resolve('@swc/core'))};
  export async function resolve(specifier, context, next) {
    if (/^\\.{1,2}\\//.test(specifier) && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
      const typed = new URL(specifier.slice(0, -3) + '.ts', context.parentURL);
      if (existsSync(typed)) return { url: typed.href, shortCircuit: true };
    }
    return next(specifier, context);
  }
  export async function load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), { jsc: { parser: { syntax: 'typescript' }, target: 'es2022', experimental: { keepImportAttributes: true } }, module: { type: 'es6' } });
    return { format: 'module', source: code, shortCircuit: true };
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
