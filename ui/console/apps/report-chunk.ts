import { Lazy } from '../../base/api/lazy.js';

/** Who may use an app, and what its program was seen to do. */
export const reportChunk = new Lazy(async () => {
  const [access, report] = await Promise.all([
    import('./app-access.js'),
    import('./client-report.js'),
  ]);
  return { ...access, ...report };
});
