import { request, type ClientRequest } from 'node:http';
import type { Tab } from './tab.js';

/** A watch as a test follows it: waits for events instead of sleeping. */
export class Stream {
  readonly events: { type: string; object: any }[] = [];
  code = 0;
  ended = false;
  readonly #request: ClientRequest;
  #wake: (() => void)[] = [];

  constructor(tab: Tab, path: string, accept = 'application/json') {
    const { hostname, port } = new URL(tab.base);
    const target = path.startsWith('/') ? path : `/api/v1alpha1/${path}`;
    const cookie = tab.cookies.filter((one) => target.startsWith(one.path)).map(({ name, value }) => `${name}=${value}`).join('; ');
    this.#request = request({ host: hostname, port, path: target, headers: { accept, 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }) }, agent: false }, (res) => {
      this.code = res.statusCode!;
      let rest = '';
      res.setEncoding('utf8');
      res.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop()!;
        for (const line of lines) if (line.trim()) this.events.push(JSON.parse(line));
        this.#stir();
      }).on('close', () => { this.ended = true; this.#stir() });
      this.#stir();
    });
    this.#request.on('error', () => { this.ended = true; this.#stir() }).end();
  }

  /** Resolves once `holds`, or throws with what was seen. */
  async until(holds: (stream: this) => boolean, milliseconds = 10_000): Promise<this> {
    const end = Date.now() + milliseconds;
    while (!holds(this)) {
      if (Date.now() > end) throw new Error(`in vain: ${JSON.stringify(this.events).slice(0, 800)} ended ${this.ended} code ${this.code}`);
      await new Promise<void>((resolve) => { const timer = setTimeout(resolve, 200); this.#wake.push(() => { clearTimeout(timer); resolve() }) });
    }
    return this;
  }

  close(): void { this.#request.destroy() }

  #stir(): void { for (const wake of this.#wake.splice(0)) wake() }
}
