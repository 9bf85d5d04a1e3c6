import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporary } from '../support/service.js';
import { type Block, blocksOf, root } from './pages.js';

const runs = ({ language, words }: Block): boolean => language === 'sh' && words.includes('run');
const fileOf = ({ words }: Block): string | undefined =>
  words.find((word) => word.startsWith('file='))?.slice(5);

/** Whether a page has commands that are run. */
export const hasCommands = (page: string): boolean => blocksOf(page).some(runs);

const checkout = ['bin', 'deploy', 'dist', 'node_modules', 'package.json'];

/**
 * A folder with the files that a page has its reader write, some in several parts, where packages
 * and programs are found as in a checkout, or with nothing else.
 */
export function folderOf(
  page: string,
  said: (text: string) => string = (text) => text,
  linked: readonly string[] = checkout,
): string {
  const folder = temporary();
  const written = new Map<string, string[]>();
  for (const name of linked) {
    symlinkSync(join(root, name), join(folder, name));
  }
  for (const block of blocksOf(page)) {
    const file = fileOf(block);
    if (!file) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    written.set(file, [...(written.get(file) ?? []), said(block.text)]);
    writeFileSync(join(folder, file), written.get(file)!.join('\n'));
  }
  return folder;
}

/**
 * What goes on is started behind the others and has said that it serves once it has said anything.
 */
const background = (command: string, i: number): string =>
  `( exec ${command.trim()} ) > .said-${i} 2> .complained-${i} &\nuntil [ -s .said-${i} ]; do kill -0 $! || { cat .complained-${i} >&2; exit 1; }; sleep 0.05; done\n`;

/**
 * The commands of a page as one script of a shell, which then waits for the end of its input with
 * all that goes on still going.
 */
function scriptOf(page: string): string {
  const parts = blocksOf(page)
    .filter(runs)
    .map(({ words, text }, i) => (words.includes('background') ? background(text, i) : text));
  return [
    'set -euo pipefail',
    "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT",
    ...parts,
    'echo; echo "@done"; cat > /dev/null',
  ].join('\n');
}

const going = new Set<PageRun>();

/** Ends what a failed test left going. */
export async function stopRuns(): Promise<void> {
  for (const one of going) await one.stop();
}

/** The commands of a page, run in order in one shell. */
export class PageRun {
  /** What they said. */
  out = '';
  error = '';
  /** Where they run. */
  readonly folder: string;
  /** Resolves when all are done; rejects when one failed. */
  readonly done: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  /** `said` has the words of the page as they are to be here, such as another port. */
  constructor(
    page: string,
    {
      said = (text) => text,
      folder = folderOf(page, said),
      environment = {},
    }: { said?: (text: string) => string; folder?: string; environment?: NodeJS.ProcessEnv } = {},
  ) {
    this.folder = folder;
    this.#child = spawn('bash', ['--norc', '-c', said(scriptOf(page))], {
      cwd: folder,
      env: {
        PATH: `${join(root, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: folder,
        ...environment,
      },
    });
    this.#child.stderr!.on('data', (text: Buffer) => {
      this.error += text.toString();
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', resolve);
    });
    this.done = new Promise((resolve, reject) => {
      this.#child.stdout!.on('data', (text: Buffer) => {
        this.out += text.toString();
        if (this.out.endsWith('@done\n')) resolve();
      });
      void this.#ended.then((code) =>
        reject(new Error(`${page}: ended with ${code}: ${this.out}${this.error}`)),
      );
    });
    this.done.catch(() => {});
    going.add(this);
  }

  /** Types a line, for what asks. */
  type(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** Ends what still goes on. */
  async stop(): Promise<void> {
    going.delete(this);
    this.#child.stdin!.end();
    await this.#ended;
  }
}
