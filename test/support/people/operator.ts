import { createClient, startTest, type TestOptions, type TestService } from '../service.js';
import { tokenOf } from './device.js';
import { signIn } from './signin.js';
import type { Tab } from './tab.js';

/** A service with a Client `app`, an operator in a browser, and a token of theirs. */
export async function startWithOperator({ flags = [], ...options }: TestOptions = {}): Promise<{
  service: TestService;
  operator: Tab;
  token: string;
}> {
  const service = await startTest({
    ...options,
    flags: ['--limit-factor', '1000', '--operators', 'op@example.test', ...flags],
  });
  await createClient(service, 'app');
  const operator = (await signIn(service, 'op@example.test')).tab;
  return { service, operator, token: await tokenOf(service, operator) };
}
