/** Returns a source file as the mutant of this run has it. */
export function mutated(text: string, path: string): string;
