import { useState } from 'preact/hooks';
import type { Account } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call, ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { t } from '../../base/text/message.js';
import { Status } from '../../base/status.js';
import { ActionError, useAction } from '../base/use-action.js';
import { choicesOf } from './choices.js';
import { useAccountContext } from '../base/account-context.js';
import { Section } from '../base/section.js';

type Claim = keyof Account['spec'];
type Typed = Partial<Record<Claim, string>>;

const firstClaims: readonly Claim[] = ['displayName', 'nickname', 'locale', 'timeZone'];
const moreClaims: readonly Claim[] = [
  'givenName',
  'middleName',
  'familyName',
  'preferredUsername',
  'profileURI',
  'pictureURI',
  'websiteURI',
  'gender',
  'birthdate',
];
const claims: readonly Claim[] = [...firstClaims, ...moreClaims];
const claimsWithHint = new Set<Claim>(['pictureURI', 'birthdate']);
const leftToRight = new Set<Claim>(['profileURI', 'pictureURI', 'websiteURI', 'birthdate']);
const autocompleteTokens: Partial<Record<Claim, string>> = {
  displayName: 'name',
  givenName: 'given-name',
  middleName: 'additional-name',
  familyName: 'family-name',
  nickname: 'nickname',
  pictureURI: 'photo',
  websiteURI: 'url',
  locale: 'language',
  birthdate: 'bday',
  gender: 'sex',
};

/** Returns the merge patch for the typed values; null removes a claim (RFC 7396). */
function changes({ spec }: Account, typed: Typed): Partial<Record<Claim, string | null>> {
  const entries = Object.entries(typed).map(
    ([claim, text]) => [claim as Claim, text.trim()] as const,
  );
  return Object.fromEntries(
    entries
      .filter(([claim, text]) => text !== (spec[claim] ?? ''))
      .map(([claim, text]) => [claim, text || null]),
  );
}

const hasSameSpec = (a: Account, b: Account): boolean =>
  JSON.stringify(a.spec) === JSON.stringify(b.spec);

/**
 * Saves the changes unless the profile was changed elsewhere since it was shown. In that case it
 * returns the current profile and saves nothing.
 */
async function save(shown: Account, typed: Typed): Promise<{ account: Account; saved: boolean }> {
  const send = ({ metadata }: Account): Promise<Account> =>
    call<Account>('PATCH', 'accounts/~', {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: changes(shown, typed),
    });
  try {
    return { account: await send(shown), saved: true };
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== 409) throw thrown;
    const now = await call<Account>('GET', 'accounts/~');
    return hasSameSpec(shown, now)
      ? { account: await send(now), saved: true }
      : { account: now, saved: false };
  }
}

const explain = ({ code }: ApiError): string | undefined =>
  code === 422 ? t('profile.invalid') : undefined;

/** Returns the claims that a 422 names. */
const wrongIn = (failure: ApiError | undefined): readonly Claim[] =>
  failure?.code === 422 ? claims.filter((claim) => failure.hasCause(`spec.${claim}`)) : [];

interface ClaimFieldProps {
  claim: Claim;
  account: Account;
  typed: Typed;
  isChanged: boolean;
  wrong: boolean;
  first: boolean;
  type: (claim: Claim, text: string) => void;
}

function ClaimField({ claim, account, typed, isChanged, wrong, first, type }: ClaimFieldProps) {
  return (
    <Field
      id={`profile-${claim}`}
      name={claim}
      label={
        <>
          {t(`profile.${claim}`)}
          {isChanged && (
            <span class="changed" aria-hidden="true">
              {t('profile.changed')}
            </span>
          )}
        </>
      }
      dir={leftToRight.has(claim) ? 'ltr' : 'auto'}
      spellcheck={false}
      autoComplete={autocompleteTokens[claim] ?? 'off'}
      hint={claimsWithHint.has(claim) && t(`profile.${claim}.hint` as 'profile.birthdate.hint')}
      keepFocus={!first}
      choices={choicesOf(claim, account.spec[claim])}
      value={typed[claim] ?? account.spec[claim] ?? ''}
      error={wrong ? t('profile.invalid') : undefined}
      onText={(text) => type(claim, text)}
    />
  );
}

interface FootProps {
  isChanged: boolean;
  busy: boolean;
  discard: () => void;
}

/** Saves the profile; marked while something is changed, and then with the way back. */
const Foot = ({ isChanged, busy, discard }: FootProps) => (
  <div class="foot">
    <Button submit variant={isChanged ? 'main' : undefined} busy={busy} progress="saving">
      {t('save.profile')}
    </Button>
    {isChanged && (
      <>
        <Button variant="plain" onPress={discard}>
          {t('profile.discard')}
        </Button>
        <span class="hint">{t('profile.unsaved')}</span>
      </>
    )}
  </div>
);

/** What was typed, what of it is a change, and how it is saved. */
function useProfile() {
  const { account, setAccount } = useAccountContext();
  const [typed, setTyped] = useState<Typed>({});
  const [conflict, setConflict] = useState(false);
  const { busy, failure, run, clear } = useAction(explain);
  const type = (claim: Claim, text: string): void => setTyped({ ...typed, [claim]: text });
  const changed = changes(account, typed);
  const isChanged = Object.keys(changed).length > 0;
  const submit = async (): Promise<void> => {
    if (!isChanged) {
      clear();
      setConflict(false);
      announce(t('profile.unchanged'));
      return;
    }
    await run(async () => {
      const { account: next, saved } = await save(account, typed);
      setAccount(next);
      setConflict(!saved);
      announce(t(saved ? 'profile.saved' : 'profile.conflict'));
      if (saved) setTyped({});
    });
  };
  const discard = (): void => {
    clear();
    setTyped({});
  };
  return { account, typed, type, changed, isChanged, conflict, busy, failure, submit, discard };
}

/** The profile that apps see if the person agrees to share it. */
export function Profile() {
  const { account, typed, type, changed, conflict, failure, ...form } = useProfile();
  const [unfolded, unfold] = useState(false);
  const wrong = wrongIn(failure);
  const fieldOf = (claim: Claim) => (
    <ClaimField
      key={claim}
      claim={claim}
      account={account}
      typed={typed}
      isChanged={claim in changed}
      wrong={wrong.includes(claim)}
      first={wrong[0] === claim}
      type={type}
    />
  );
  return (
    <Section id="profile" hint="profile.hint">
      <Form onSubmit={() => void form.submit()}>
        {conflict && <p class="notice warn">{t('profile.conflict')}</p>}
        {wrong.length > 1 && (
          <Status look="notice bad">{t('profile.faults', { count: wrong.length })}</Status>
        )}
        <div class="fields">{firstClaims.map(fieldOf)}</div>
        <details
          open={unfolded || wrong.some((claim) => moreClaims.includes(claim))}
          onToggle={(event) => unfold(event.currentTarget.open)}
        >
          <summary>{t('profile.more')}</summary>
          <div class="fields">{moreClaims.map(fieldOf)}</div>
        </details>
        <ActionError failure={wrong.length ? undefined : failure} />
        <Foot {...form} />
      </Form>
    </Section>
  );
}
