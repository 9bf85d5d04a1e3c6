/** A version in which a group is served. */
export interface ServedVersion {
  readonly version: string;
  /** Whether its answers warn that it will go. */
  readonly deprecated?: boolean;
}

/**
 * The fields that another version calls by another name: by their path in the hub, with the name there,
 * or null for a field that it does not have. Lists are walked through, as in `spec.scopes.required`.
 */
export type FieldNames = Readonly<Record<string, string | null>>;

/** What is known of the versions of a kind. */
export interface Versioned {
  readonly kind: string;
  readonly resource: string;
  readonly group: string;
  /** Group and version of the schemas. */
  readonly apiVersion: string;
  /** The versions in which it is served, the preferred one first. */
  readonly versions: readonly ServedVersion[];
  /** By version. */
  readonly names: Readonly<Record<string, FieldNames>>;
}
