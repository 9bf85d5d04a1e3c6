import { isDeepStrictEqual } from 'node:util';
import type {
  AdapterPayload,
  Client,
  InteractionResults,
  KoaContext,
  Interaction as LibraryInteraction,
  ProviderContext,
} from 'oidc-provider';
import { servedVersions } from '../../kinds/api-version.js';
import { audienceScopeID } from '../../kinds/apps/claims/scope-id.js';
import { isDocumentURL } from '../../kinds/apps/client/document-url.js';
import { Interaction } from '../../kinds/interaction/interaction.js';
import { accountSummary } from '../../kinds/people/account/account.js';
import { phishingResistant } from '../../kinds/people/session/acr.js';
import { objectKey } from '../../registry/encoded-object.js';
import type { ObjectOf } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { upsert } from '../../registry/store/upsert.js';
import { nameOf } from '../../security/keyring.js';
import { demandedAcr } from '../context/acr.js';
import { bindBrowser } from '../context/browser-binding.js';
import { ConflictError } from '../context/conflict.js';
import type { ProviderServices } from '../context/context.js';
import { requestState, requestUnitOfWork } from '../context/current-request.js';
import { withProviderErrors } from '../context/errors.js';
import { StateKey } from '../context/request-state.js';
import { sessionName } from '../context/session-name.js';
import type { UnitOfWork } from '../context/unit-of-work.js';
import { accountObject } from './accounts.js';
import { spendStoredBytes } from './attempt-limit.js';
import { requestedAudiences } from './audiences.js';
import { accountPageClient } from './built-in-clients.js';
import { clientSummary } from './clients.js';
import { newBrowserNotice } from './new-browser-notice.js';
import { addedPasskey, completedLogin, loginTime } from './session-projection.js';

type InteractionObject = ObjectOf<typeof Interaction>;

const [preferred, ...others] = servedVersions;

/** The Interaction that this request begins, and the one that it ends. */
const begun = new StateKey<{ readonly name: string; readonly cid: string }>();
const ended = new StateKey<{ readonly name: string; readonly cid: string }>();

/** Returns the path of an interaction in a version of the API, which is also the path of its cookies. */
const interactionPath = (name: string, version: string): string =>
  `/api/${version}/interactions/${name}`;

/**
 * Creates the Interaction object for a prompt of oidc-provider, in the commit that stores the
 * library's interaction. Leaves an existing object as it is.
 */
export async function beginInteraction(
  services: ProviderServices,
  ctx: ProviderContext,
  interaction: LibraryInteraction,
): Promise<string> {
  const unitOfWork = requestUnitOfWork();
  const name = nameOf(interaction.uid);
  unitOfWork.state.set(begun, { name, cid: interaction.cid });
  bindBrowser(services, ctx);
  const draft = await newInteraction(services, name, interaction, ctx.oidc.client);
  unitOfWork.defer(`interaction ${name}`, (tx) => {
    const before = unitOfWork.state.get(ended);
    if (before?.cid === interaction.cid) draft.status.previous = before.name;
    return upsert(tx, Interaction, name, (old) => (old ? 'leave' : draft));
  });
  return interactionPath(name, preferred);
}

/**
 * Sends the cookies of an interaction for its path in every version of the API; the library sends them
 * for the one that {@link beginInteraction} returned.
 */
export function repeatInteractionCookies(ctx: KoaContext): void {
  const name = requestState().get(begun)?.name;
  if (name === undefined) return;
  const path = `path=${interactionPath(name, preferred)};`;
  // A request that is redirected to itself has none any more.
  const cookies: readonly string[] = [ctx.response.get('Set-Cookie') ?? []].flat();
  const sent = cookies.filter((cookie) => cookie.includes(path));
  for (const version of others) {
    const otherPath = `path=${interactionPath(name, version)};`;
    for (const cookie of sent) ctx.append('Set-Cookie', cookie.replace(path, otherPath));
  }
}

