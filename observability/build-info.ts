/** The release, as package.json says it. */
export const release = '0.1.0';
