/** The identity headers of a request: lower-case names, each with one value, in order. */
export type AssertedHeaders = readonly (readonly [name: string, value: string])[];