async function newInteraction(
  services: ProviderServices,
  name: string,
  interaction: LibraryInteraction,
  client: Client | undefined,
): Promise<InteractionObject> {
  const now = Date.now();
  const { params, prompt, session } = interaction;
  const consent = prompt.name === 'consent';
  const acrRequested = demandedAcr(params, services.settings);
  const demandsPhr = !consent && acrRequested === phishingResistant;
  const refusal = prompt.details.refusal as InteractionObject['status']['refusal'];
  const stepUp = consent ? undefined : stepUpOf(interaction, demandsPhr);
  const known =
    session && (consent || stepUp) ? await accountObject(services, session.accountId) : undefined;
  const isResumable =
    !consent && !stepUp && acrRequested === undefined && prompt.reasons.every(letsAnySessionGoOn);
  const redirectURI = typeof params.redirect_uri === 'string' ? params.redirect_uri : undefined;
  const summary = await clientSummary(services, params.client_id, client, redirectURI);
  if (isDocumentURL(params.client_id)) await spendStoredBytes(services, summary);
  return {
    metadata: { name } as InteractionObject['metadata'],
    spec: {
      client: params.client_id,
      scopes: await requestedScopeIDs(services, params),
      prompt: promptNames[prompt.name],
      ...(stepUp && known && knownAddress(interaction, known.status.email.address)),
      ...hints(params),
    },
    status: {
      phase: consent ? 'ConsentRequired' : 'LoginRequired',
      client: summary,
      ...(consent && known && { account: accountSummary(known) }),
      ...(stepUp && { stepUp }),
      ...(refusal && { refusal }),
      expirationTimestamp: toTimestamp(now + services.settings.limits.interactionLifetime),
    },
    internal: {
      epoch: services.secrets.epoch,
      cid: interaction.cid,
      returnTo: services.secrets.keys
        .seal(objectKey(Interaction, name), interaction.returnTo)
        .toString('base64url'),
      providerInteraction: requestState().mapOf(saved).get(name) ?? '',
      created: now,
      ends: now + services.settings.limits.interactionLifetime,
      replaced: [],
      ...(isResumable && { isResumable: true }),
      ...(stepUp?.acr === phishingResistant && { passkeyOnly: true }),
      ...(demandsPhr && { demandedAcr: phishingResistant }),
      ...(acrRequested !== undefined && acrRequested !== 'Unmet' && { acrRequested }),
      ...(session && {
        account: session.accountId,
        session: sessionName(session.accountId, session.uid),
      }),
    },
  };
}

/**
 * Returns the address of a session that is not enough, as a hint; none if it is over or the request
 * names another person.
 */
const knownAddress = (
  { params, prompt: { reasons } }: LibraryInteraction,
  loginHint: string,
): { loginHint?: string } =>
  params.login_hint !== undefined ||
  reasons.includes('account_gone') ||
  reasons.includes('id_token_hint')
    ? {}
    : { loginHint };

/** The name of each prompt of oidc-provider in `spec.prompt`. */
const promptNames = {
  login: 'Login',
  consent: 'Consent',
  select_account: 'SelectAccount',
} as const satisfies Record<string, InteractionObject['spec']['prompt']>;

/** Reasons of a prompt for which any session is enough: there was none, or the person is to choose. */
const letsAnySessionGoOn = (reason: string): boolean =>
  reason === 'no_session' || reason === 'account_selection';

/** Returns the requested scopes of claims, and the ids of those of Audiences. */
async function requestedScopeIDs(
  services: ProviderServices,
  params: LibraryInteraction['params'],
): Promise<string[]> {
  const known = new Set(services.claims.scopes().map(({ name }) => name));
  const audiences = await requestedAudiences(services, params.client_id, params);
  return [
    ...(params.scope ?? '').split(' ').filter((scope) => known.has(scope)),
    ...audiences.flatMap(({ audience, scopes }) =>
      scopes.map((scope) => audienceScopeID(audience.metadata.name, scope)),
    ),
  ];
}

/**
 * Returns why the session of the browser is not enough, and the acr that the sign-in must satisfy;
 * undefined if there is none, or only another session is requested.
 */
function stepUpOf(
  { params, prompt: { reasons }, session }: LibraryInteraction,
  demandsPhr: boolean,
): InteractionObject['status']['stepUp'] {
  const byPasskey = { acr: phishingResistant };
  if (requiresPasskey(params)) return { reason: 'AccountChange', ...byPasskey };
  if (demandsPhr) return { reason: 'AcrRequested', ...byPasskey };
  if (reasons.includes('assurance_required')) return { reason: 'Policy', ...byPasskey };
  if (reasons.includes('recent_required')) return { reason: 'Policy' };
  if (reasons.includes('device_reauthentication')) return { reason: 'DeviceConnection' };
  const isAsked = reasons.includes('max_age') || reasons.includes('login_prompt');
  return isAsked && session ? { reason: 'NewSignInRequested' } : undefined;
}

/** Returns true if the account page requires a passkey, before a change that needs one. */
const requiresPasskey = ({
  client_id: client,
  vestibule_method: method,
}: Record<string, unknown>): boolean => client === accountPageClient && method === 'Passkey';

const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** A login_hint is kept only if it looks like an address. */
const addressPattern = /^[^\s@]+@[^\s@]+$/;

/** Returns the valid hints of a request: login_hint and ui_locales. */
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
      addressPattern.test(hint) &&
      !controlCharacters.test(hint) && { loginHint: hint }),
    ...(languages.length > 0 && { locales: languages }),
  };
}

const keyOf = (name: string): string => objectKey(Interaction, name);
/** The library's interactions as they are stored, by name. */
const saved = new StateKey<Map<string, string>>();
/** The interactions that the library was given, by name. */
const given = new StateKey<Map<string, AdapterPayload>>();

