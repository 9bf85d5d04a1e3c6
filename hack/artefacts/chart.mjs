import { join } from 'node:path';
import { tarball } from './archive.mjs';

/** Writes the Helm chart as Helm packages it, without what .helmignore leaves out. `epoch` is in seconds. */
export const writeChart = (file, epoch) =>
  tarball(file, join(import.meta.dirname, '../../deploy/chart'), {
    epoch,
    under: 'vestibule',
    without: 'ci',
  });
