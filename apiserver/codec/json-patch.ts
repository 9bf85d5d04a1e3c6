import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../registry/schema/is-record.js';
import { dangerousKeys } from '../../registry/schema/strict-json.js';
import { badRequest, StatusError } from '../../registry/status/status.js';

/** An operation of a JSON patch (RFC 6902 §4). */
interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** A parsed JSON patch, with the most bytes that its copies may add. */
export interface JSONPatch {
  readonly operations: readonly Operation[];
  readonly maxCopiedBytes: number;
}

/** A body with more operations is 413: each costs a walk through the object. */
const maxOperations = 1_000;

/**
 * Returns the JSON patch in a parsed body. Throws 400 unless it is a list of operations, and 413 if
 * there are too many.
 */
export function parseJSONPatch(body: unknown, maxCopiedBytes: number): JSONPatch {
  if (!Array.isArray(body)) throw badRequest('the body must be a JSON array of operations');
  if (body.length > maxOperations) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity is too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${body.length}`,
    );
  }
  body.forEach((operation, i) => {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
      throw badRequest(`error decoding patch: operation ${i} must be an object`);
    }
    const { op, path, from } = operation as Record<string, unknown>;
    if (typeof op !== 'string' || typeof path !== 'string') {
      throw badRequest(`error decoding patch: op and path of operation ${i} must be strings`);
    }
    if (from !== undefined && typeof from !== 'string') {
      throw badRequest(`error decoding patch: from of operation ${i} must be a string`);
    }
  });
  return { operations: body as Operation[], maxCopiedBytes };
}

/**
 * Applies a JSON patch in place (RFC 6902) and returns the result. Document and patch belong to the
 * caller. Throws 422 if an operation cannot be applied or a test fails.
 */
export function applyJSONPatch(
  document: Record<string, unknown>,
  { operations, maxCopiedBytes }: JSONPatch,
): Record<string, unknown> {
  const patcher = new Patcher(document, maxCopiedBytes);
  operations.forEach((operation, i) => {
    const why = patcher.apply(operation);
    if (why !== undefined) {
      throw new StatusError(
        'Invalid',
        `the JSON patch cannot be applied: operation ${i} (${operation.op.slice(0, 16)} ${operation.path.slice(0, 256)}): ${why}`,
      );
    }
  });
  const result = patcher.document;
  if (!isRecord(result)) {
    throw new StatusError('Invalid', 'the result of the JSON patch must be an object');
  }
  return result;
}

/** What a pointer refers to. Only a member that an object or array itself has is found. */
interface Location {
  readonly container: unknown;
  readonly key: string;
  /** Undefined if it does not exist: JSON has no such value. */
  readonly value: unknown;
}

const missing = 'the path does not exist';

/** Applies operations to one document; each method returns why it cannot. */
class Patcher {
  /** The document below the key '', so that the pointer '' has a container, too. */
  readonly #root: Record<string, unknown>;
  #copyableBytes: number;

  constructor(document: Record<string, unknown>, maxCopiedBytes: number) {
    this.#root = { '': document };
    this.#copyableBytes = maxCopiedBytes;
  }

  get document(): unknown {
    return this.#root[''];
  }

  apply({ op, path, from, value }: Operation): string | undefined {
    const pointers = from === undefined ? [path] : [path, from];
    if (!pointers.every(isPointer)) return 'a path must begin with / and escape ~ as ~0';
    if (pointers.some((pointer) => tokensOf(pointer).some((token) => dangerousKeys.has(token)))) {
      return 'a key of the path is not allowed';
    }
    if (op === 'remove') return this.#remove(path);
    if (op === 'copy' || op === 'move') {
      if (from === undefined) return 'from is required';
      return op === 'copy' ? this.#copy(from, path) : this.#move(from, path);
    }
    if (!['add', 'replace', 'test'].includes(op)) return 'the operation is unknown';
    if (value === undefined) return 'value is required';
    if (op === 'add') return this.#add(path, value);
    return op === 'replace' ? this.#replace(path, value) : this.#test(path, value);
  }

  #locate(pointer: string): Location {
    let location: Location = { container: undefined, key: '', value: this.#root };
    for (const key of tokensOf(pointer)) {
      location = { container: location.value, key, value: memberOf(location.value, key) };
    }
    return location;
  }

  #add(path: string, value: unknown): string | undefined {
    const { container, key } = this.#locate(path);
    if (Array.isArray(container)) {
      const index = key === '-' ? container.length : indexOf(key);
      if (index === undefined || index > container.length) return 'the index is out of bounds';
      container.splice(index, 0, value);
      return undefined;
    }
    if (!isRecord(container)) return missing;
    container[key] = value;
    return undefined;
  }

  #remove(path: string): string | undefined {
    const { container, key, value } = this.#locate(path);
    if (value === undefined) return missing;
    if (Array.isArray(container)) {
      container.splice(Number(key), 1);
    } else {
      delete (container as Record<string, unknown>)[key];
    }
    return undefined;
  }

  #replace(path: string, value: unknown): string | undefined {
    const target = this.#locate(path);
    if (target.value === undefined) return missing;
    (target.container as Record<string, unknown>)[target.key] = value;
    return undefined;
  }

  #copy(from: string, path: string): string | undefined {
    const { value } = this.#locate(from);
    if (value === undefined) return missing;
    const text = JSON.stringify(value);
    this.#copyableBytes -= Buffer.byteLength(text);
    if (this.#copyableBytes < 0) return 'the copies of the patch are too large';
    return this.#add(path, JSON.parse(text));
  }

  #move(from: string, path: string): string | undefined {
    if (path === from) return this.#locate(from).value === undefined ? missing : undefined;
    if (path.startsWith(`${from}/`)) return 'a value cannot be moved into itself';
    const { value } = this.#locate(from);
    return this.#remove(from) ?? this.#add(path, value);
  }

  #test(path: string, expected: unknown): string | undefined {
    const { value } = this.#locate(path);
    if (value === undefined) return missing;
    return isDeepStrictEqual(value, expected) ? undefined : 'the value differs';
  }
}

/** A JSON pointer (RFC 6901 §3). */
const isPointer = (text: string): boolean =>
  (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text);

/** Returns the unescaped keys of a pointer; the first is the empty one of the document. */
const tokensOf = (pointer: string): string[] =>
  pointer.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the index that a key of a pointer means: digits without a leading zero. */
const indexOf = (key: string): number | undefined =>
  /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : undefined;

/** Returns the member that an array or object itself has. */
function memberOf(container: unknown, key: string): unknown {
  if (Array.isArray(container)) {
    const index = indexOf(key);
    return index === undefined ? undefined : container[index];
  }
  return isRecord(container) && Object.hasOwn(container, key) ? container[key] : undefined;
}
