/** A value in Cedar's JSON form. */
export type CedarValue =
  | boolean
  | number
  | string
  | CedarValue[]
  | { __entity: { type: string; id: string } }
  | { __extn: { fn: string; arg: string } };
