import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '../../../deploy/examples/gitops');

/** Returns the text of a file of `deploy/examples/gitops`. */
export function exampleFile(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** Returns the objects of a YAML file of `deploy/examples/gitops`, by kind. */
export function exampleObjects(name: string): Record<string, any> {
  return Object.fromEntries(
    parseAllDocuments(exampleFile(name))
      .map((document) => document.toJS() as { kind: string })
      .map((object) => [object.kind, object]),
  );
}

/** Returns the text of each file in a folder of `deploy/examples/gitops`, by its name. */
export function exampleFolder(path: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(root, path)).map((name) => [name, exampleFile(join(path, name))]),
  );
}
