import mergePatchLibrary from 'json-merge-patch';

/** Applies a merge patch (RFC 7386; RFC 7396) to a copy; keys that would stop the library were refused when the body was read. */
export const applyMergePatch = <T>(target: T, patch: Record<string, unknown>): T => mergePatchLibrary.apply(structuredClone(target), structuredClone(patch)) as T;
