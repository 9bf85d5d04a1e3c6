/** A regular expression of the product, with the file it stands in. */
export interface Found {
  readonly path: string;
  readonly source: string;
  readonly flags: string;
}

/** Every regular expression that a source file has: literals, and what is given to RegExp, where `1` stands for each part that is not known. */
export function expressionsOf(path: string, text: string): Found[];

/** Why a regular expression may take more than linear time on some text; undefined where none was found. */
export function superLinear(expression: Pick<Found, 'source' | 'flags'>): string | undefined;
