import { z } from 'zod';

/**
 * The facts that a person can change or be given. Each has a value, except where its name says it
 * all.
 */
const changeableFacts = [
  'SignIn',
  'KnownBrowser',
  'Network',
  'Group',
  'NotInGroup',
  'EmailDomain',
  'Passkeys',
  'Invitation',
  'Time',
] as const;

const FactChange = z.object({
  fact: z
    .enum(changeableFacts)
    .describe(
      'What would be different: the sign-in, a browser that signed in to the account before, the network, ' +
        'membership in a group, the domain of the address, the number of passkeys, an invitation, the time.',
    ),
  value: z
    .string()
    .optional()
    .describe(
      'Its value: a method, or Again for any; a network, absent for one that no rule names; a group; a domain or a pattern, ' +
        'absent for one that no rule names; a count; the earliest time that was tried.',
    ),
});
export type FactChange = z.infer<typeof FactChange>;

/** The alternatives to a refusal; none where they could say what the caller may not know. */
export const Alternatives = z
  .array(
    z.object({
      message: z.string().describe('The changes in English, for clients without pages.'),
      changes: z.array(FactChange).describe('All of them are necessary.'),
    }),
  )
  .optional()
  .describe(
    'The smallest changes of facts with which the policy would have permitted a refused request; any one is enough. ' +
      'Absent if none was found, or if they depend on facts about others.',
  );
export type Alternative = NonNullable<z.infer<typeof Alternatives>>[number];
