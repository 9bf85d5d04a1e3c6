import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** The command, as it is installed. */
export const program = join(import.meta.dirname, '../../bin/vestibule');

/** What came of the command. */
export interface Ran { readonly code: number | null; readonly out: string; readonly error: string }

/** Runs the command as a process of its own; `told` hears what it has said on standard error whenever it says more. */
export function vestibule(args: readonly string[], environment: NodeJS.ProcessEnv, told: (text: string) => void = () => {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { env: { PATH: process.env.PATH, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, error] = ['', ''];
    child.stdout.on('data', (text: Buffer) => { out += text.toString() });
    child.stderr.on('data', (text: Buffer) => { error += text.toString(); told(error) });
    child.on('error', reject).on('close', (code) => resolve({ code, out, error }));
  });
}
