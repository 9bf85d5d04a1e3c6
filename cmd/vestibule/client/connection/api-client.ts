import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { version } from '../../../../kinds/api-version.js';
import { ApiStatusError, CommandError, SignedOutError } from '../../terminal/errors.js';
import type { FlagValues, Invocation } from '../../terminal/flags.js';
import { writeError } from '../../terminal/output.js';
import { type Context, changeContexts, contextsFile, findContext } from './contexts.js';
import { refresh } from './device-flow.js';
import { caOption, openRequest, readResponse, send } from './http.js';
import { isSecure, readAuthority } from './server-address.js';

/** A token with less time left than this is renewed, in milliseconds. */
export const renewBeforeMs = 30_000;

/** An object of the API, or a Status. */
export interface ApiObject {
  readonly kind: string;
  readonly metadata: ApiMetadata;
  readonly spec?: any;
  readonly status?: any;
  readonly [member: string]: unknown;
}

/** The metadata of an object or a list. */
export interface ApiMetadata {
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The optional parts of a request: body, its content type, and the accepted media type. */
interface RequestParts {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

interface Status {
  readonly kind: 'Status';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly causes?: readonly { readonly message: string; readonly field?: string }[];
  };
}

/** Sends requests as the signed-in account; without a file of sign-ins, anonymously. */
export class ApiClient {
  readonly #contextName: string | undefined;
  readonly #file: string | undefined;
  #context: Context;

  constructor(context: Context, { name, file }: { name?: string; file?: string } = {}) {
    this.#context = context;
    this.#contextName = name;
    this.#file = file;
  }

  get server(): string {
    return this.#context.server;
  }

  /** Sends one request below `/api/<version>/`. Throws a failed Status with kubectl's message. */
  requestAPI(method: string, path: string, body?: unknown): Promise<ApiObject> {
    return this.request(method, `/api/${version}${path && `/${path}`}`, { body });
  }

  /** Sends one request, answered by a T, to a path of the service. Prints warnings to standard error. */
  async request<T = ApiObject>(method: string, path: string, parts: RequestParts = {}): Promise<T> {
    const { headers, body } = await this.#prepare(parts);
    const response = await send(method, `${this.server}${path}`, headers, {
      ...caOption(this.#context),
      ...(body !== undefined && { body }),
    });
    for (const warning of response.warnings) writeError(`Warning: ${warning}\n`);
    if (response.ok && response.body) return response.body as T;
    throw statusError(response.code, response.body);
  }

  /** Sends a GET whose response is a stream. */
  async stream(path: string, accept: string): Promise<IncomingMessage> {
    const { headers } = await this.#prepare({ accept });
    const response = await openRequest(
      'GET',
      `${this.server}${path}`,
      headers,
      caOption(this.#context),
    );
    if (response.statusCode === 200) return response;
    const { code, body } = await readResponse(response);
    throw statusError(code, body);
  }

  async #prepare({
    body,
    type = 'application/json',
    accept,
  }: RequestParts): Promise<{ headers: Record<string, string>; body: string | undefined }> {
    const token =
      this.#contextName === undefined ? undefined : (await this.credential()).accessToken;
    return {
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(accept !== undefined && { accept }),
        ...(body !== undefined && { 'content-type': type }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
  }

  /**
   * Returns the context with a fresh access token. Renews an old one under the file's lock, so that
   * parallel commands never use one refresh token twice.
   */
  async credential(): Promise<Context> {
    const isFresh = ({ accessToken, expires = 0 }: Context): boolean =>
      accessToken !== undefined && expires - Date.now() > renewBeforeMs;
    if (isFresh(this.#context)) return this.#context;
    return (this.#context = await changeContexts(this.#file!, async (before) => {
      const stored = before.contexts[this.#contextName!];
      if (!stored) throw new SignedOutError();
      const result = isFresh(stored) ? stored : await refresh(stored);
      return {
        after: { ...before, contexts: { ...before.contexts, [this.#contextName!]: result } },
        result,
      };
    }));
  }
}

/**
 * Sends a request again while its answer has one of these statuses, `maxTries` times at most. Waits
 * `waitMs` milliseconds at first, and each time twice as long.
 */
export async function retryOn<T>(
  statuses: readonly number[],
  { maxTries, waitMs }: { readonly maxTries: number; readonly waitMs: number },
  request: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      const mayPass = error instanceof ApiStatusError && statuses.includes(error.status);
      if (!mayPass || tries >= maxTries) throw error;
      await pause(waitMs * 2 ** (tries - 1));
    }
  }
}

/**
 * Returns the client of a subcommand: for the current or named context, or anonymous for
 * `--server`.
 */
export function clientFor({
  flags,
  environment,
}: Pick<Invocation, 'flags' | 'environment'>): ApiClient {
  if (flags.server !== undefined) return anonymousClient(flags.server, flags);
  const file = contextsFile(environment);
  const { name, context } = findContext(file, environment, flags.context);
  const authority = readAuthority(flags);
  return new ApiClient(
    { ...context, ...(authority !== undefined && { certificateAuthority: authority }) },
    { name, file },
  );
}

function anonymousClient(url: string, flags: FlagValues): ApiClient {
  if (!URL.canParse(url)) {
    throw new CommandError('--server must be a URL such as https://id.example.com', 2);
  }
  if (!isSecure(url)) throw new CommandError('the address must be https, or http on loopback', 2);
  const authority = readAuthority(flags);
  return new ApiClient({
    server: new URL(url).origin,
    ...(authority !== undefined && { certificateAuthority: authority }),
  });
}

/** Converts a failed response, a Status as a rule, to an error. */
export function statusError(code: number, body: unknown): ApiStatusError {
  const status = body as Status | undefined;
  if (status?.kind !== 'Status') return new ApiStatusError(`Error from server: HTTP ${code}`, code);
  if (status.reason === 'Unauthorized') {
    return new ApiStatusError(
      `error: You must be logged in to the server (${status.message})`,
      code,
    );
  }
  const causes = (status.details?.causes ?? [])
    .map(({ field, message }) => `\n  ${field ? `${field}: ` : ''}${message}`)
    .join('');
  return new ApiStatusError(
    `Error from server (${status.reason ?? code}): ${status.message ?? ''}${causes}`,
    code,
  );
}