/** Saves the library's interaction in the Interaction of the same uid. */
export function saveInteraction(
  { secrets: { records } }: Pick<ProviderServices, 'secrets'>,
  unitOfWork: UnitOfWork,
  uid: string,
  payload: AdapterPayload,
): void {
  const name = nameOf(uid);
  const sealed = records.seal(keyOf(name), 'Interaction', payload).toString('base64url');
  unitOfWork.state.mapOf(saved).set(name, sealed);
  unitOfWork.defer(`interaction ${name}`, (tx) =>
    upsert(tx, Interaction, name, (old) => {
      if (old?.internal.returnTo === undefined) return 'leave';
      old.internal.providerInteraction = sealed;
      return old;
    }),
  );
}

/**
 * Returns the library's interaction with the result that the Interaction has; undefined after
 * returnTo was followed and after the lifetime.
 */
export async function findInteraction(
  { secrets: { records }, store }: ProviderServices,
  unitOfWork: UnitOfWork,
  uid: string,
): Promise<AdapterPayload | undefined> {
  const name = nameOf(uid);
  const found = await withProviderErrors(store.reader(Interaction).get(name));
  if (found?.internal.providerInteraction === undefined || Date.now() >= found.internal.ends) {
    return undefined;
  }
  const sealed = Buffer.from(found.internal.providerInteraction, 'base64url');
  const payload = records.open(keyOf(name), 'Interaction', sealed);
  if (!payload) return undefined;
  const result = resultOf(found, payload);
  if (result?.login) unitOfWork.state.set(completedLogin, result.login.method);
  unitOfWork.state.set(loginTime, found.internal.login?.milliseconds);
  unitOfWork.state.set(addedPasskey, found.internal.login?.addedPasskey);
  const complete = { ...payload, result };
  unitOfWork.state.mapOf(given).set(name, complete);
  return complete;
}

/** Returns the result for the library: a consent comes with the login before it. */
function resultOf(
  interaction: InteractionObject,
  { lastSubmission }: AdapterPayload,
): InteractionResults | undefined {
  const decided = decisionOf(interaction);
  return decided && !decided.error
    ? { ...(lastSubmission as InteractionResults | undefined), ...decided }
    : decided;
}

/** Returns what was decided in an Interaction, or undefined if nothing was yet. */
function decisionOf({ status, internal }: InteractionObject): InteractionResults | undefined {
  const { login, consent, demandedAcr } = internal;
  if (status.phase === 'Aborted') {
    return demandedAcr === undefined
      ? { error: 'access_denied', error_description: 'the person declined' }
      : {
          error: 'unmet_authentication_requirements',
          error_description: 'the requested sign-in was not completed',
        };
  }
  if (status.phase === 'Authenticated' && login) {
    const { account: accountId, acr, amr, seconds: ts, method } = login;
    return { login: { accountId, acr, amr, ts, method, remember: true } };
  }
  return status.phase === 'Completed' && consent ? { consent: {} } : undefined;
}

/**
 * Updates the Interaction in the commit in which the library ends its own: removes returnTo and
 * records the next Interaction, the completion, or, if nothing was decided, the abort. Of concurrent
 * requests only one commits, and only if the result is still the one that the library was given.
 */
export async function endInteraction(
  services: ProviderServices,
  unitOfWork: UnitOfWork,
  uid: string,
): Promise<void> {
  const name = nameOf(uid);
  const payload =
    unitOfWork.state.mapOf(given).get(name) ?? (await findInteraction(services, unitOfWork, uid));
  if (!payload) return;
  unitOfWork.state.set(ended, { name, cid: payload.cid });
  unitOfWork.defer(`interaction ${name}`, async (tx) => {
    let signedIn: InteractionObject | undefined;
    await upsert(tx, Interaction, name, (old) => {
      const result = old && resultOf(old, payload);
      if (
        old?.internal.providerInteraction === undefined ||
        !isDeepStrictEqual(result, payload.result)
      ) {
        throw new ConflictError([keyOf(name)]);
      }
      if (old.internal.login && result?.login) {
        unitOfWork.state.set(completedLogin, old.internal.login.method);
        signedIn = old;
      }
      finish(old, unitOfWork);
      return old;
    });
    if (signedIn) tx.add(await newBrowserNotice(services, signedIn));
  });
}

function finish(interaction: InteractionObject, unitOfWork: UnitOfWork): void {
  const { internal, status } = interaction;
  const decided = decisionOf(interaction);
  const next = unitOfWork.state.get(begun);
  if (next?.cid === internal.cid) {
    status.next = next.name;
  } else if (status.phase === 'Authenticated' && decided) {
    status.phase = 'Completed';
  }
  delete internal.returnTo;
  delete internal.providerInteraction;
  if (decided || status.phase === 'Aborted') return;
  status.phase = 'Aborted';
  internal.aborted = 'Superseded';
}
