import { createRequire } from 'node:module';
import { SerialWorker } from '../../security/serial-worker.js';

/** The answer of the thread: the text as JSON, or what is wrong with it. */
type Converted = { readonly json: string } | { readonly fault: string };

/**
 * Bounds on what the parser gets, and parts of YAML that no manifest needs; aliases could expand a
 * small body into a large one.
 */
const limits = {
  tokens: 50_000,
  keys: 4_000,
  refused: {
    alias: 'aliases',
    anchor: 'anchors',
    'directive-line': 'directives',
    'explicit-key-ind': 'explicit keys',
    tag: 'tags',
  },
};

/**
 * The parser compares each key with all others, and writes a position for each error in quadratic
 * time; so keys are compared here, and only the first error gets its position.
 */
const source = `const { parentPort, workerData } = require('node:worker_threads');
const { CST, Lexer, LineCounter, isScalar, parseDocument, visit } = require(workerData);
const limits = ${JSON.stringify(limits)};

function faultOfTokens(text) {
  let [tokens, keys] = [0, 0];
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    if (Object.hasOwn(limits.refused, type ?? ''))
      return limits.refused[type] + ' in YAML are not supported';
    tokens += 1;
    if (type === 'map-value-ind') keys += 1;
    if (keys > limits.keys) return 'the body has more than ' + limits.keys + ' keys';
    if (tokens > limits.tokens) return 'the body has too many parts';
  }
}

function faultOfKeys(document) {
  let fault;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : undefined;
        if (name === undefined || seen.has(name)) {
          const message = name === undefined ? 'Map keys must be scalars' : 'Map keys must be unique';
          fault = { message, pos: key?.range ?? [0] };
          return visit.BREAK;
        }
        seen.add(name);
      }
    },
  });
  return fault;
}

function convert(text) {
  const wrong = faultOfTokens(text);
  if (wrong !== undefined) return { fault: wrong };
  const lineCounter = new LineCounter();
  const options = { lineCounter, prettyErrors: false, uniqueKeys: false };
  const document = parseDocument(text, options);
  const error = document.errors[0] ?? faultOfKeys(document);
  if (!error) return { json: JSON.stringify(document.toJS({ maxAliasCount: 0 })) ?? 'null' };
  const { line, col } = lineCounter.linePos(error.pos[0]);
  const [message] = error.message.split('\\n', 1);
  const where = ' at line ' + line + ', column ' + col;
  return { fault: 'error converting YAML to JSON: ' + message.slice(0, 200) + where };
}

parentPort.on('message', (text) => {
  let answer;
  try {
    answer = convert(text);
  } catch (error) {
    answer = { fault: 'error converting YAML to JSON: ' + String(error.message).slice(0, 200) };
  }
  parentPort.postMessage(answer);
});`;

/** How long one text may take, in milliseconds; what the bounds permit takes a fraction of it. */
const timeoutMs = 10_000;

let worker: SerialWorker | undefined;

/**
 * Converts YAML 1.2 to JSON in a thread of its own: the parser takes some microseconds for each of
 * its parts, so one body would hold up every other request. Rejects if it takes too long.
 */
export function convertYAML(text: string): Promise<Converted> {
  worker ??= new SerialWorker(source, createRequire(import.meta.url).resolve('yaml'));
  return worker.run(timeoutMs, (call) => call(text) as Promise<Converted>);
}
