/** The release, equal to the version in package.json. */
export const release = '0.1.0';

/** What the program was built from. */
export interface BuildInfo {
  /** The commit; empty if it is not known. */
  readonly commit: string;
  /** The time of the commit, RFC 3339. */
  readonly date: string;
  /** Whether the files were those of the commit. */
  readonly treeState: 'clean' | 'dirty' | '';
}

/** Defined by hack/bundle.mjs. */
declare const vestibuleBuild: BuildInfo | undefined;

/** What the program was built from; unknown where it runs without being bundled. */
export const buildInfo: BuildInfo =
  typeof vestibuleBuild === 'undefined'
    ? { commit: '', date: '1970-01-01T00:00:00Z', treeState: '' }
    : vestibuleBuild;
