/** Text that means itself without quotes, in YAML 1.1 and 1.2. */
const plain = /^[A-Za-z/_][\w./@+-]*( [\w./@+(),-]+)*$/;
const otherMeaning = /^(y|n|yes|no|true|false|on|off|null)$/i;
/** What YAML allows in quotes as an escape only. */
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\p{Cs}]/gu;
const blockLine =
  /^[\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;

const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    unprintable,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function block(text: string, indent: string): string | undefined {
  const body = text.replace(/\n$/, '');
  const lines = body.split('\n');
  const isPossible =
    lines.length > 1 &&
    !/^\s/.test(text) &&
    !body.endsWith('\n') &&
    lines.every((line) => blockLine.test(line));
  if (!isPossible) return undefined;
  const style = text.endsWith('\n') ? '|' : '|-';
  return [style, ...lines.map((line) => (line ? `${indent}${line}` : ''))].join('\n');
}

const isPlain = (text: string): boolean => plain.test(text) && !otherMeaning.test(text);

const keyOf = (name: string): string => (isPlain(name) ? name : quoted(name));

function scalar(value: unknown, indent: string): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return isPlain(value) ? value : (block(value, indent) ?? quoted(value));
}

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

function lines(value: object, indent: string): string[] {
  if (Array.isArray(value)) {
    return value.map((item) => {
      if (!isNested(item)) return `${indent}- ${scalar(item, `${indent}  `)}`;
      return `${indent}- ${lines(item, `${indent}  `)
        .join('\n')
        .slice(indent.length + 2)}`;
    });
  }
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => {
      const key = `${indent}${keyOf(name)}:`;
      if (!isNested(item)) return `${key} ${scalar(item, `${indent}  `)}`;
      return `${key}\n${lines(item, `${indent}${Array.isArray(item) ? '' : '  '}`).join('\n')}`;
    });
}

/** Returns a JSON value as YAML, in the layout of kubectl. */
export const toYaml = (value: object): string => `${lines(value, '').join('\n')}\n`;
