import {
  interactionPolicy,
  type OIDCContext,
  type ProviderContext,
  type Session,
} from 'oidc-provider';
import { isDocumentURL } from '../../kinds/apps/client/document-url.js';
import { isSessionValid, isSignInValid } from '../../kinds/people/account/end-sessions.js';
import type { SignInFacts } from '../../kinds/people/account/policy-facts.js';
import { authenticationClaims, phishingResistant } from '../../kinds/people/session/acr.js';
import { type Method, Session as ProjectedSession } from '../../kinds/people/session/session.js';
import { refusalMessage, refusalTexts } from '../../registry/authorizer.js';
import type { Decision } from '../../registry/kind.js';
import { isLoopback } from '../../security/loopback.js';
import { accountObject } from '../adapter/accounts.js';
import { accountPageClient } from '../adapter/built-in-clients.js';
import { completedLogin, loginTime } from '../adapter/session-projection.js';
import { isWeakerThanDemanded } from '../context/acr.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import { withProviderErrors } from '../context/errors.js';
import { StateKey } from '../context/request-state.js';
import { sessionName } from '../context/session-name.js';
import { decideShare, decideSignIn, type Recording } from './policy.js';

const { Check, Prompt } = interactionPolicy;

/**
 * The policy's verdict on a live session's sign-in to a Client and, if requested, on sharing
 * `openid`: permitted, permitted after a new sign-in by any method or by a passkey, or refused.
 */
type Verdict =
  | { readonly is: 'Permitted' | 'Again' | 'Stronger' }
  | { readonly is: 'Refused'; readonly decision: Decision };

/**
 * Returns the facts of a session's sign-in. The method comes from this unit of work if it completes
 * the sign-in, else from the Session object, else it is inferred from the acr.
 */
export async function signInOfSession(
  services: ProviderServices,
  session: Session,
): Promise<SignInFacts> {
  const methods = [
    requestState().get(completedLogin) ??
      (session.acr === phishingResistant ? 'Passkey' : 'EmailCode'),
  ];
  const facts = { methods, assurance: session.acr ?? '', authenticated: session.loginTs ?? 0 };
  const { accountId, uid, loginTs } = session;
  if (accountId === undefined || requestState().has(completedLogin)) return facts;
  const projected = await withProviderErrors(
    services.store.reader(ProjectedSession).cached(sessionName(accountId, uid)),
  );
  return projected && projected.internal.loginSeconds === loginTs
    ? { ...facts, methods: projected.status.methods }
    : facts;
}

/** Verdicts of this request, by account and time of the sign-in. */
const verdicts = new StateKey<Map<string, Promise<Verdict>>>();

async function verdictOf(services: ProviderServices, { oidc }: ProviderContext): Promise<Verdict> {
  const { session, client } = oidc;
  const account = session?.accountId ? await accountObject(services, session.accountId) : undefined;
  if (!session || !account || !client) return { is: 'Permitted' };
  const known = requestState().mapOf(verdicts);
  const key = `${session.accountId} ${session.loginTs}`;
  const verdict =
    known.get(key) ?? decideVerdict(services, account, client.clientId, { session, oidc });
  known.set(key, verdict);
  return verdict;
}

async function decideVerdict(
  services: ProviderServices,
  account: AccountObject,
  clientId: string,
  { session, oidc }: { readonly session: Session; readonly oidc: OIDCContext },
): Promise<Verdict> {
  const name = sessionName(account.metadata.name, session.uid);
  const sharesIdentity =
    clientId !== accountPageClient && oidc.requestParamOIDCScopes.has('openid');
  const decide = async (by: SignInFacts, recording?: Recording): Promise<Decision> => {
    const signIn = await decideSignIn(
      services,
      account,
      clientId,
      { session: name, ...by },
      recording,
    );
    return signIn.allowed && sharesIdentity
      ? decideShare(services, account, clientId, 'openid', { session: name, ...by }, recording)
      : signIn;
  };
  const by = await signInOfSession(services, session);
  if ((await decide(by, 'permission')).allowed) return { is: 'Permitted' };
  const isPermittedBy = async (method: Method): Promise<boolean> =>
    (await decide(signedInBy(method), 'nothing')).allowed;
  // who signed in just now would only be asked for the same again
  if (!oidc.result?.login && (await isPermittedBy('EmailCode'))) return { is: 'Again' };
  if (await isPermittedBy('Passkey')) return { is: 'Stronger' };
  return { is: 'Refused', decision: await decide(by) };
}

/** Returns the facts of a sign-in that is made now. */
const signedInBy = (method: Method): SignInFacts => ({
  methods: [method],
  assurance: authenticationClaims(method).acr,
  authenticated: Math.floor(Date.now() / 1000),
});

/**
 * Returns oidc-provider's prompts with added checks: a deleted account, a sign-in too weak, a
 * refused sign-in (docs/design/provider.md#added-prompts).
 */
