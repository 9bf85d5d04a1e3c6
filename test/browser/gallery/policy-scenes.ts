import type { Policy, PolicyDecision } from '../../../ui/api.js';
import { FakeRefusal, type FakeResponse } from './answer.js';
import type { Script } from './fake-api.js';
import { inSeconds } from './interaction.js';
import { decision, list, me, one, policy, three, trial } from './policy.js';
import type { Scene } from './scene.js';

const visitor = new FakeRefusal(401);
const account = {
  apiVersion: 'id.vestibule.org/v1beta1',
  kind: 'Account',
  metadata: { name: me, resourceVersion: '90' },
  spec: {},
  status: {},
};
const grants = list('Grant', [
  {
    metadata: { name: `${me}-lantern` },
    status: { client: { name: 'lantern', displayName: 'Lantern Notes' } },
  },
]);
const providers = list('ClaimsProvider', [
  {
    metadata: { name: 'vestibule' },
    spec: { scopes: [{ name: 'email', title: 'Email address', claims: [] }] },
  },
]);

const open = (policies: Policy[], fragment?: string): Scene => ({
  page: 'policy',
  ...(fragment ? { fragment } : {}),
  script: { 'GET policies': list('Policy', policies), 'GET accounts/~': visitor },
});

const few = (): PolicyDecision[] => [
  decision(
    1,
    { action: 'share', scope: 'email', client: 'lantern' },
    {
      allowed: false,
      reasons: [
        { rule: 'lantern-emails', message: 'Lantern Notes does not need your address any more.' },
      ],
      count: 3,
      firstTimestamp: inSeconds(-86_400),
    },
  ),
  decision(
    3,
    {
      action: 'signIn',
      resource: { kind: 'Client' },
      input: { caller: { type: 'Account', name: me }, name: 'board', facts: { client: 'board' } },
    },
    { reasons: [{ rule: 'anyone-may-sign-in', message: '' }] },
  ),
  decision(8, {}, { count: 41, firstTimestamp: inSeconds(-259_200) }),
  decision(20, { action: 'patch', resource: { kind: 'Account', name: me } }),
  decision(
    30,
    { action: 'create', resource: { kind: 'Policy' } },
    {
      allowed: false,
      reasons: [{ rule: 'default', message: 'No rule permits it.' }],
      alternatives: [
        {
          message: '',
          changes: [
            { fact: 'SignIn', value: 'Passkey' },
            { fact: 'Group', value: 'operators' },
          ],
        },
        {
          message: '',
          changes: [
            { fact: 'Network', value: '10.0.0.0/8' },
            { fact: 'Passkeys', value: '2' },
          ],
        },
      ],
    },
  ),
  decision(
    31,
    { action: 'get', resource: { kind: 'Client', name: 'lantern' }, policy: 'p-2' },
    { allowed: false, reasons: [{ rule: 'error', message: 'The policy could not be applied.' }] },
  ),
  decision(
    40,
    { action: 'interactions/consent', resource: { kind: 'Interaction', subresource: 'consent' } },
    { reasons: [{ rule: 'own-interaction', message: '' }] },
  ),
];

const many = (): PolicyDecision[] =>
  Array.from({ length: 47 }, (_, i) =>
    decision(i + 1, {
      action: ['patch', 'create', 'delete'][i % 3]!,
      resource: { kind: ['Account', 'Session', 'Passkey'][i % 3]! },
    }),
  );

const person = (decisions: FakeResponse, fragment = 'decisions', more: Script = {}): Scene => ({
  page: 'policy',
  fragment,
  script: {
    'GET policies': list('Policy', three()),
    'GET accounts/~': account,
    'GET policydecisions': decisions,
    'GET grants': grants,
    'GET claimsproviders': providers,
    ...more,
  },
});

/** A second policy comes into force while the first is shown. */
function arrive(): void {
  const api = globalThis.stage!.api;
  const [before, after] = three();
  api.emit('policies', before!);
  api.emit(
    'policies',
    { ...after!, status: { ...after!.status, inForce: true, supersededTimestamp: undefined } },
    'ADDED',
  );
}

const click =
  (selector: string) =>
  (page: Document): void =>
    page.querySelector<HTMLElement>(selector)?.click();

