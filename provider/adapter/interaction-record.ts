import type {
  AdapterPayload,
  Interaction as LibraryInteraction,
  ProviderContext,
} from 'oidc-provider';
import { accountSummary } from '../../kinds/account/account.js';
import { phishingResistant } from '../../kinds/session/acr.js';
import { Interaction } from '../../kinds/interaction/interaction.js';
import type { ObjectOf, StagedWrites } from '../../registry/kind.js';
import { nameOf } from '../../security/keyring.js';
import { objectKey } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { accountObject } from './accounts.js';
import { demandedAcr } from '../context/acr.js';
import { accountPage } from './built-in-clients.js';
import { bindBrowser } from '../context/browser-binding.js';
import { clientSummary } from './clients.js';
import { currentUnitOfWork, type UnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { newBrowserNotice } from './new-browser-notice.js';
import { loginMemo } from './session-projection.js';
import { sessionName } from '../context/session-name.js';

type InteractionObject = ObjectOf<typeof Interaction>;

const begunMemo = 'begun';
const endedMemo = 'ended';

/** The path of an interaction, which is also its cookie's. */
const interactionPath = (name: string): string => `/api/v1alpha1/interactions/${name}`;

/**
 * The hand-off: makes our record of what the library asks of a person, create-if-absent, in the
 * commit that stores the library's own.
 */
export async function beginInteraction(
  services: ProviderServices,
  ctx: ProviderContext,
  interaction: LibraryInteraction,
): Promise<string> {
  const exchange = currentUnitOfWork()!;
  const name = nameOf(interaction.uid);
  exchange.memo.set(begunMemo, { name, cid: interaction.cid });
  bindBrowser(services, ctx);
  const draft = await draftOf(services, name, interaction);
  exchange.defer(`interaction ${name}`, () => {
    const ended = exchange.memo.get(endedMemo) as { name: string; cid: string } | undefined;
    if (ended?.cid === interaction.cid) draft.status.previous = ended.name;
    return services.store.stage(Interaction, name, (old) => (old ? 'leave' : draft));
  });
  return interactionPath(name);
}

async function draftOf(
  services: ProviderServices,
  name: string,
  interaction: LibraryInteraction,
): Promise<InteractionObject> {
  const now = Date.now();
  const { params, prompt, session } = interaction;
  const consent = prompt.name === 'consent';
  const account = consent && session ? await accountObject(services, session.accountId) : undefined;
  const demandsPhr = !consent && demandedAcr(params, services.settings) === phishingResistant;
  const refusal = prompt.details.refusal as InteractionObject['status']['refusal'];
  return {
    metadata: { name } as InteractionObject['metadata'],
    spec: {
      client: params.client_id,
      scopes: (params.scope ?? '').split(' ').filter(Boolean),
      prompt: consent ? 'Consent' : 'Login',
      ...hints(params),
    },
    status: {
      phase: consent ? 'ConsentRequired' : 'LoginRequired',
      client: await clientSummary(services, params.client_id),
      ...(account && { account: accountSummary(account) }),
      ...(refusal && { refusal }),
      expirationTimestamp: toTimestamp(now + services.settings.limits.interactionLifetime),
    },
    internal: {
      epoch: services.epoch,
      cid: interaction.cid,
      returnTo: services.keys
        .seal(objectKey(Interaction, name), interaction.returnTo)
        .toString('base64url'),
      created: now,
      ends: now + services.settings.limits.interactionLifetime,
      replaced: [],
      ...(!consent &&
        (demandsPhr || prompt.reasons.includes('assurance_required') || asksForPasskey(params)) && {
          passkeyOnly: true,
        }),
      ...(demandsPhr && { demandedAcr: phishingResistant }),
      ...(session && {
        account: session.accountId,
        session: sessionName(session.accountId, session.uid),
      }),
    },
  };
}

/** The account page asks for it before what may follow a sign-in by passkey alone. */
const asksForPasskey = ({
  client_id: client,
  vestibule_method: method,
}: Record<string, unknown>): boolean => client === accountPage && method === 'Passkey';

const control = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** What an address may look like: nothing else is kept of a hint. */
const addressLike = /^[^\s@]+@[^\s@]+$/;

/** What the Client suggests, as far as it could be meant. */
function hints(
  params: Record<string, unknown>,
): Pick<InteractionObject['spec'], 'loginHint' | 'locales'> {
  const { login_hint: hint, ui_locales: locales } = params;
  const languages =
    typeof locales === 'string'
      ? locales
          .split(' ')
          .filter((tag) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,6}$/.test(tag))
          .slice(0, 10)
      : [];
  return {
    ...(typeof hint === 'string' &&
      hint.length <= 320 &&
      addressLike.test(hint) &&
      !control.test(hint) && { loginHint: hint }),
    ...(languages.length > 0 && { locales: languages }),
  };
}

/**
 * The library destroyed its half: ours stops showing the way back, in the same commit, and says
 * where the sign-in went on, or that it is complete, or over where nothing had been decided.
 */
export function recordEnded(
  services: ProviderServices,
  exchange: UnitOfWork,
  uid: string,
  payload: AdapterPayload,
): void {
  const name = nameOf(uid);
  exchange.memo.set(endedMemo, { name, cid: payload.cid });
  exchange.defer(`interaction ${name}`, async (): Promise<StagedWrites> => {
    let proven: InteractionObject | undefined;
    const { checks, writes } = await services.store.stage(Interaction, name, (old) => {
      if (!old) return 'leave';
      if (old.internal.login && payload.result?.login) {
        exchange.memo.set(loginMemo, old.internal.login.method);
        proven = old;
      }
      const begun = exchange.memo.get(begunMemo) as { name: string; cid: string } | undefined;
      if (begun?.cid === old.internal.cid) old.status.next = begun.name;
      else if (old.status.phase === 'Authenticated' && payload.result)
        old.status.phase = 'Completed';
      delete old.internal.returnTo;
      if (!payload.result && old.status.phase !== 'Aborted') {
        old.status.phase = 'Aborted';
        old.internal.aborted = 'Superseded';
      }
      return old;
    });
    const notice = proven ? await newBrowserNotice(services, proven) : { checks: [], writes: [] };
    return { checks: [...checks, ...notice.checks], writes: [...writes, ...notice.writes] };
  });
}
