/** The languages, which the build adds (vite.config.ts). */
declare module 'catalog:languages' {
  interface Language {
    /** Its name in itself. */
    readonly name: string;
    /** Its language and script, such as `zh-Hans`. */
    readonly form: string;
    /** Loads its catalog; absent for English, whose messages are bundled. */
    readonly load?: () => Promise<{ catalog: Partial<import('./messages/catalog.js').Catalog> }>;
  }
  export const languages: Map<string, Language>;
}
