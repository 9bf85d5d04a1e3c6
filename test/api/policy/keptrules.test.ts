import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { actions, kinds } from '../../../kinds/index.js';
import { createPolicy } from '../../../kinds/policy/policy.js';
import { openEngine } from '../../../policy/engine/engine.js';
import { ParsedPolicyCache } from '../../../policy/engine/parsed-policy-cache.js';
import { readRules, ruleFormatVersion } from '../../../policy/parse/rules.js';
import { Keys, newKeys } from '../../../security/keyring.js';
import { cedar } from '../../policy/oracle.js';
import { expectFor } from '../../support/expect-for.js';
import { settles } from '../../support/patience.js';
import { startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const key = 'meta/policy-rules';
interface Kept {
  source: string;
  rules: { id: string; effect: string }[];
}
const read = (value: Buffer): Kept => JSON.parse(value.toString('utf8', 32)) as Kept;

/** The same rules except one, which shows itself: what anyone may do, no one may. */
const turned = ({ source, rules }: Kept): Kept => ({
  source,
  rules: rules.map((rule) =>
    rule.id === 'anyone-reads-policies' ? { ...rule, effect: 'forbid' } : rule,
  ),
});

describe.each(stores)('the rules of the policy in force, on %s', (store) => {
  const held = async (service: TestService): Promise<Buffer | undefined> =>
    (await service.storage.get(key)).entry?.value;
  const open = async (): Promise<{
    service: TestService;
    genuine: Buffer;
    plant(value: Buffer): Promise<unknown>;
    made(kept: Kept, keys?: Keys, purpose?: string): Buffer;
  }> => {
    const service = await startTest({ store });
    const genuine = (await settles(
      () => held(service),
      (value) => value !== undefined,
    ))!;
    return {
      service,
      genuine,
      plant: (value) => service.storage.commit([], [{ put: key, value }]),
      made: (kept, keys = service.keys, purpose = 'policy rules') =>
        Buffer.concat([keys.mac(purpose, JSON.stringify(kept)), Buffer.from(JSON.stringify(kept))]),
    };
  };
  /** What another replica, which starts now, answers to anyone who reads policies. */
  const answers = async (service: TestService): Promise<number> =>
    (await (await service.replica()).tab().get('policies')).code;

  test('are kept as they were read, and the next start goes by them', async () => {
    const { service, genuine, plant, made } = await open();
    const text = (await service.tab().get('policies').is(200)).body.items[0].spec.cedar as string;
    expect(read(genuine).rules).toEqual(
      JSON.parse(JSON.stringify((await readRules(cedar, text)).rules)),
    );
    const { entry } = await service.storage.get(key);
    expect(await answers(service)).toBe(200);
    expect((await service.storage.get(key)).entry).toEqual(entry);
    await plant(made(turned(read(genuine))));
    expect(await answers(service)).toBe(401);
  });

  test('are read from the text where the stored form was changed or is not ours', async () => {
    const { service, genuine, plant, made } = await open();
    const forged = made(turned(read(genuine)));
    const at = forged.indexOf('forbid');
    const planted: Record<string, Buffer> = {
      'made under other keys': made(turned(read(genuine)), new Keys(newKeys())),
      'made for something else': made(turned(read(genuine)), service.keys, 'emailcode'),
      'with the seal of what it was': Buffer.concat([genuine.subarray(0, 32), forged.subarray(32)]),
      'with one bit of its seal turned': Buffer.concat([
        Buffer.from([forged[0]! ^ 1]),
        forged.subarray(1),
      ]),
      'with one bit of its body turned': Buffer.concat([
        forged.subarray(0, at),
        Buffer.from([forged[at]! ^ 1]),
        forged.subarray(at + 1),
      ]),
      'with something behind it': Buffer.concat([forged, Buffer.from(' ')]),
      'cut short': forged.subarray(0, -1),
      'nothing but a seal': forged.subarray(0, 32),
      'shorter than a seal': forged.subarray(0, 7),
      empty: Buffer.alloc(0),
      'no rules at all': Buffer.concat([service.keys.mac('policy rules', 'no'), Buffer.from('no')]),
      'larger than what is kept': made({
        ...turned(read(genuine)),
        more: 'x'.repeat(520 << 10),
      } as Kept),
    };
    const text = (await service.tab().get('policies').is(200)).body.items[0].spec.cedar as string;
    const kept = new ParsedPolicyCache(service.store, await openEngine(kinds, actions));
    expect(await kept.get('p-1', text)).toEqual(read(genuine).rules);
    for (const [what, value] of Object.entries(planted)) {
      await plant(value);
      expectFor(what, await kept.get('p-1', text).catch(() => undefined)).toEqual(undefined);
    }
    for (const what of ['with the seal of what it was', 'no rules at all', 'empty']) {
      await plant(planted[what]!);
      expectFor(what, await answers(service)).toEqual(200);
      await settles(
        () => held(service),
        (now) => now?.equals(genuine) === true,
      );
    }
  });

  test('are read from the text where they are another policy’s or another release’s', async () => {
    const { service, genuine, plant, made } = await open();
    const text = (await service.tab().get('policies').is(200)).body.items[0].spec.cedar as string;
    const { parserVersion: reader } = await openEngine(kinds, actions);
    const sourceOf = (...parts: string[]): string =>
      createHash('sha256').update(JSON.stringify(parts)).digest('hex');
    expect([read(genuine).source, reader]).toEqual([
      sourceOf(reader, 'p-1', text),
      expect.stringContaining(cedar.getCedarVersion()),
    ]);
    for (const source of [
      sourceOf(reader, 'p-2', text),
      sourceOf(reader, 'p-1', `${text}\n`),
      sourceOf(reader.replace(cedar.getCedarVersion(), '0.0.0'), 'p-1', text),
      '',
    ]) {
      await plant(made({ ...turned(read(genuine)), source }));
      const { entry, revision } = await service.storage.get(key);
      await service.store.watchCache.waitUntil(revision, 60_000);
      expect((await service.storage.get(key)).entry).toEqual(entry);
      expect(await answers(service)).toBe(200);
      await settles(
        () => held(service),
        (now) => now?.equals(genuine) === true,
      );
    }
  });

  test('go with a new policy, and neither rules under the name of the other', async () => {
    const { service, genuine, plant } = await open();
    const text = (await service.tab().get('policies/p-1').is(200)).body.spec.cedar as string;
    const closed = text.replace(
      /(@id\("anyone-reads-policies"\)\s*@message\("[^"]*"\)\s*)permit/,
      '$1forbid',
    );
    expect(closed).not.toBe(text);
    const replica = await service.replica();
    const call = service.store.systemCall();
    await service.store.change(call, (tx) =>
      createPolicy(tx, call, { spec: { cedar: closed }, rules: [] }),
    );
    for (const one of [service, replica]) {
      await settles(
        async () => (await one.tab().get('policies')).code,
        (code) => code === 401,
      );
    }
    const second = (await settles(
      () => held(service),
      (value) => value?.equals(genuine) === false,
    ))!;
    expect(read(second).rules).toEqual(turned(read(genuine)).rules);
    await plant(genuine);
    expect(await answers(service)).toBe(401);
    await settles(
      () => held(service),
      (now) => now?.equals(second) === true,
    );
  });
});

/** A rule of each form there is, and of each operator. */
const forms = `permit (principal, action, resource);
@id("named") @message("Words.") forbid (principal == Account::"a", action == Action::"get", resource == Session::"s");
permit (principal in Group::"g", action in [Action::"get", Action::"list"], resource in Session::"*");
permit (principal is Account in Group::"g", action in Action::"read", resource is Session in Session::"a-*");
permit (principal is Account, action, resource is Session)
when { context.domain == "x" && resource.owner == principal && principal in [Group::"g", Group::"h"] && context has client && true }
unless { context.domain like "*.example.\\*" || (if context.age < 5 then context.age + 1 <= 2 * 3 - -4 else !(context.age >= 7 && context.age > 8)) }
when { ["EmailCode", "EmailLink"].containsAny(context.methods) && ["a"].containsAll([]) && [1, 2].contains(3) && context.methods.isEmpty() && context.domain != "é\\u{1F600}" };
forbid (principal, action, resource) when { resource is Session in Session::"*" || context.client has name && context.client.name == Client::"c" && context.client["__proto__"] == {"__proto__": 1, b: {c: false}} && ip("10.0.0.1").isInRange(ip("10.0.0.0/8")) };
permit (principal, action, resource) when { ${Array.from({ length: 30 }, (_, i) => `context.age == ${i}`).join(' || ')} } unless { ${Array.from({ length: 30 }, (_, i) => `context.age != ${i}`).join(' && ')} };`;

test('rules are the same once they were kept, in the form of this number', async () => {
  const { rules, faults } = await readRules(cedar, forms);
  expect([faults, rules.length]).toEqual([[], 7]);
  const kept = JSON.stringify(rules);
  expect(JSON.parse(kept)).toStrictEqual(rules);
  expect([ruleFormatVersion, createHash('sha256').update(kept).digest('hex')]).toEqual([
    2,
    '4af58a935945edca068565b48d6a8542a54cf2f7e524b27de1c3a4e54a88c1f7',
  ]);
});
