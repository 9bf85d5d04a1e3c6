import { basename } from 'node:path';

/** What was typed to run this: the file's own name, or a link's. */
export const called = basename(process.argv[1] ?? 'vestibule');

/** What people are told to type: kubectl runs its plugins by another name. */
export const program = called.startsWith('kubectl') ? 'kubectl vestibule' : 'vestibule';
