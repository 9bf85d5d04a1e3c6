/** Sends a logout token to a Client, newly issued each time. */
export type NotifyClient = (
  client: string,
  account: string,
  sid: string,
) => Promise<'Notified' | 'Unsupported' | 'Gone'>;
