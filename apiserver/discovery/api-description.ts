/** How callers may authenticate (OpenAPI 3.1, Security Scheme Object). */
export type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: string; readonly description: string }
  | {
      readonly type: 'apiKey';
      readonly in: 'cookie' | 'header';
      readonly name: string;
      readonly description: string;
    };

/** A document that a server serves beside its own, to everyone who may read discovery. */
export interface ServedDocument {
  /** The last segment of its path, below both paths of the API; no kind has it as its resource. */
  readonly name: string;
  readonly summary: string;
  /** The formats by media type; clients without a preference get the first one. */
  readonly formats: Readonly<Record<string, () => Buffer | object>>;
}

/** What the OpenAPI documents say of an API beyond its kinds. */
export interface ApiDescription {
  readonly title: string;
  readonly description: string;
  readonly license?: { readonly name: string; readonly identifier: string };
  /** By name; each suffices alone, and so does none where anyone may act. */
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly documents?: readonly ServedDocument[];
}
