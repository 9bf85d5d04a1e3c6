import { CommandError } from '../terminal/errors.js';
import { formatJSONLine } from './output/output-format.js';

/** Returns the values that a path, or one step of it, selects. */
type Path = (value: unknown) => unknown[];
/** Returns the text of a template, or of one part of it, for a value. */
type Template = (value: unknown) => string;

/**
 * Fills a template of kubectl's JSONPath (`{range .items[*]}{.metadata.name}{"\n"}{end}`) with a
 * value. Recursive descent and scripts are not supported; missing values are empty.
 */
export const fillTemplate = (template: string, value: unknown): string =>
  new TemplateParser(template).template()(value);

const children: Path = (value) =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

const member =
  (key: string): Path =>
  (value) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? [(value as Record<string, unknown>)[key]]
      : [];

const listItems =
  (select: (list: readonly unknown[]) => unknown[]): Path =>
  (value) =>
    Array.isArray(value) ? select(value) : [];

/** Values of different types are not ordered. */
const comparisons: Readonly<Record<string, (left: any, right: any) => boolean>> = {
  '==': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '<': (one, other) => typeof one === typeof other && one < other,
  '<=': (one, other) => typeof one === typeof other && one <= other,
  '>': (one, other) => typeof one === typeof other && one > other,
  '>=': (one, other) => typeof one === typeof other && one >= other,
};

const optionalNumber = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** A parser for one template. */
class TemplateParser {
  #position = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  template(inRange = false): Template {
    const parts: Template[] = [];
    for (;;) {
      const text = this.#match(/[^{]+/y)?.[0];
      if (text !== undefined) parts.push(() => text);
      const isEnd = this.#match(/\{\s*end\s*\}/y) !== undefined;
      if (isEnd && !inRange) this.#fail('{end} has no {range}');
      if (!isEnd && inRange && this.#position >= this.#text.length)
        this.#fail('{range} has no {end}');
      if (isEnd || this.#position >= this.#text.length)
        return (value) => parts.map((part) => part(value)).join('');
      parts.push(this.#part());
    }
  }

  #part(): Template {
    this.#expect(/\{\s*/y, '{');
    const isRange = this.#match(/range\s+/y) !== undefined;
    const quoted = isRange ? undefined : this.#literal();
    const path: Path = typeof quoted === 'string' ? () => [quoted] : this.#path();
    this.#expect(/\s*\}/y, '}');
    const render = isRange ? this.template(true) : renderValue;
    return (value) =>
      path(value)
        .map(render)
        .join(isRange ? '' : ' ');
  }

  #path(): Path {
    const steps: Path[] = [];
    this.#match(/[$@]/y);
    for (;;) {
      if (this.#match(/\.\./y)) this.#fail('".." is not supported');
      const [, wildcard, key] = this.#match(/\.(?:(\*)|((?:\\.|[\w/-])+))/y) ?? [];
      if (wildcard !== undefined) steps.push(children);
      else if (key !== undefined) steps.push(member(key.replaceAll(/\\(.)/g, '$1')));
      else if (this.#match(/\[\s*/y)) steps.push(this.#bracket());
      else if (!this.#match(/\.(?=\s*\})/y))
        return (value) =>
          steps.reduce<unknown[]>((values, step) => values.flatMap((one) => step(one)), [value]);
    }
  }

  #bracket(): Path {
    const step = this.#inBracket();
    this.#expect(/\s*\]/y, ']');
    return step;
  }

  #inBracket(): Path {
    if (this.#match(/\*/y)) return children;
    if (this.#match(/\?\(\s*/y)) return this.#condition();
    const [, from, colon, to] = this.#match(/(-?\d+)?(?:\s*(:)(?:\s*(-?\d+))?)?(?=\s*\])/y) ?? [];
    if (colon !== undefined)
      return listItems((list) => list.slice(optionalNumber(from), optionalNumber(to)));
    if (from !== undefined) return listItems((list) => list.slice(Number(from)).slice(0, 1));
    const key = this.#literal();
    return typeof key === 'string' ? member(key) : this.#fail('expected a name, a number or *');
  }

  #condition(): Path {
    const path = this.#path();
    const compare = comparisons[this.#match(/\s*(==|!=|<=|>=|<|>)\s*/y)?.[1] ?? ''];
    const literal = compare && this.#literal();
    if (compare && literal === undefined) this.#fail('expected a text, a number, true or false');
    this.#expect(/\s*\)/y, ')');
    const matches = compare ?? ((one: unknown) => one !== undefined);
    return listItems((list) => list.filter((one) => matches(path(one)[0], literal)));
  }

  #literal(): string | number | boolean | undefined {
    const quoted = this.#match(/(["'])((?:\\[^]|(?!\1)[^\\])*)\1/y);
    if (quoted)
      return quoted[2]!.replaceAll(
        /\\([^])/g,
        (_, one: string) => ({ n: '\n', t: '\t', r: '\r' })[one] ?? one,
      );
    const word = this.#match(/-?\d+(?:\.\d+)?|true\b|false\b/y)?.[0];
    if (word === undefined) return undefined;
    return word === 'true' || word === 'false' ? word === 'true' : Number(word);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found) this.#position = pattern.lastIndex;
    return found;
  }

  #expect(pattern: RegExp, what: string): void {
    if (!this.#match(pattern)) this.#fail(`expected ${what}`);
  }

  #fail(why: string): never {
    throw new CommandError(`-o jsonpath: at ${this.#position + 1}, ${why}`, 2);
  }
}

const renderValue = (value: unknown): string =>
  typeof value === 'string' ? value : formatJSONLine(value);