/** Every state of the policy page and of the list of decisions. */
export const policyScenes: Record<string, () => Scene> = {
  policy: () => open(one()),
  'policy-several': () => open(three()),
  'policy-earlier': () => open(three(), 'p-2'),
  'policy-line': () => open(three(), 'at=line-30'),
  'policy-rule': () => open(three(), 'p-3&rule=lantern-emails'),
  'policy-rule-text': () => ({ ...open(three()), act: click('.rule summary') }),
  'policy-signed-in': () => ({ ...person(list('PolicyDecision', few())), fragment: undefined }),
  'policy-history': () => ({
    ...person(list('PolicyDecision', few())),
    fragment: 'at=earlier',
  }),
  'policy-unfolded': () => ({ ...open(one()), act: click('#rules ~ .pair button') }),
  'policy-comparison': () => open(three(), 'compare=p-2..p-3'),
  'policy-comparison-unfolded': () => ({
    ...open(three(), 'compare=p-1..p-3'),
    act: click('.fold button'),
  }),
  'policy-comparison-equal': () => open(three(), 'compare=p-2..p-2'),
  'policy-comparison-one': () => open(one(), 'compare'),
  'policy-in-trial': () => open([...three(), trial()]),
  'policy-trial': () => open([...three(), trial()], 's-1'),
  'policy-trial-over': () =>
    open([...three(), trial({ supersededTimestamp: inSeconds(-3_600) })], 's-1'),
  'policy-arrived': () => ({ ...open(one()), act: arrive }),
  'policy-arrived-elsewhere': () => ({ ...open(one(), 'p-1'), act: arrive }),
  'policy-absent': () => open(one(), 'p-9'),
  'policy-loading': () => ({
    page: 'policy',
    script: { 'GET policies': 'never', 'GET accounts/~': visitor },
  }),
  'policy-offline': () => ({
    page: 'policy',
    script: { 'GET policies': ['offline', list('Policy', one())], 'GET accounts/~': visitor },
  }),
  'policy-down': () => ({
    page: 'policy',
    script: {
      'GET policies': [new FakeRefusal(503, { retryAfterSeconds: 20 }), list('Policy', one())],
      'GET accounts/~': visitor,
    },
  }),
  decisions: () => person(list('PolicyDecision', few())),
  'decisions-rule': () => person(list('PolicyDecision', few()), 'decisions=lantern-emails'),
  'decisions-many': () => person(list('PolicyDecision', many())),
  'decisions-none': () => person(list('PolicyDecision', [])),
  'decisions-none-rule': () => person(list('PolicyDecision', few()), 'decisions=groups-stay-here'),
  'decisions-visitor': () => open(three(), 'decisions=own-account'),
  'decisions-loading': () => person('never'),
  'decisions-offline': () => person(['offline', list('PolicyDecision', few())]),
  'decisions-down': () => person(new FakeRefusal(503, { retryAfterSeconds: 5 })),
};

const hostile =
  '<img src=x onerror="document.title=1"><script>top.pwned=1</script>"\'`{client} {{7*7}}';
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

/** Hostile and overlong text wherever policies and decisions show text of others. */
export const hostilePolicyScenes: Record<string, () => Scene> = Object.fromEntries(
  (
    [
      ['hostile', hostile],
      ['long', long],
    ] as const
  ).flatMap(([name, text]) => {
    const rules: Policy['status']['rules'] = [
      { id: `a${text}`.slice(0, 100), effect: 'forbid', message: text },
    ];
    const cedar = `// ${text}\n@id(${JSON.stringify(rules[0]!.id)})\n@message(${JSON.stringify(text)})\nforbid (principal == Account::${JSON.stringify(text)}, action, resource == Scope::${JSON.stringify(text)});\n`;
    const policies = [
      policy(1, `// ${text}${text}\n${cedar}`, rules, {
        spec: { description: text },
        status: { author: text, inForce: false, supersededTimestamp: inSeconds(-99) },
      }),
      policy(2, cedar, rules, {
        spec: { description: text },
        status: { author: text, hash: text },
      }),
    ];
    const decided = [
      decision(
        1,
        { action: 'share', scope: text, client: text, policy: text },
        { allowed: false, reasons: [{ rule: text, message: text }] },
      ),
      decision(
        2,
        { action: text, resource: { kind: text, name: text } },
        { reasons: [{ rule: text, message: text }] },
      ),
    ];
    return Object.entries({
      policy: open(policies),
      'policy-comparison': open(policies, 'compare=p-1..p-2'),
      decisions: person(list('PolicyDecision', decided), `decisions=${encodeURIComponent(text)}`, {
        'GET policies': list('Policy', policies),
      }),
    } satisfies Record<string, Scene>).map(([view, scene]) => [`${name}-${view}`, () => scene]);
  }),
);
