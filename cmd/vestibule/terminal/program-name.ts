import { basename } from 'node:path';

/** The name that the program was started by: the file's own, or a link's. */
export const invokedAs = basename(process.argv[1] ?? 'vestibule');

/** The program name for messages; kubectl starts its plugins by another name. */
export const program = invokedAs.startsWith('kubectl') ? 'kubectl vestibule' : 'vestibule';
