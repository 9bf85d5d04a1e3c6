/**
 * What a request says of who someone is: names of headers in lower case, each with one of its
 * values, in order.
 */
export type AssertedHeaders = readonly (readonly [name: string, value: string])[];
