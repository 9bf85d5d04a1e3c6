/** A position in a text; line and column count characters from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Something wrong with the text of a policy. */
export interface PolicyFault extends Partial<TextPosition> {
  readonly message: string;
}
