// oxlint-disable-next-line typescript/triple-slash-reference -- programs that import the library find it by this
/// <reference path="./json-merge-patch.d.ts" />
import mergePatchLibrary from 'json-merge-patch';

/**
 * Applies a merge patch (RFC 7396) in place. Both arguments belong to the caller, and dangerous
 * keys were refused when the body was read.
 */
export const applyMergePatch = <T>(target: T, patch: Record<string, unknown>): T =>
  mergePatchLibrary.apply(target, patch) as T;
