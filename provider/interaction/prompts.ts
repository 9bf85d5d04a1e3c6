import { interactionPolicy, type ProviderContext, type Session } from 'oidc-provider';
import { isSessionValid } from '../../kinds/account/end-sessions.js';
import { Session as ProjectedSession } from '../../kinds/session/session.js';
import { refusalMessage } from '../../registry/authorizer.js';
import { isLoopback } from '../../security/loopback.js';
import type { Decision } from '../../registry/kind.js';
import { accountObject } from '../adapter/accounts.js';
import { isWeakerThanAsked } from '../context/acr.js';
import { accountPage } from '../adapter/built-in-clients.js';
import { claimsOf, phishingResistant } from '../../kinds/session/acr.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { loginMemo } from '../adapter/session-projection.js';
import { sessionName } from '../context/session-name.js';
import { withProviderErrors } from '../context/errors.js';
import { mayShare, maySignIn } from './policy.js';

const { Check } = interactionPolicy;

/**
 * What policy says of a live session at a Client, and of sharing `openid` with it, without which
 * there is no sign-in: as it is, with a fresh passkey, or not at all.
 */
type Verdict =
  | { readonly is: 'Permitted' | 'Stronger' }
  | { readonly is: 'Refused'; readonly decision: Decision };

/** How a sign-in was done, as policy sees it. */
interface SignedIn {
  readonly methods: readonly string[];
  readonly assurance: string;
  readonly authenticated: number;
}

/**
 * How the session's own sign-in was done: this unit of work knows the method where it completes the
 * sign-in, its projection later, a session just begun only how strong it was.
 */
export async function signedInBy(services: ProviderServices, session: Session): Promise<SignedIn> {
  const methods = [
    (currentUnitOfWork()?.memo.get(loginMemo) as string | undefined) ??
      (session.acr === phishingResistant ? 'Passkey' : 'EmailCode'),
  ];
  const facts = { methods, assurance: session.acr ?? '', authenticated: session.loginTs ?? 0 };
  if (currentUnitOfWork()?.memo.has(loginMemo)) return facts;
  const projected = await withProviderErrors(
    services.store.reader(ProjectedSession).cached(sessionName(session.accountId!, session.uid)),
  );
  return projected?.internal.loginSeconds === session.loginTs
    ? { ...facts, methods: projected!.status.methods }
    : facts;
}

async function verdictOn(services: ProviderServices, ctx: ProviderContext): Promise<Verdict> {
  const { session, client } = ctx.oidc;
  const account = session?.accountId ? await accountObject(services, session.accountId) : undefined;
  if (!session || !account || !client) return { is: 'Permitted' };
  const memo = currentUnitOfWork()!.memo;
  const key = `signIn ${session.accountId} ${session.loginTs}`;
  if (!memo.has(key)) memo.set(key, judge(services, account, session, ctx));
  return memo.get(key) as Promise<Verdict>;
}

async function judge(
  services: ProviderServices,
  account: AccountObject,
  session: Session,
  { oidc }: ProviderContext,
): Promise<Verdict> {
  const name = sessionName(account.metadata.name, session.uid);
  const { clientId } = oidc.client!;
  const sharesIdentity = clientId !== accountPage && oidc.requestParamOIDCScopes.has('openid');
  const ask = async (by: SignedIn, record?: 'allowed' | 'never'): Promise<Decision> => {
    const signIn = await maySignIn(services, account, clientId, { session: name, ...by }, record);
    return signIn.allowed && sharesIdentity
      ? mayShare(services, account, clientId, 'openid', { session: name, ...by }, record)
      : signIn;
  };
  const by = await signedInBy(services, session);
  if ((await ask(by, 'allowed')).allowed) return { is: 'Permitted' };
  const stronger = await ask(
    {
      methods: ['Passkey'],
      assurance: claimsOf('Passkey').acr,
      authenticated: Math.floor(Date.now() / 1000),
    },
    'never',
  );
  return stronger.allowed ? { is: 'Stronger' } : { is: 'Refused', decision: await ask(by) };
}

