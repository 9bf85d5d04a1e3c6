/** The rule that only members of some groups may use an app, as the page of the app writes it. */
export interface AppRule {
  /** The names of the groups; none if everyone may use the app. */
  readonly groups: readonly string[];
  /** There is a rule with this name, but it was changed by hand. */
  readonly isForeign: boolean;
}

/** Returns the name of the rule of an app, by which it is found again. */
export const ruleOf = (client: string): string => `app-${client}-members`;

const quoted = (text: string): string => JSON.stringify(text);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const patternOf = (client: string): RegExp =>
  new RegExp(
    [
      String.raw`\n*@id\(${escaped(quoted(ruleOf(client)))}\) @message\("(?:[^"\\]|\\.)*"\)`,
      String.raw`forbid \(principal, action == Action::"signIn", resource == Client::${escaped(quoted(client))}\)`,
      String.raw`unless \{ ((?:principal in Group::"[^"\\]+"(?: \|\| )?)+) \};\n?`,
    ].join(String.raw`\n`),
  );

/** Reads the rule of an app in the text of a policy. */
export function appRuleIn(cedar: string, client: string): AppRule {
  const [, condition = ''] = patternOf(client).exec(cedar) ?? [];
  const groups = [...condition.matchAll(/Group::"([^"]+)"/g)].map(([, name]) => name!);
  const isForeign = groups.length === 0 && cedar.includes(`@id(${quoted(ruleOf(client))})`);
  return { groups, isForeign };
}

/**
 * Returns the text of a policy in which the members of these groups alone may use an app; with no
 * group, everyone. `message` is what others read.
 */
export function withAppRule(
  cedar: string,
  client: string,
  groups: readonly string[],
  message: string,
): string {
  const others = cedar.replace(patternOf(client), '\n');
  if (groups.length === 0) return others;
  const condition = groups.map((group) => `principal in Group::${quoted(group)}`).join(' || ');
  return [
    others.trimEnd(),
    '',
    `@id(${quoted(ruleOf(client))}) @message(${quoted(message)})`,
    `forbid (principal, action == Action::"signIn", resource == Client::${quoted(client)})`,
    `unless { ${condition} };`,
    '',
  ].join('\n');
}
