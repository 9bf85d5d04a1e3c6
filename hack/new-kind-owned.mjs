/** What a kind looks like whose objects belong to an Account: `hack/new-kind --owned` writes it. */

/** The text of the file of the kind. */
export const ownedFile = ({ kind, resource }) => `import { z } from 'zod';
import type { Call, CreateActionBody, KindObject } from '../registry/kind.js';
import { forbidden } from '../registry/status/status.js';
import { randomName } from '../registry/store/random-name.js';
import { defineKind } from './define-kind.js';
import { line } from './signin/schema-types.js';

const ${kind}Spec = z.object({ displayName: line(64).describe('Its display name.') });

const ${kind}Status = z.object({ account: z.string().describe('The Account that owns it.') });

type ${kind}Object = KindObject<z.infer<typeof ${kind}Spec>, z.infer<typeof ${kind}Status>>;

/** What ${kind} objects are, in a sentence. */
export const ${kind} = defineKind({
  kind: '${kind}',
  resource: '${resource}',
  owner: 'status.account',
  nameSource: 'service',
  description: 'What ${kind} objects are, in a sentence.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: ${kind}Spec,
  status: ${kind}Status,
  columns: { 'Display-Name': ({ spec }) => spec.displayName },
  create: { dryRun: true, run: create${kind} },
});

/** POST ${resource}: creates an object that the caller owns. */
async function create${kind}(
  call: Call,
  { spec, metadata }: CreateActionBody,
): Promise<${kind}Object> {
  const { caller } = call;
  if (caller.type !== 'Account') throw forbidden('only a person may own one', ${kind});
  const { account } = caller;
  const name = \`\${account}-\${randomName(10)}\`;
  return call.change((tx) =>
    tx.create(${kind}, { metadata: { ...metadata, name }, spec, status: { account } }),
  );
}
`;

/** The sample of the conformance of kinds. */
export const ownedSample = ({ kind }) => `conforms(${kind}, {
  valid: ({ name }) => ({
    name: \`\${name}-sample\`,
    spec: { displayName: 'Sample' },
    status: { account: name },
  }),
  invalid: [{ spec: { displayName: '' }, field: 'spec.displayName' }],
  patch: { displayName: 'Another' },
});`;

/** The message of the rules about what is one's own, and its translations. */
const message = {
  en: 'You may see and change what is yours.',
  ar: 'يمكنك الاطلاع على ما يخصك وتغييره.',
  de: 'Sie dürfen sehen und ändern, was Ihnen gehört.',
  es: 'Puedes ver y cambiar lo que es tuyo.',
  fr: 'Vous pouvez voir et modifier ce qui vous appartient.',
  it: 'Puoi vedere e modificare ciò che è tuo.',
  ja: '自分のものを見て変更できます。',
  nl: 'Je mag zien en wijzigen wat van jou is.',
  pl: 'Możesz przeglądać i zmieniać to, co należy do Ciebie.',
  'pt-BR': 'Você pode ver e alterar o que é seu.',
  tr: 'Size ait olanları görebilir ve değiştirebilirsiniz.',
  uk: 'Ви можете бачити й змінювати те, що належить вам.',
  'zh-Hans': '您可以查看和更改属于自己的内容。',
};

const section = ({ kind, resource }) => `  {
    about: '${kind}',
    rules: \`
@id("own-${resource}")
@message("${message.en}")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete"],
  resource is ${kind}
)
when { resource.owner == principal };

// What someone creates becomes theirs.
@id("new-${resource}")
@message("${message.en}")
permit (principal is Account, action == Action::"create", resource is ${kind});
\`,
  },`;

/** Returns the lines that such a kind needs for its policy, in the form of `additionsOf`. */
export const ownedAdditionsOf = ({ kind, resource }, before) => [
  {
    file: 'policy/text/default-policy.ts',
    where: 'in `sections`, before that of PolicyDecision',
    at: before("  {\n    about: 'PolicyDecision',"),
    lines: section({ kind, resource }),
  },
  ...Object.entries(message).map(([language, text]) => ({
    file: `ui/messages/${language}/rules.json`,
    where: 'before the message of PolicyDecision',
    at: before('  "says.You may read what was decided about you."'),
    lines: `  "says.${message.en}": "${text}",`,
  })),
  {
    file: 'test/policy/default.test.ts',
    where: 'in `table`, before PolicyDecision',
    at: before('  PolicyDecision: {'),
    lines: `  ${kind}: {
    account: 'create',
    owner: \`\${reading} patch update delete\`,
    operator: \`\${reading} delete\`,
  },`,
  },
  {
    file: 'test/api/policy/matrix.test.ts',
    where: 'in `table`, before policydecisions',
    at: before('  policydecisions: {'),
    lines: `  ${resource}: {
    owner: everything,
    other: 'list watch create',
    operator: \`\${reading} create-own delete\`,
  },`,
  },
  {
    file: 'test/api/policy/matrix.test.ts',
    where: 'in `beforeAll`, before `objects.mockmessages`',
    at: before('    objects.mockmessages = ('),
    lines: `    objects.${resource} = (
      await tabs.owner.post('${resource}', { spec: { displayName: 'Sample' } }).is(201)
    ).body.metadata.name;`,
  },
];
