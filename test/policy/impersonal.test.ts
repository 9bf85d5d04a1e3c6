import { beforeAll, describe, expect, test } from '@jest/globals';
import { actions, kinds } from '../../kinds/index.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';

describe('a refusal that applies to everyone', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(kinds, actions);
  });
  const asked = (method: string) =>
    engine.decide({
      caller: { type: 'Browser', interaction: 'a'.repeat(32) },
      action: 'signIn',
      facts: {
        client: 'bank',
        methods: [method],
        assurance: method === 'Passkey' ? 'phr' : 'urn:vestibule:acr:email',
        authenticated: Math.floor(Date.now() / 1000),
        domain: '',
        groups: [],
      },
    });

  test.each([
    [
      'by method',
      'forbid (principal, action == Action::"signIn", resource == Client::"bank") unless { context.methods.contains("Passkey") };',
      true,
    ],
    [
      'by strength',
      'forbid (principal is Account, action == Action::"signIn", resource) when { context.assurance != "phr" && context has client && context.client == Client::"bank" };',
      true,
    ],
    [
      'of one account',
      'forbid (principal, action == Action::"signIn", resource) unless { principal == Account::"bcdfghjklmnpqrstvwxz" || context.methods.contains("Passkey") };',
      false,
    ],
    [
      'of a group',
      'forbid (principal, action == Action::"signIn", resource) unless { principal in Group::"staff" || context.methods.contains("Passkey") };',
      false,
    ],
    [
      'of those outside a group, in the head',
      'forbid (principal in Group::"staff", action == Action::"signIn", resource) unless { context.methods.contains("Passkey") };',
      false,
    ],
    [
      'of a domain',
      'forbid (principal, action == Action::"signIn", resource) unless { context.domain == "example.org" || context.methods.contains("Passkey") };',
      false,
    ],
    [
      'by the time',
      'forbid (principal, action == Action::"signIn", resource) when { context.now > datetime("2020-01-01") && !context.methods.contains("Passkey") };',
      false,
    ],
    [
      'beside one of a person',
      'forbid (principal, action == Action::"signIn", resource) unless { context.domain == "example.org" }; forbid (principal, action == Action::"signIn", resource == Client::"bank") when { context.methods.contains("EmailCode") };',
      true,
    ],
  ])('%s', async (_, rule, expected) => {
    await engine.activate('p-2', `${engine.defaultText}\n${rule}`);
    expect(asked('EmailCode').appliesToEveryone ?? false).toBe(expected);
    expect(asked('Passkey').appliesToEveryone).toBeUndefined();
  });
});
