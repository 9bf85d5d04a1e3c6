/** How the library itself tells a Client, with a fresh logout token each time. */
export type NotifyClient = (
  client: string,
  account: string,
  sid: string,
) => Promise<'Notified' | 'Unsupported' | 'Gone'>;
