import { actions, kinds } from '../../../kinds/index.js';
import { Registry } from '../../../registry/store/registry.js';
import { StoredVersions } from '../../../registry/store/replicas/stored-versions.js';
import { replicaVersions } from '../../../registry/store/replicas/version-migration.js';
import { parseInvocation } from '../client/run.js';
import { subcommands } from '../terminal/commands.js';
import { CommandError } from '../terminal/errors.js';
import { printHelp, usageError } from '../terminal/help.js';
import { storeOf, withStorage } from './snapshot.js';

/** Runs `vestibule migrate`: writes all objects of a store in the version of this release. */
export async function migrate(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const { args: more, flags } = parseInvocation(subcommands['migrate']!, args);
  if (flags.help) return printHelp('migrate');
  if (more.length > 0) throw usageError('migrate');
  const registry = new Registry(kinds, actions);
  const { storedVersion } = registry;
  const count = await withStorage(storeOf(flags, environment), {}, async (storage) => {
    const versions = await StoredVersions.open(storage, registry);
    const objects = await versions.advance(await replicaVersions(storage, versions.group));
    if (versions.isUniform) return objects;
    throw new CommandError(
      `a running replica does not write ${storedVersion} yet; replicas of this release migrate by themselves`,
    );
  });
  process.stdout.write(`${count} objects were rewritten; all are stored in ${storedVersion}\n`);
}
