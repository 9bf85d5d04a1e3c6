/** Returns what the value of a stored entry is as JSON; T is what was written there. */
export const jsonValue = <T>({ value }: { readonly value: Buffer }): T =>
  JSON.parse(value.toString()) as T;
