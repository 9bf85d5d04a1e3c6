/** Where in a text; line and column count from 1, in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Something wrong with a policy's text, and where. */
export interface PolicyFault extends Partial<Place> {
  readonly message: string;
}
