import type { IncomingMessage } from 'node:http';
import { changeContexts, contextsFile, findContext, type Context } from './contexts.js';
import { CommandError, ApiRefusalError, SignedOut } from '../terminal/errors.js';
import type { Asked, FlagValues } from '../terminal/flags.js';
import { authorityOf, isTrustworthy } from './server-address.js';
import { say } from '../terminal/output.js';
import { open, send, trusted, whole } from './http.js';
import { refresh } from './device-flow.js';

/** A token with less time left than this is renewed, in milliseconds. */
export const spare = 30_000;

/** An object of the API, or a Status. */
export interface Thing {
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
interface Said {
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
  readonly #name: string | undefined;
  readonly #file: string | undefined;
  readonly #renews: boolean;
  #context: Context;

  constructor(
    context: Context,
    { name, file, renews = true }: { name?: string; file?: string; renews?: boolean } = {},
  ) {
    this.#context = context;
    this.#name = name;
    this.#file = file;
    this.#renews = renews;
  }

  get server(): string {
    return this.#context.server;
  }

  /** Sends one request below `/api/v1alpha1/`. Throws a failed Status with kubectl's message. */
  ask(method: string, path: string, body?: unknown): Promise<Thing> {
    return this.request(method, `/api/v1alpha1${path && `/${path}`}`, { body });
  }

  /** Sends one request to a path of the service. Prints warnings to standard error. */
  async request(method: string, path: string, said: Said = {}): Promise<Thing> {
    const { headers, body } = await this.#sent(said);
    const answer = await send(method, `${this.server}${path}`, headers, {
      ...trusted(this.#context),
      ...(body !== undefined && { body }),
    });
    for (const warning of answer.warnings) say(`Warning: ${warning}\n`);
    if (answer.ok && answer.body) return answer.body as Thing;
    throw refusal(answer.code, answer.body as Status | undefined);
  }

  /** Sends a GET whose response is a stream. */
  async stream(path: string, accept: string): Promise<IncomingMessage> {
    const { headers } = await this.#sent({ accept });
    const answer = await open('GET', `${this.server}${path}`, headers, trusted(this.#context));
    if (answer.statusCode === 200) return answer;
    const { code, body } = await whole(answer);
    throw refusal(code, body as Status | undefined);
  }

  async #sent({
    body,
    type = 'application/json',
    accept,
  }: Said): Promise<{ headers: Record<string, string>; body: string | undefined }> {
    const token = this.#name === undefined ? undefined : (await this.credential()).accessToken;
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
      accessToken !== undefined && expires - Date.now() > spare;
    if (isFresh(this.#context)) return this.#context;
    if (!this.#renews) throw new SignedOut();
    return (this.#context = await changeContexts(this.#file!, async (before) => {
      const held = before.contexts[this.#name!];
      if (!held) throw new SignedOut();
      const result = isFresh(held) ? held : await refresh(held);
      return {
        after: { ...before, contexts: { ...before.contexts, [this.#name!]: result } },
        result,
      };
    }));
  }
}

/**
 * Returns the client of a subcommand: for the current or named context, or anonymous for
 * `--server`. `renews` allows an old token to be renewed.
 */
export function serviceOf(
  { flags, environment }: Pick<Asked, 'flags' | 'environment'>,
  renews = true,
): ApiClient {
  if (flags.server !== undefined) return elsewhere(flags.server, flags);
  const file = contextsFile(environment);
  const { name, context } = findContext(file, environment, flags.context);
  const authority = authorityOf(flags);
  return new ApiClient(
    { ...context, ...(authority !== undefined && { certificateAuthority: authority }) },
    { name, file, renews },
  );
}

function elsewhere(url: string, flags: FlagValues): ApiClient {
  if (!URL.canParse(url))
    throw new CommandError('--server must be a URL such as https://id.example.com', 2);
  if (!isTrustworthy(url))
    throw new CommandError('the address must be https, or http on loopback', 2);
  const authority = authorityOf(flags);
  return new ApiClient({
    server: new URL(url).origin,
    ...(authority !== undefined && { certificateAuthority: authority }),
  });
}

/** Converts a failed Status to an error. */
export function refusal(code: number, status: Status | undefined): ApiRefusalError {
  if (status?.kind !== 'Status')
    return new ApiRefusalError(`Error from server: HTTP ${code}`, code);
  if (status.reason === 'Unauthorized')
    return new ApiRefusalError(
      `error: You must be logged in to the server (${status.message})`,
      code,
    );
  const causes = (status.details?.causes ?? [])
    .map(({ field, message }) => `\n  ${field ? `${field}: ` : ''}${message}`)
    .join('');
  return new ApiRefusalError(
    `Error from server (${status.reason ?? code}): ${status.message ?? ''}${causes}`,
    code,
  );
}
