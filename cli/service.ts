import { changeContexts, contextsFile, readContexts, type Context } from './contexts.js';
import { Failure } from './failure.js';
import { send } from './request.js';
import { refresh } from './tokens.js';

/** A token is renewed when it has less left than this, in milliseconds. */
const spare = 30_000;

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
    const { current, contexts } = readContexts(this.#file);
    const name = wanted ?? environment.VESTIBULE_CONTEXT ?? current;
    const context = name === undefined ? undefined : contexts[name];
    if (name === undefined) throw new Failure('you are not signed in: vestibule login URL');
    if (!context) throw new Failure(`there is no context ${JSON.stringify(name)}: vestibule login URL`);
    this.#name = name;
    this.#context = context;
  }

  get server(): string { return this.#context.server }

  /** One request below `/api/v1alpha1/`; a Status that is a failure ends the command as kubectl would say it. */
  async ask(method: string, path: string, body?: unknown): Promise<Thing> {
    const token = await this.#token();
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const answer = await send(method, `${this.server}/api/v1alpha1${path && `/${path}`}`, headers, body === undefined ? undefined : JSON.stringify(body));
    if (answer.ok && answer.body) return answer.body as Thing;
    throw refusal(answer.code, answer.body as Status | undefined);
  }

  /** The access token, renewed under the file's lock where it is about to end: parallel commands never use one refresh token twice. */
  async #token(): Promise<string> {
    const isFresh = ({ accessToken, expires = 0 }: Context): boolean => accessToken !== undefined && expires - Date.now() > spare;
    if (!isFresh(this.#context)) this.#context = await changeContexts(this.#file, async (before) => {
      const held = before.contexts[this.#name];
      if (!held) throw new Failure('you are not signed in any more: vestibule login');
      const result = isFresh(held) ? held : await refresh(held);
      return { after: { ...before, contexts: { ...before.contexts, [this.#name]: result } }, result };
    });
    return this.#context.accessToken!;
  }
}

function refusal(code: number, status: Status | undefined): Failure {
  if (status?.kind !== 'Status') return new Failure(`Error from server: HTTP ${code}`);
  const causes = (status.details?.causes ?? []).map(({ field, message }) => `\n  ${field ? `${field}: ` : ''}${message}`).join('');
  return new Failure(`Error from server (${status.reason ?? code}): ${status.message ?? ''}${causes}`);
}
