import { createHash } from 'node:crypto';
import { parse, parseAllDocuments } from 'yaml';
import type { ClientSpec } from '../../kinds/apps/client/client.js';
import { blocksOf, filled, indentedOf, pages, secret } from './pages.js';

/** An object that a page shows, whole. */
export interface Shown {
  readonly page: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
  readonly text: string;
}

const hash = createHash('sha256').update(secret).digest('hex');

let found: readonly Shown[] | undefined;

/**
 * Every object of this service that the pages show, except Policies, whose text stands elsewhere.
 */
export function objectsShown(): readonly Shown[] {
  return (found ??= pages()
    .flatMap((page) =>
      [...blocksOf(page), ...indentedOf(page)]
        .filter(({ text }) => text.startsWith('apiVersion: id.vestibule.org/'))
        .flatMap(({ text }) =>
          parseAllDocuments(filled(text, hash)).map((document) => ({
            page,
            text: document.toString(),
            ...(document.toJS() as Omit<Shown, 'page' | 'text'>),
          })),
        ),
    )
    .filter(({ kind }) => kind !== 'Policy'));
}

/** The Client that the page of an application shows. */
export function clientOf(page: string): {
  readonly name: string;
  readonly spec: ClientSpec;
  readonly text: string;
} {
  const { metadata, spec, text } = objectsShown().find(
    (one) => one.page === page && one.kind === 'Client',
  )!;
  return { name: metadata.name, spec: spec as ClientSpec, text };
}

/** What a page gives in one language, such as the file of a program; parsed where that is YAML. */
export const given = (page: string, language: string, begins = ''): string =>
  blocksOf(page).find((block) => block.language === language && block.text.startsWith(begins))!
    .text;
export const givenYaml = (page: string, begins: string): any => parse(given(page, 'yaml', begins));
