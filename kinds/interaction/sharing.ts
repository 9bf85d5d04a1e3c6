import type { Call, Decision, ObjectOf } from '../../registry/kind.js';
import type { Account } from '../account.js';
import { canonical } from '../address.js';

/** Puts one scope going to one Client to policy; the browser asks, so who the person is comes along as facts. */
export async function mayShare(call: Call, account: ObjectOf<typeof Account>, client: string, scope: string): Promise<Decision> {
  const address = canonical(account.status.email.address);
  const facts = { account: account.metadata.name, domain: address.slice(address.lastIndexOf('@') + 1), groups: await call.ports.groupsOf(address) };
  return call.decide('share', { scope, client, ...facts });
}
