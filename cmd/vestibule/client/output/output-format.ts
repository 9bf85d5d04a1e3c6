import { Document, visit } from 'yaml';
import { CommandError } from '../../terminal/errors.js';
import { escapeControls, stripControls } from '../../terminal/output.js';

/** An output format; `table` is the default, `wide` shows all columns. */
export type Format = 'table' | 'wide' | 'json' | 'yaml' | 'name';

/** Parses `-o`; `supported` are the formats of the subcommand besides `table`. */
export function parseFormat(
  text: string | undefined,
  supported: readonly Exclude<Format, 'table'>[],
): Format {
  if (text === undefined || text === '') return 'table';
  const format = supported.find((known) => known === text);
  if (format === undefined) {
    throw new CommandError(`-o ${text}: unknown format; known are ${supported.join(', ')}`, 2);
  }
  return format;
}

/** Formats JSON like kubectl: sorted keys, indented by four. */
export const formatJSON = (value: unknown): string => `${formatJSONLine(value, 4)}\n`;

/** Formats JSON like kubectl on one line. Control characters are escaped. */
export const formatJSONLine = (value: unknown, indent = 0): string =>
  escapeControls(JSON.stringify(sortKeys(value), undefined, indent)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Formats YAML like kubectl, with sorted keys. */
export function formatYAML(value: unknown): string {
  const document = new Document(value, { sortMapEntries: true, version: '1.1' });
  // A block scalar of white space only would be read back as something else.
  visit(document, {
    Scalar(_, scalar) {
      if (
        typeof scalar.value === 'string' &&
        scalar.value.includes('\n') &&
        scalar.value.trim() === ''
      ) {
        scalar.type = 'QUOTE_DOUBLE';
      }
    },
  });
  const format = (defaultStringType: 'PLAIN' | 'QUOTE_DOUBLE'): string =>
    document.toString({
      lineWidth: 0,
      indentSeq: false,
      defaultStringType,
      defaultKeyType: defaultStringType,
    });
  const text = format('PLAIN');
  return stripControls(text) === text ? text : escapeControls(format('QUOTE_DOUBLE'));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys((value as Record<string, unknown>)[key])]),
  );
}
