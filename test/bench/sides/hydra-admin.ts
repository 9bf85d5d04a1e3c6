import { Agent, request } from 'node:http';

/** Hydra's administrative API over kept-alive connections. */
export class HydraAdmin {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  #isClientThere = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Reads what Hydra asks for. */
  read(kind: 'login' | 'consent', challenge: string): Promise<any> {
    return this.#send(this.#port, 'GET', this.#path(kind, '', challenge));
  }

  /** Accepts it; the answer says where the browser goes on. */
  accept(kind: 'login' | 'consent', challenge: string, body: object): Promise<any> {
    return this.#send(this.#port, 'PUT', this.#path(kind, '/accept', challenge), body);
  }

  /** Fetches something from another port of Hydra, after it has the bench's client. */
  async pass(
    port: number,
    path: string,
    client: { name: string; redirectURI: string; scope: string },
  ) {
    if (!this.#isClientThere) {
      const known = await this.#send(this.#port, 'GET', `/admin/clients/${client.name}`).catch(
        () => undefined,
      );
      if (!known) await this.#send(this.#port, 'POST', '/admin/clients', registrationOf(client));
      this.#isClientThere = true;
    }
    return this.#send(port, 'GET', path);
  }

  #path(kind: string, action: string, challenge: string): string {
    return `/admin/oauth2/auth/requests/${kind}${action}?${kind}_challenge=${encodeURIComponent(challenge)}`;
  }

  #send(port: number, method: string, path: string, body?: object): Promise<any> {
    const bytes = body && Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port,
          method,
          path,
          agent: this.#agent,
          headers: bytes && { 'Content-Type': 'application/json', 'Content-Length': bytes.length },
        },
        (answer) => {
          let text = '';
          answer
            .setEncoding('utf8')
            .on('data', (chunk: string) => {
              text += chunk;
            })
            .on('end', () =>
              answer.statusCode! < 300
                ? resolve(JSON.parse(text))
                : reject(new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)),
            );
        },
      );
      asked.on('error', reject).end(bytes);
    });
  }
}

const registrationOf = ({ name, redirectURI, scope }: Record<string, string>): object => ({
  client_id: name,
  client_name: 'The bench',
  token_endpoint_auth_method: 'none',
  redirect_uris: [redirectURI],
  grant_types: ['authorization_code'],
  response_types: ['code'],
  scope,
});
