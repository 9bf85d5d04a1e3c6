import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const { NODE_EXTRA_CA_CERTS } = process.env;

/**
 * Makes npm take packages from the cache of this machine's user, where it has them, and know the
 * authority by which the machine reaches the registry, if that has one of its own.
 */
export const npmCache = {
  ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
  npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
};

/** Packs the core into a folder; returns the path of the package. */
export const packLibrary = (folder: string): string =>
  execFileSync(process.execPath, ['hack/library.mjs', '/', 'pack', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();

/** Returns an example with the import that it has outside of the checkout. */
export const asInPackage = (text: string): string =>
  text.replace("'vestibule/apiserver'", "'vestibule-apiserver'");
