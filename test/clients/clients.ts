import { tokenOf } from '../support/people/device.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, type TestService } from '../support/service.js';

/** A service for generated clients: with objects of several kinds, and an operator's token. */
export interface ClientsService {
  readonly service: TestService;
  readonly operator: Tab;
  readonly token: string;
}

/** Starts a service with an operator, two Clients, a Group and an Invitation. */
export async function openService(): Promise<ClientsService> {
  const service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '100000'],
  });
  for (const name of ['app', 'demo']) await createClient(service, name);
  const { tab: operator } = await signIn(service, 'op@example.test');
  await operator
    .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff' } })
    .is(201);
  await operator
    .post('invitations', { metadata: { name: 'ada' }, spec: { email: 'ada@example.test' } })
    .is(201);
  return { service, operator, token: await tokenOf(service, operator) };
}
