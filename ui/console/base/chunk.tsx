import type { ComponentChild } from 'preact';
import { ApiError } from '../../base/api/api.js';
import { FirstLoad } from '../../base/first-load.js';
import { useLazy, type Lazy } from '../../base/api/lazy.js';
import { Loading } from './parts.js';

/** A view of a chunk that is loaded when it is shown; `show` renders what was loaded. */
export function Chunk<T>({
  of: chunk,
  show,
}: {
  of: Lazy<T>;
  show: (loaded: T) => ComponentChild;
}) {
  const { loaded, isMissing } = useLazy(chunk);
  if (loaded) return <>{show(loaded)}</>;
  return isMissing ? (
    <FirstLoad loading="working" failure={new ApiError(0)} retry={() => location.reload()} />
  ) : (
    <Loading />
  );
}
