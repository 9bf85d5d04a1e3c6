import { changeContexts, contextsFile, findContext, type Context } from './contexts.js';
import { Failure, SignedOut } from './failure.js';
import { send, trusted } from './request.js';
import { refresh } from './tokens.js';

/** A token is renewed when it has less left than this, in milliseconds. */
export const spare = 30_000;

/** An object of the API, or a Status. */
export interface Thing { readonly kind: string; readonly metadata: { readonly name?: string }; readonly spec?: any; readonly status?: any; readonly [member: string]: unknown }

interface Status { readonly kind: 'Status'; readonly message?: string; readonly reason?: string; readonly details?: { readonly causes?: readonly { readonly message: string; readonly field?: string }[] } }

/** The service of one context, as whoever is signed in there. */
export class Service {
  readonly #file: string;
  readonly #name: string;
  #context: Context;

  constructor(environment: NodeJS.ProcessEnv, wanted?: string) {
    this.#file = contextsFile(environment);
    const { name, context } = findContext(this.#file, environment, wanted);
    this.#name = name;
    this.#context = context;
  }

  get server(): string { return this.#context.server }

  /** One request below `/api/v1alpha1/`; a Status that is a failure ends the command as kubectl would say it. */
  async ask(method: string, path: string, body?: unknown): Promise<Thing> {
    const { accessToken } = await this.credential();
    const headers = { authorization: `Bearer ${accessToken}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const answer = await send(method, `${this.server}/api/v1alpha1${path && `/${path}`}`, headers, { ...trusted(this.#context), ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (answer.ok && answer.body) return answer.body as Thing;
    throw refusal(answer.code, answer.body as Status | undefined);
  }

  /** The context with an access token that is good for a while, renewed under the file's lock where it is about to end: parallel commands never use one refresh token twice. */
  async credential(): Promise<Context> {
    const isFresh = ({ accessToken, expires = 0 }: Context): boolean => accessToken !== undefined && expires - Date.now() > spare;
    if (!isFresh(this.#context)) this.#context = await changeContexts(this.#file, async (before) => {
      const held = before.contexts[this.#name];
      if (!held) throw new SignedOut();
      const result = isFresh(held) ? held : await refresh(held);
      return { after: { ...before, contexts: { ...before.contexts, [this.#name]: result } }, result };
    });
    return this.#context;
  }
}

function refusal(code: number, status: Status | undefined): Failure {
  if (status?.kind !== 'Status') return new Failure(`Error from server: HTTP ${code}`);
  const causes = (status.details?.causes ?? []).map(({ field, message }) => `\n  ${field ? `${field}: ` : ''}${message}`).join('');
  return new Failure(`Error from server (${status.reason ?? code}): ${status.message ?? ''}${causes}`);
}