export function interactionPrompts(
  services: ProviderServices,
): ReturnType<typeof interactionPolicy.base> {
  const prompts = interactionPolicy.base();
  prompts.add(accountSelection(), 0);
  const login = prompts.get('login').checks;
  for (const check of loginChecks(services)) login.add(check);
  const consent = prompts.get('consent').checks;
  for (const check of consentChecks(services)) consent.add(check);
  return prompts;
}

/**
 * Returns the prompt `select_account` (OpenID Connect Core §3.1.2.1): the person sees whose session it is,
 * and goes on with it or signs in as another. Who must sign in anyway chooses there.
 */
function accountSelection(): InstanceType<typeof Prompt> {
  const name = 'select_account';
  const prompt = new Prompt(
    { name, requestable: true },
    new Check(
      'account_selection',
      'an account must be chosen',
      'account_selection_required',
      ({ oidc }) => {
        const requested = String(oidc.params?.prompt ?? '').split(' ');
        return (
          oidc.route === 'authorization' && // not on the way back, whichever account was chosen
          requested.includes(name) &&
          !requested.includes('login') &&
          oidc.session?.accountId !== undefined
        );
      },
    ),
  );
  prompt.checks.remove(`${name}_prompt`); // It would ask again after "go on".
  return prompt;
}

/** Returns the checks that require a sign-in, in addition to oidc-provider's own. */
function loginChecks(services: ProviderServices): InstanceType<typeof Check>[] {
  return [
    new Check(
      'account_gone',
      'the account or the session has ended',
      'login_required',
      async (ctx) =>
        ctx.oidc.session?.accountId !== undefined &&
        (ctx.oidc.account === undefined || !(await isInForce(services, ctx))),
    ),
    new Check(
      'assurance_required',
      'a stronger sign-in is required',
      'login_required',
      async (ctx) => (await verdictOf(services, ctx)).is === 'Stronger',
    ),
    new Check(
      'recent_required',
      'a new sign-in is required',
      'login_required',
      async (ctx) => (await verdictOf(services, ctx)).is === 'Again',
    ),
    new Check(
      'acr_required',
      'a sign-in that satisfies the requested acr is required',
      'login_required',
      (ctx) => isWeakerThanDemanded(ctx, services.settings),
    ),
    new Check(
      'device_reauthentication',
      'connecting a device needs a recent sign-in',
      'login_required',
      (ctx) => isStaleForDevice(services, ctx),
    ),
  ];
}

/** Returns the checks that require or refuse consent, in addition to oidc-provider's own. */
function consentChecks(services: ProviderServices): InstanceType<typeof Check>[] {
  return [
    new Check(
      'loopback_redirect',
      'a public app with a loopback redirect needs consent every time',
      'interaction_required',
      ({ oidc }) =>
        oidc.params?.response_type !== 'none' &&
        oidc.client?.clientAuthMethod === 'none' && // Others prove who they are with the code.
        isOnLoopback(oidc.params?.redirect_uri) &&
        !oidc.result?.consent,
    ),
    new Check(
      'metadata_document',
      'an app that describes itself needs consent every time',
      'interaction_required',
      ({ oidc }) => isDocumentURL(oidc.client?.clientId ?? '') && !oidc.result?.consent,
    ),
    new Check(
      'policy_refused',
      'the policy refuses this sign-in',
      'access_denied',
      async (ctx) => (await verdictOf(services, ctx)).is === 'Refused',
      (ctx) => refusalOf(services, ctx),
    ),
  ];
}

/**
 * Returns true if a device is being connected with a sign-in older than `limits.recentSignIn` (RFC
 * 8628 §5.4).
 */
function isStaleForDevice(
  { settings }: Pick<ProviderServices, 'settings'>,
  { oidc }: ProviderContext,
): boolean {
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
 * Returns true if a redirect leads to loopback, where any local program can impersonate an app (RFC
 * 8252 §8.6).
 */
function isOnLoopback(redirect: unknown): boolean {
  if (typeof redirect !== 'string' || !URL.canParse(redirect)) return false;
  return isLoopback(new URL(redirect).hostname);
}

/** Returns true if the account has not revoked the session's sign-in since it began. */
async function isInForce(services: ProviderServices, { oidc }: ProviderContext): Promise<boolean> {
  const { uid, accountId, loginTs = 0 } = oidc.session ?? {};
  const account = accountId && (await accountObject(services, accountId));
  if (!account || uid === undefined) return false;
  const milliseconds = requestState().get(loginTime);
  return oidc.result?.login
    ? isSignInValid(account, { seconds: loginTs, milliseconds })
    : isSessionValid(account, sessionName(account.metadata.name, uid), loginTs);
}

async function refusalOf(
  services: ProviderServices,
  ctx: ProviderContext,
): Promise<Record<string, unknown>> {
  const verdict = await verdictOf(services, ctx);
  if (verdict.is !== 'Refused') return {};
  const { name } = verdict.decision;
  const messages = refusalTexts(verdict.decision);
  return {
    refusal: {
      message: refusalMessage(verdict.decision),
      ...(messages && { messages }),
      ...(name && { policyDecision: name }),
    },
  };
}
