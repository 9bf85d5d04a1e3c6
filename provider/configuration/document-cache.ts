import { BoundedMap } from '../../security/bounded-map.js';

/** How many failures and documents are kept, and how long a document may be used after its fetch. */
const limits = { failures: 1_000, documents: 100, staleMs: 172_800_000 };

/** What this replica knows of metadata documents, beside the library's own cache of those in use. */
export class DocumentCache {
  readonly #failures = new BoundedMap<string, { reason: string; until: number }>(limits.failures);
  readonly #documents = new BoundedMap<string, { metadata: string; until: number }>(
    limits.documents,
  );

  /** Records for `ms` milliseconds why a document cannot be used. It replaces one that could. */
  fail(url: string, reason: string, ms: number): void {
    this.#documents.delete(url);
    this.#failures.set(url, { reason, until: Date.now() + ms });
  }

  /** Returns why a document could not be used a moment ago; undefined if it was not tried. */
  failure(url: string): string | undefined {
    const known = this.#failures.get(url);
    return known && known.until > Date.now() ? known.reason : undefined;
  }

  /** Keeps the client metadata of a document. */
  keep(url: string, metadata: string): void {
    this.#failures.delete(url);
    this.#documents.set(url, { metadata, until: Date.now() + limits.staleMs });
  }

  /** Returns the client metadata of the last fetch, which may be stale; undefined if there is none. */
  kept(url: string): string | undefined {
    const known = this.#documents.get(url);
    return known && known.until > Date.now() ? known.metadata : undefined;
  }
}
