import { request } from 'node:http';

/** The mock mailbox, read by one watch: codes as they arrive. */
export class Mailbox {
  readonly #codes = new Map<string, string>();
  readonly #waiting = new Map<string, (code: string) => void>();
  #close: () => void = () => {};

  /** Begins to watch from now on. */
  static async open(port: number): Promise<Mailbox> {
    const mailbox = new Mailbox();
    const list = JSON.parse(await text(port, '/api/v1beta1/mockmessages?limit=1')) as {
      metadata: { resourceVersion: string };
    };
    await mailbox.#watch(port, list.metadata.resourceVersion);
    return mailbox;
  }

  /** The code that was sent to an address, once it is there. */
  codeFor(address: string): Promise<string> {
    const code = this.#codes.get(address);
    if (code === undefined) {
      return new Promise((resolve) => {
        this.#waiting.set(address, resolve);
      });
    }
    this.#codes.delete(address);
    return Promise.resolve(code);
  }

  close(): void {
    this.#close();
  }

  #watch(port: number, version: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port,
          path: `/api/v1beta1/mockmessages?watch=true&timeoutSeconds=7200&resourceVersion=${version}`,
          headers: { Host: `localhost:${port}` },
        },
        (answer) => {
          let held = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => {
            const lines = (held + chunk).split('\n');
            held = lines.pop()!;
            for (const line of lines) if (line) this.#take(JSON.parse(line) as Event);
          });
          resolve();
        },
      );
      asked.on('error', reject).end();
      this.#close = () => asked.destroy();
    });
  }

  #take({ type, object }: Event): void {
    const { to, code } = object.status ?? {};
    if (type !== 'ADDED' || to === undefined || code === undefined) return;
    const resolve = this.#waiting.get(to);
    this.#waiting.delete(to);
    if (resolve) {
      resolve(code);
    } else {
      this.#codes.set(to, code);
    }
  }
}

interface Event {
  readonly type: string;
  readonly object: { readonly status?: { readonly to?: string; readonly code?: string } };
}

const text = (port: number, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { Host: `localhost:${port}` } }, (answer) => {
      let held = '';
      answer
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          held += chunk;
        })
        .on('end', () => resolve(held));
    })
      .on('error', reject)
      .end();
  });
