/** Returns the names of the members of an object that has no others than its type says. */
export const keysOf = <T extends object>(object: T): (keyof T & string)[] =>
  Object.keys(object) as (keyof T & string)[];

/** Returns the members of an object that has no others than its type says. */
export const entriesOf = <T extends object>(object: T): [keyof T & string, T[keyof T]][] =>
  Object.entries(object) as [keyof T & string, T[keyof T]][];
