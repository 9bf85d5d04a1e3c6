import { afterAll } from '@jest/globals';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { closeBrowser, leaveAfterEach, type Person } from './person.js';
import { asPerson } from './visitor.js';

/** The address of the operator of {@link startOperated}. */
export const operatorAddress = 'op@example.test';
/** The flags of a service with that operator, and without limits that tests would reach. */
export const operatedFlags = ['--operators', operatorAddress, '--limit-factor', '1000'];

/** Starts a service with a Client, and signs its operator in. */
export async function startOperated(
  options: Parameters<typeof startTest>[0] = {},
): Promise<{ service: TestService; operator: Tab }> {
  const service = await startTest({ flags: operatedFlags, ...options });
  await createClient(service, 'app');
  const operator = (await signIn(service, operatorAddress)).tab;
  return { service, operator };
}

/** Opens a browser with the cookies of a tab. */
type Arrive = (tab: Tab, options?: Parameters<typeof asPerson>[2]) => Promise<Person>;

/**
 * Returns what lets people arrive in British English. They leave after each test, which fails if a
 * page of theirs complained; browser and services end after the file.
 */
export function visitors(service: () => TestService): Arrive {
  const people: Person[] = [];
  leaveAfterEach(people);
  afterAll(async () => {
    await closeBrowser();
    await stopAll();
  });
  return async (tab, options = {}) => {
    const person = await asPerson(service(), tab, { locale: 'en-GB', ...options });
    people.push(person);
    return person;
  };
}
