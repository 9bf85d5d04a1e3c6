const tokenInAddress = /^#token=(.+)$/.exec(location.hash)?.[1];
if (location.hash) history.replaceState(null, '', location.pathname + location.search);

/**
 * The token of an emailed link. It is removed from the address before anything else runs, and kept
 * in memory only.
 */
export const token: string | undefined = tokenInAddress;
