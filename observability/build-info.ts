/** The release, equal to the version in package.json. */
export const release = '0.1.0';
