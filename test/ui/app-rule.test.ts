import { describe, expect, test } from '@jest/globals';
import { appRuleIn, withAppRule } from '../../ui/console/policy/app-rule.js';

const others = `@id("a") @message("A.")
permit (principal, action, resource);
@id("app-wiki") @message("Not the one of the page.")
forbid (principal, action == Action::"signIn", resource == Client::"wiki")
when { false };
`;

describe('the rule of an app in the text of a policy', () => {
  test.each([
    ['one group', 'wiki', ['staff']],
    ['several groups', 'wiki', ['staff', 'leads', 'a.b-c']],
    ['a name with points', 'wiki.example', ['staff']],
  ])('is found as it was written: %s', (_, client, groups) => {
    const text = withAppRule(others, client, groups, 'Wiki "2" is for \\ some.');
    expect(appRuleIn(text, client)).toEqual({ groups, isForeign: false });
    expect(text.startsWith(others.trimEnd())).toBe(true);
    expect(appRuleIn(text, 'other')).toEqual({ groups: [], isForeign: false });
  });

  test('is replaced, and taken away without a trace', () => {
    const first = withAppRule(others, 'wiki', ['staff'], 'Only staff.');
    const both = withAppRule(first, 'board', ['leads'], 'Only leads.');
    const changed = withAppRule(both, 'wiki', ['guests'], 'Only guests.');
    expect(appRuleIn(changed, 'wiki').groups).toEqual(['guests']);
    expect(appRuleIn(changed, 'board').groups).toEqual(['leads']);
    expect(changed.match(/app-wiki-members/g)).toHaveLength(1);
    const without = withAppRule(withAppRule(changed, 'wiki', [], ''), 'board', [], '');
    expect(without.trim()).toBe(others.trim());
  });

  test.each([
    ['another condition', 'unless { principal in Group::"staff" && context.passkeys > 0 };'],
    ['another effect', 'when { principal in Group::"staff" };'],
  ])('is left to the policy page after it was changed by hand: %s', (_, condition) => {
    const text = `${others}@id("app-wiki-members") @message("Staff.")
forbid (principal, action == Action::"signIn", resource == Client::"wiki")
${condition}
`;
    expect(appRuleIn(text, 'wiki')).toEqual({ groups: [], isForeign: true });
  });
});