/**
 * The library's prompts with our own checks added: a gone account, a sign-in too weak, a sign-in
 * refused (docs/design/provider.md#added-prompts).
 */
export function interactionPrompts(
  services: ProviderServices,
): ReturnType<typeof interactionPolicy.base> {
  const prompts = interactionPolicy.base();
  const login = prompts.get('login').checks;
  for (const check of loginChecks(services)) login.add(check);
  const consent = prompts.get('consent').checks;
  for (const check of consentChecks(services)) consent.add(check);
  return prompts;
}

/** What asks for a sign-in besides the library's own reasons. */
function loginChecks(services: ProviderServices): InstanceType<typeof Check>[] {
  return [
    new Check(
      'account_gone',
      'the account of this session is gone',
      'login_required',
      async (ctx) =>
        ctx.oidc.session?.accountId !== undefined &&
        (ctx.oidc.account === undefined || !(await counts(services, ctx.oidc.session))),
    ),
    new Check(
      'assurance_required',
      'a stronger sign-in is required',
      'login_required',
      async (ctx) => (await verdictOn(services, ctx)).is === 'Stronger',
    ),
    new Check(
      'acr_required',
      'a sign-in as strong as was asked for is required',
      'login_required',
      (ctx) => isWeakerThanAsked(ctx, services.settings),
    ),
    new Check(
      'device_reauthentication',
      'connecting a device needs a recent sign-in',
      'login_required',
      (ctx) => isStaleForDevice(services, ctx),
    ),
  ];
}

/** What asks for consent, or refuses it, besides the library's own reasons. */
function consentChecks(services: ProviderServices): InstanceType<typeof Check>[] {
  return [
    new Check(
      'loopback_redirect',
      'an app on the person’s own machine is asked for every time',
      'interaction_required',
      ({ oidc }) =>
        oidc.params?.response_type !== 'none' &&
        isOnLoopback(oidc.params?.redirect_uri) &&
        !oidc.result?.consent,
    ),
    new Check(
      'policy_refused',
      'the policy refuses this sign-in',
      'access_denied',
      async (ctx) => (await verdictOn(services, ctx)).is === 'Refused',
      (ctx) => refusalOf(services, ctx),
    ),
  ];
}

/**
 * Whether a device is about to be connected by a person whose last sign-in is older than what a
 * change of credentials needs (RFC 8628 §5.4).
 */
function isStaleForDevice({ settings }: ProviderServices, { oidc }: ProviderContext): boolean {
  const isDevice =
    oidc.entities.DeviceCode !== undefined || oidc.entities.Interaction?.deviceCode !== undefined;
  const { accountId, loginTs = 0 } = oidc.session ?? {};
  return (
    isDevice &&
    accountId !== undefined &&
    !oidc.result?.login &&
    Date.now() - loginTs * 1000 > settings.limits.recentSignIn
  );
}

/**
 * Whether a redirect leads to the person's own machine, where any program can take an app's place
 * (RFC 8252 §8.6).
 */
function isOnLoopback(redirect: unknown): boolean {
  if (typeof redirect !== 'string' || !URL.canParse(redirect)) return false;
  return isLoopback(new URL(redirect).hostname);
}

/**
 * Whether the sign-in of a session, which may have been on its way for a while, still counts at the
 * account.
 */
async function counts(services: ProviderServices, session: Session): Promise<boolean> {
  const account = await accountObject(services, session.accountId!);
  return (
    account !== undefined &&
    isSessionValid(
      account.internal.signedOut,
      sessionName(account.metadata.name, session.uid),
      session.loginTs ?? 0,
    )
  );
}

async function refusalOf(
  services: ProviderServices,
  ctx: ProviderContext,
): Promise<Record<string, unknown>> {
  const verdict = await verdictOn(services, ctx);
  if (verdict.is !== 'Refused') return {};
  const { name } = verdict.decision;
  return {
    refusal: { message: refusalMessage(verdict.decision), ...(name && { policyDecision: name }) },
  };
}
