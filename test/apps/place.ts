import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blocksOf, secret } from '../docs/pages.js';
import { settles } from '../support/patience.js';

/** Where a program runs for a test, and as whom. */
export interface Place {
  /** Its folder, with the files of its page or of its own folder, filled in. */
  readonly folder: string;
  readonly port: number;
  /** Its address, without a slash at its end. */
  readonly url: string;
  readonly issuer: string;
}

/** A command that serves, until the test ends it. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** A path that answers 200 once all of it serves; by default any answer will do. */
  readonly ready?: string;
  /** A file of its folder that it writes its log to, if it does not print it. */
  readonly log?: string;
}

/** What is random in the files of a program; long enough for each. */
const random = 'dGhpcyBpcyBhIHRlc3QsIHdob3NlIGtleXMgYXJlIGtub3duIHRvIGFueW9uZSB3aG8gcmVhZHMgaXQ';

/** A text with all that it leaves to its reader. */
export function filledIn(text: string, place: Place, host: string): string {
  return text
    .replaceAll(host, place.url)
    .replaceAll('https://id.example.org', place.issuer)
    .replaceAll('id.example.org', new URL(place.issuer).host)
    .replaceAll('127.0.0.1:4180', `127.0.0.1:${place.port}`)
    .replaceAll('<secret>', secret)
    .replaceAll(/<(\d+) random bytes[^>]*>/g, (_, bytes: string) =>
      random.slice(0, Number(bytes) === 32 ? 43 : undefined),
    )
    .replaceAll(/\b3000\b/g, String(place.port));
}

/**
 * Writes the files that a page has its reader write; those in the folder `part` of the page into the
 * folder of the program itself.
 */
export function writePage(
  page: string,
  { folder }: Place,
  part: string | undefined,
  said: (text: string) => string,
): void {
  for (const { words, text } of blocksOf(page)) {
    const file = words.find((word) => word.startsWith('file='))?.slice(5);
    if (file === undefined) continue;
    const to = join(
      folder,
      part && file.startsWith(`${part}/`) ? file.slice(part.length + 1) : file,
    );
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, said(text));
  }
}

/** Copies the files of a folder, each filled in. */
export function writeFolder(from: string, { folder }: Place, said: (text: string) => string): void {
  for (const name of readdirSync(from)) {
    writeFileSync(join(folder, name), said(readFileSync(join(from, name), 'utf8')));
  }
}

/** Makes a new project of Django, with the settings and addresses that are in the folder. */
export function startDjango(python: string, folder: string): void {
  const settings = join(folder, 'settings.py');
  const [added, urls] = [settings, join(folder, 'urls.py')].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const call = (...args: string[]): void => {
    const { status, stderr } = spawnSync(python, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  call('-m', 'django', 'startproject', 'site_', '.');
  const made = join(folder, 'site_/settings.py');
  writeFileSync(made, `${readFileSync(made, 'utf8')}\n${added}`);
  writeFileSync(join(folder, 'site_/urls.py'), urls!);
  call('manage.py', 'migrate', '-v', '0');
}

/** A program that serves. */
export class Running {
  #printed = '';
  readonly #log: string | undefined;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, log: string | undefined) {
    this.#child = child;
    this.#log = log;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (text: Buffer) => {
        this.#printed += text.toString();
      });
    }
    this.#ended = new Promise((resolve) => {
      child.once('close', () => resolve()).once('error', () => resolve());
    });
  }

  /** Starts a command and waits until its port answers. */
  static async start(
    place: Place,
    { program, args, environment, ready, log }: Command,
  ): Promise<Running> {
    const running = new Running(
      spawn(program, args, {
        cwd: place.folder,
        detached: true, // it ends with all that it starts
        env: {
          PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
          HOME: place.folder,
          LANG: 'C.UTF-8',
          PYTHONDONTWRITEBYTECODE: '1',
          ...environment,
        },
      }),
      log && join(place.folder, log),
    );
    const answers = async (): Promise<boolean> => {
      if (running.#child.exitCode !== null) {
        throw new Error(`it ended with ${running.#child.exitCode}: ${running.said}`);
      }
      return fetch(place.url + (ready ?? '/favicon.ico'), { redirect: 'manual' }).then(
        ({ status }) => status === 200 || ready === undefined,
        () => false,
      );
    };
    try {
      await settles(answers, Boolean);
    } catch (error) {
      await running.stop();
      throw new Error(`${String(error)}\n${running.said}`, { cause: error });
    }
    return running;
  }

  /** All that it said. */
  get said(): string {
    const isLogged = this.#log !== undefined && existsSync(this.#log);
    return this.#printed + (isLogged ? readFileSync(this.#log!, 'utf8') : '');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.pid) process.kill(-this.#child.pid);
    await this.#ended;
  }
}
