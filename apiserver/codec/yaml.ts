import { isUtf8 } from 'node:buffer';
import { parseJSON } from '../../registry/strict-json.js';
import { badRequest } from '../../registry/status.js';

/** Bounds on what the parser gets: it needs quadratic time for keys, and more for nested ones. */
const limits = { tokens: 50_000, keys: 4_000 };
/** Parts of YAML that no manifest needs; aliases could expand a small body into a large one. */
const refusedTokens: ReadonlyMap<string, string> = new Map([
  ['alias', 'aliases'],
  ['anchor', 'anchors'],
  ['directive-line', 'directives'],
  ['explicit-key-ind', 'explicit keys'],
  ['tag', 'tags'],
]);

/**
 * Parses a body that is JSON or YAML 1.2 as strictly as `parseJSON`. Throws 400 for anything else,
 * for aliases, anchors, directives, tags and `?`, and above the limits.
 */
export async function parseYAML(bytes: Buffer): Promise<unknown> {
  if (isJSON(bytes)) return parseJSON(bytes);
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8');
  const yaml = await import('yaml'); // Most bodies are JSON, and the module is slow to load.
  const text = bytes.toString();
  checkTokens(yaml, text);
  let json: string | undefined;
  try {
    json = JSON.stringify(yaml.parse(text, { maxAliasCount: 0, logLevel: 'error' }));
  } catch (error) {
    const [line] = error instanceof Error ? error.message.split('\n', 1) : [];
    throw badRequest(`error converting YAML to JSON: ${line!.replace(/:$/, '').slice(0, 256)}`);
  }
  return parseJSON(Buffer.from(json ?? 'null'));
}

/** Reports whether the first character that is no white space begins a JSON object. */
const isJSON = (bytes: Buffer): boolean => bytes.find((byte) => byte > 0x20) === '{'.charCodeAt(0);

function checkTokens({ CST, Lexer }: typeof import('yaml'), text: string): void {
  let [tokens, keys] = [0, 0];
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    const refused = refusedTokens.get(type ?? '');
    if (refused !== undefined) throw badRequest(`${refused} in YAML are not supported`);
    tokens += 1;
    if (type === 'map-value-ind') keys += 1;
    if (keys > limits.keys) throw badRequest(`the body has more than ${limits.keys} keys`);
    if (tokens > limits.tokens) throw badRequest('the body has too many parts');
  }
}
