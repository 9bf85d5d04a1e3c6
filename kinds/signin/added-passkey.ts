import { z } from 'zod';

/**
 * A passkey that was added in a session, or while the account was set up: when (seconds since the
 * epoch), and the acr of a sign-in with it then. This API counts it as such a sign-in.
 */
export const AddedPasskey = z.object({ seconds: z.number().int(), acr: z.string() });
export type AddedPasskey = z.infer<typeof AddedPasskey>;
