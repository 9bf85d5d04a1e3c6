import { whyRefused } from '../../registry/decision.js';
import type { Call, Decision, ObjectOf, Transaction } from '../../registry/kind.js';
import { forbidden, type StatusError } from '../../registry/status.js';
import { accountSummary, type Account } from '../account/account.js';
import { claimsOf } from '../assurance.js';
import { endChallenges } from '../passkey/challenge.js';
import type { Method } from '../session.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { personFacts, signedInNow } from './person.js';

type AccountObject = ObjectOf<typeof Account>;

/** Who was proven, and how; `known` where there is an Account. */
interface Proven { readonly known: AccountObject | undefined; readonly name: string; readonly address: string; readonly method: Method }

/** Why a person now proven is refused, if they are: a disabled account, or the policy's signUp and signIn (`provider.md` 15, row 13). What permits it becomes part of the commit, or else what refuses. */
export async function refusalOf(tx: Transaction, call: Call, { metadata, spec }: InteractionObject, { known, name, address, method }: Proven): Promise<StatusError | undefined> {
  if (known?.status.disabledTimestamp) return forbidden('this account is disabled', Interaction, metadata.name);
  const facts = { client: spec.client, ...(await personFacts(call, known && name, address, signedInNow(method, call.now))), ...(!known && { becomes: name }) };
  const permits: Decision[] = [];
  for (const action of known ? ['signIn'] : ['signUp', 'signIn']) {
    const decision = await call.decide(action, { ...facts, record: 'change' });
    if (decision.allowed) { permits.push(decision); continue }
    await decision.join?.(tx);
    return forbidden(whyRefused(decision), Interaction, metadata.name, { ...(decision.name && { policyDecision: decision.name }) });
  }
  for (const decision of permits) await decision.join?.(tx);
  return undefined;
}

/** Marks the emailed proof as used, where there is one. */
export function useUp({ internal, status }: InteractionObject): void {
  if (internal.email) internal.email.state = 'Used';
  delete status.emailChallenge;
}

/** Moves the record on: the person is proven, and every other challenge of this sign-in is over. */
export function authenticate(interaction: InteractionObject, account: AccountObject, method: Method, call: Call): void {
  const { internal, status } = interaction;
  useUp(interaction);
  endChallenges(internal);
  status.phase = 'Authenticated';
  status.account = accountSummary(account);
  internal.login = { account: account.metadata.name, method, seconds: Math.floor(call.now / 1000), acr: claimsOf[method].acr, amr: [...claimsOf[method].amr] };
}
