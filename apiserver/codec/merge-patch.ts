import mergePatchLibrary from 'json-merge-patch';

/**
 * Applies a merge patch (RFC 7396) in place. Both arguments belong to the caller, and dangerous
 * keys were refused when the body was read.
 */
export const applyMergePatch = <T>(target: T, patch: Record<string, unknown>): T =>
  mergePatchLibrary.apply(target, patch) as T;
