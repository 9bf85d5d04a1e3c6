import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { kindsOf } from '../../registry/kinds-of.js';
import { Registry } from '../../registry/store/registry.js';

const shape = {
  description: 'A fish.',
  verbs: ['get'] as const,
  spec: z.object({}),
  status: z.object({}),
  columns: {},
};
const wardle = kindsOf({ group: 'wardle.example.com', version: 'v1alpha1' });
const Fischer = wardle({ ...shape, kind: 'Fischer', resource: 'fischers' });
const Flunder = kindsOf({ group: 'wardle.example.com', version: 'v1beta1', categories: ['fish'] })({
  ...shape,
  kind: 'Flunder',
  resource: 'flunders',
});

describe('kinds of a group and version', () => {
  test('a kind has them, and the categories of its group', () => {
    expect(Fischer).toMatchObject({
      group: 'wardle.example.com',
      version: 'v1alpha1',
      apiVersion: 'wardle.example.com/v1alpha1',
      singular: 'fischer',
      categories: [],
    });
    expect(Flunder.categories).toEqual(['fish']);
    const own = wardle({ ...shape, kind: 'Cod', resource: 'cods', categories: ['bait'] });
    expect(own.categories).toEqual(['bait']);
  });

  test('a registry has those of its kinds', () => {
    expect(new Registry([Fischer], [])).toMatchObject({
      group: 'wardle.example.com',
      version: 'v1alpha1',
      apiVersion: 'wardle.example.com/v1alpha1',
    });
  });

  test('a registry refuses kinds of two versions, and none', () => {
    expect(() => new Registry([Fischer, Flunder], [])).toThrow(
      'all kinds of a group must have its versions: Fischer is of wardle.example.com/v1alpha1, ' +
        'Flunder of wardle.example.com/v1beta1',
    );
    expect(() => new Registry([], [])).toThrow('a registry must have a kind');
  });
});
