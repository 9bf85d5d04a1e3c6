import { expect, test } from '@jest/globals';
import type { Replica } from '../../ui/api.js';
import {
  backupFinding,
  baseURLFinding,
  isPublicURL,
  mailFinding,
} from '../../ui/console/overview/checklist-rules.js';
import { readOperators } from '../../ui/console/overview/operators-rules.js';

const replica = (
  settings: Record<string, string>,
  { mail, snapshot }: { mail?: string; snapshot?: string } = {},
): Replica =>
  ({
    status: {
      settings: Object.entries(settings).map(([name, value]) => ({ name, value, source: 'Flag' })),
      store: { driver: 'Embedded', copies: [], lastSnapshotTimestamp: snapshot },
      lastMailTimestamp: mail,
    },
  }) as unknown as Replica;

test.each([
  ['https://id.example.org', true],
  ['https://id.example.org/login/', true],
  ['http://id.example.org', false],
  ['https://localhost:8443', false],
  ['https://id.localhost', false],
  ['https://127.0.0.1', false],
  ['https://[::1]:8080', false],
  ['id.example.org', false],
  [undefined, false],
])('the base URL %s is public: %s', (value, isPublic) => {
  expect(isPublicURL(value)).toBe(isPublic);
});

test('one replica with another base URL is enough to miss it', () => {
  const right = replica({ 'base-url': 'https://id.example.org' });
  expect(baseURLFinding([right]).isDone).toBe(true);
  expect(baseURLFinding([right, replica({})]).isDone).toBe(false);
});

test('mail counts when the mail server accepted one and none is mocked', () => {
  const mail = '2026-01-02T03:04:05Z';
  expect(mailFinding([replica({ 'mock-mail': 'false' })])).toEqual({ isDone: false });
  expect(mailFinding([replica({}), replica({}, { mail })])).toEqual({ isDone: true, last: mail });
  expect(mailFinding([replica({ 'mock-mail': 'true' }, { mail })]).isDone).toBe(false);
});

test('a snapshot counts for seven days, and the newest one does', () => {
  const now = Date.parse('2026-01-10T00:00:00Z');
  const [old, late] = ['2026-01-02T23:59:59Z', '2026-01-03T00:00:01Z'];
  expect(backupFinding([replica({})], now)).toEqual({ isDone: false });
  expect(backupFinding([replica({}, { snapshot: old })], now)).toEqual({
    isDone: false,
    last: old,
  });
  expect(
    backupFinding([replica({}, { snapshot: late }), replica({}, { snapshot: old })], now),
  ).toEqual({ isDone: true, last: late });
});

test('operators are done with a passkey of a member who can sign in', async () => {
  const finding = (members: string[], accounts: Record<string, object>): Promise<string> =>
    readOperators(
      async (path): Promise<any> => {
        if (path === '/groups/operators') return { spec: { members } };
        const address = decodeURIComponent(path).split('status.email.address=')[1]!;
        const status = accounts[address];
        return { items: status ? [{ metadata: {}, status }] : [] };
      },
      '/groups',
      '/accounts',
    );
  const [ada, ben] = ['ada+1@example.test', 'ben@example.test'];
  const disabledTimestamp = '2026-01-02T03:04:05Z';
  expect(await finding([], { [ada]: { passkeys: 1 } })).toBe('NoMembers');
  expect(await finding([ada, ben], { [ada]: { passkeys: 0 } })).toBe('NoPasskey');
  expect(await finding([ada], { [ada]: { passkeys: 1, disabledTimestamp } })).toBe('NoPasskey');
  expect(await finding([ada, ben], { [ben]: { passkeys: 2 } })).toBe('Done');
});
