/** The languages other than English, which the build adds (vite.config.ts). */
declare module 'catalog:languages' {
  export const languages: Map<
    string,
    () => Promise<{ catalog: Partial<import('./messages/catalog.js').Catalog> }>
  >;
}
