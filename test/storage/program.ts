import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { mutated } from '../mutants/mutant.mjs';

/** A script of the tests, compiled so that a process of its own can run it. */
export interface Program {
  /** Starts it; `before`: a command that runs node, such as a tracer. */
  start(args: readonly string[], before?: readonly string[]): Running;
  remove(): Promise<void>;
}

/** A process under test, with its lines of standard output. */
export interface Running {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string, undefined>;
  /** Settles with exit code or signal, and what it said on standard error. */
  readonly ended: Promise<{ code: number | string; complaints: string }>;
}

/** Compiles a script below the repository's root, with the mutant of this run. */
export async function compile(script: string): Promise<Program> {
  const out = await mkdtemp(join(tmpdir(), 'vestibule-program-'));
  const root = process.env.VESTIBULE_MUTANT
    ? await copyMutated(join(out, 'mutated'))
    : process.cwd();
  const options =
    '--ignoreConfig --rootDir . --target es2023 --module nodenext --moduleResolution nodenext --types node --skipLibCheck --strict'.split(
      ' ',
    );
  await promisify(execFile)(
    resolve('node_modules/.bin/tsc'),
    [...options, '--outDir', out, script],
    { cwd: root },
  );
  await writeFile(join(out, 'package.json'), '{"type":"module"}');
  await symlink(resolve('node_modules'), join(out, 'node_modules'));
  const path = join(out, script.replace(/\.ts$/, '.js'));
  return {
    start(args, before = []) {
      const [command, ...rest] = [...before, process.execPath, path, ...args] as [
        string,
        ...string[],
      ];
      return follow(
        spawn(command, rest, {
          stdio: ['pipe', 'pipe', 'pipe'],
          env: { ...process.env, NODE_OPTIONS: '' },
        }),
      );
    },
    remove: () => rm(out, { recursive: true }),
  };
}

/** Copies the sources that programs are made of, with the mutant of this run; returns the new root. */
async function copyMutated(root: string): Promise<string> {
  for (const folder of ['storage', 'test/storage']) {
    for (const file of await readdir(folder, { recursive: true })) {
      if (!file.endsWith('.ts')) continue;
      const path = join(folder, file);
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), mutated(await readFile(path, 'utf8'), resolve(path)));
    }
  }
  await writeFile(join(root, 'package.json'), '{"type":"module"}');
  await symlink(resolve('node_modules'), join(root, 'node_modules'));
  return root;
}

function follow(child: ChildProcess): Running {
  let complaints = '';
  child.stderr!.on('data', (text: Buffer) => {
    complaints += text.toString();
  });
  const ended = new Promise<{ code: number | string; complaints: string }>((settle) => {
    child.once('close', (code, signal) => {
      settle({ code: code ?? signal ?? 'unknown', complaints });
    });
  });
  return {
    child,
    ended,
    lines: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() as AsyncIterator<
      string,
      undefined
    >,
  };
}
