import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { scaled } from '../../support/patience.js';
import { temporary } from '../../support/service.js';
import { timed } from '../../support/timed.js';

const program = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

/** Whether this machine has a Firefox, or FIREFOX names one. */
export const hasFirefox = existsSync(program);

/** The key of a reference to an element (WebDriver §12.2). */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

type Element = Readonly<Record<typeof elementKey, string>>;
type Answer = readonly [type: number, id: number, error: { message: string } | null, result: any];

const basics = {
  'marionette.port': 0,
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
};

/**
 * A Firefox of its own, without a window, driven as geckodriver drives one: by WebDriver's commands
 * on the socket of Marionette. Elements are found by XPath.
 */
export class Firefox {
  readonly #process: ChildProcess;
  readonly #socket: Socket;
  readonly #waiting: ((answer: Answer) => void)[] = [];
  #received = Buffer.alloc(0);
  #commandCount = 0;

  private constructor(process: ChildProcess, socket: Socket) {
    this.#process = process;
    this.#socket = socket;
    socket.on('data', (bytes) => this.#receive(bytes));
  }

  /** Starts one with preferences. */
  static start(preferences: Readonly<Record<string, unknown>> = {}): Promise<Firefox> {
    return timed('browser', () => Firefox.#start({ ...basics, ...preferences }));
  }

  static async #start(preferences: Readonly<Record<string, unknown>>): Promise<Firefox> {
    const profile = temporary();
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    writeFileSync(join(profile, 'user.js'), lines.join('\n'));
    const args = ['--headless', '--no-remote', '--profile', profile, '--marionette', 'about:blank'];
    const started = spawn(program, args, {
      stdio: 'ignore',
      env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
    });
    const portFile = join(profile, 'MarionetteActivePort');
    for (const end = Date.now() + scaled(30_000); !existsSync(portFile); await pause(20)) {
      if (Date.now() > end) throw new Error('Firefox did not start');
    }
    const socket = connect(Number(readFileSync(portFile, 'utf8')), '127.0.0.1');
    const firefox = new Firefox(started, socket);
    await new Promise<Answer>((greeted) => firefox.#waiting.push(greeted));
    await firefox.#send('WebDriver:NewSession', {});
    await firefox.#send('WebDriver:SetTimeouts', {
      implicit: scaled(15_000),
    });
    return firefox;
  }

  goto(url: string): Promise<void> {
    return this.#send('WebDriver:Navigate', { url });
  }

  async url(): Promise<string> {
    return (await this.#send('WebDriver:GetCurrentURL')).value;
  }

  /** Waits for an element; an error says what the page shows instead. */
  async find(xpath: string): Promise<Element> {
    try {
      return (await this.#send('WebDriver:FindElement', { using: 'xpath', value: xpath })).value;
    } catch (error) {
      const shown = await this.evaluate<string>('document.body.innerText').catch(() => '');
      throw new Error(`${await this.url()} shows ${shown.slice(0, 500)}`, { cause: error });
    }
  }

  /** Waits for a button, link or summary with these words and presses it. */
  async press(words: string): Promise<void> {
    const named = `normalize-space()=${JSON.stringify(words)}`;
    await this.click(`//*[self::button or self::a or self::summary][${named}]`);
  }

  async click(xpath: string): Promise<void> {
    await this.#send('WebDriver:ElementClick', { id: (await this.find(xpath))[elementKey] });
  }

  /** Waits for a field and types into it. */
  async type(xpath: string, text: string): Promise<void> {
    const id = (await this.find(xpath))[elementKey];
    await this.#send('WebDriver:ElementSendKeys', { id, text });
  }

  /** Waits for the words on the page. */
  async says(words: string): Promise<void> {
    await this.find(`//*[contains(normalize-space(), ${JSON.stringify(words)})]`);
  }

  /** Waits until the view of a phase is ready for input. */
  async at(phase: string): Promise<void> {
    await this.find(`//main[@data-phase=${JSON.stringify(phase)}]`);
  }

  /** Returns the value of an expression in the page. */
  async evaluate<T>(expression: string): Promise<T> {
    const script = `return (${expression})`;
    return (await this.#send('WebDriver:ExecuteScript', { script, args: [] })).value;
  }

  /** Opens another tab and goes there; returns the tab that was left. */
  async tab(): Promise<string> {
    const left = (await this.#send('WebDriver:GetWindowHandle')).value;
    const { handle } = await this.#send('WebDriver:NewWindow', { type: 'tab' });
    await this.show(handle);
    return left;
  }

  /** Goes to a tab. */
  show(handle: string): Promise<void> {
    return this.#send('WebDriver:SwitchToWindow', { handle, focus: true });
  }

  /** Adds cookies of the origin that it is at. */
  async addCookies(
    cookies: readonly { name: string; value: string; path: string }[],
  ): Promise<void> {
    for (const { name, value, path } of cookies) {
      await this.#send('WebDriver:AddCookie', { cookie: { name, value, path, httpOnly: true } });
    }
  }

  /** Plugs in an authenticator that knows its person and is touched at once. */
  plugIn(): Promise<void> {
    return this.#send('WebAuthn:AddVirtualAuthenticator', {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserConsenting: true,
      isUserVerified: true,
    });
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#socket.destroy();
    this.#process.kill();
    await ended;
  }

  async #send(command: string, parameters: unknown = {}): Promise<any> {
    const message = JSON.stringify([0, ++this.#commandCount, command, parameters]);
    const answered = new Promise<Answer>((resolve) => this.#waiting.push(resolve));
    this.#socket.write(`${Buffer.byteLength(message)}:${message}`);
    const [, , error, result] = await answered;
    if (error) throw new Error(`${command} ${JSON.stringify(parameters)}: ${error.message}`);
    return result;
  }

  /** Messages are `length:JSON`, and answered in turn; the first is a greeting. */
  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const colon = this.#received.indexOf(':');
      const end = colon + 1 + Number(this.#received.subarray(0, Math.max(0, colon)));
      if (colon < 0 || this.#received.length < end) return;
      const answer = JSON.parse(this.#received.toString('utf8', colon + 1, end)) as Answer;
      this.#received = this.#received.subarray(end);
      this.#waiting.shift()?.(answer);
    }
  }
}
