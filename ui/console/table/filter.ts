/** A condition of the rows that are shown. */
export interface Filter {
  /** Its name in the address. */
  readonly id: string;
  readonly title: string;
  readonly lang?: string;
  readonly value: string;
  /** The values to choose from, with their names; any text if absent. */
  readonly options?: readonly (readonly [value: string, title: string])[] | undefined;
  /** The value that is in force unless the address says otherwise. */
  readonly usual?: string | undefined;
}

/** A condition that can be added. */
export type FilterChoice = Omit<Filter, 'value'>;

/** The value in an address that lifts a usual condition. */
export const anyValue = 'any';

/** Returns the value of a condition that is in force by the address, or as usual. */
export function valueIn(
  query: URLSearchParams,
  { id, usual }: Pick<FilterChoice, 'id' | 'usual'>,
): string | undefined {
  const value = query.get(id) ?? usual;
  return value === anyValue ? undefined : value;
}

/** Returns the conditions that are in force. */
export const filtersIn = (
  query: URLSearchParams,
  choices: readonly FilterChoice[],
): readonly Filter[] =>
  choices.flatMap((choice) => {
    const value = valueIn(query, choice);
    return value ? [{ ...choice, value }] : [];
  });

/** Returns the name of the value of a condition. */
export const titleOf = ({ options, value }: Filter): string =>
  options?.find(([one]) => one === value)?.[1] ?? value;
