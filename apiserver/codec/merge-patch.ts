import mergePatchLibrary from 'json-merge-patch';

/**
 * Applies a merge patch (RFC 7386; RFC 7396) in place: both are the caller's own; keys that would
 * stop the library were refused when the body was read.
 */
export const applyMergePatch = <T>(target: T, patch: Record<string, unknown>): T =>
  mergePatchLibrary.apply(target, patch) as T;
