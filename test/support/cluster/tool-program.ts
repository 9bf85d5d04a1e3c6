import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Returns the path of the program of `hack/tools/NAME`, which its `build` builds if necessary; `args`
 * are for that command. Undefined where there is no Go or Python to build it with, and standard error
 * says so. Throws if the build fails.
 */
export function toolProgram(name: string, ...args: string[]): string | undefined {
  const build = join(import.meta.dirname, '../../../hack/tools', name, 'build');
  const { status, stdout, stderr } = spawnSync(build, args, { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  if (status !== 1) throw new Error(stderr);
  process.stderr.write(`SKIPPED ${name}: ${stderr}`);
  return undefined;
}
