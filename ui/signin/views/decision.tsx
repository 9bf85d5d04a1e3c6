import { useEffect, useState } from 'preact/hooks';
import type { PolicyDecision } from '../../api.js';
import { call } from '../../base/api/api.js';
import { locale } from '../../base/text/i18n.js';
import { useLazy } from '../../base/api/lazy.js';
import { Link } from '../../base/link.js';
import { isAccountPage, nameOf } from '../../base/text/local-text.js';
import { Text, t, format } from '../../base/text/message.js';
import { changesText } from '../../decisions/alternative-list.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { refusalChunk } from '../store/lazy-refusal.js';
import type { RefusalFact } from '../store/refusal-facts.js';

/**
 * Shows the decision behind a refusal. A person without an account reads it through the
 * interaction, others through their session. If this browser may not read it, only its name is
 * shown. The interaction may still have the decision of an earlier refusal; that one is not shown.
 */
export function Decision({ store, name }: { store: SignInStore; name: string }) {
  const { loaded: here } = useLazy(refusalChunk);
  const [decision, set] = useState<PolicyDecision>();
  const {
    metadata,
    status: { client },
  } = store.interaction!;
  const path = store.blocked ? `interactions/${metadata.name}/decision` : `policydecisions/${name}`;
  useEffect(() => {
    call<PolicyDecision>('GET', path).then(
      (read) => {
        if (read.metadata.name === name) set(read);
      },
      () => undefined,
    );
  }, [path]);
  if (!here) return null;
  const app = isAccountPage(client) ? location.host : nameOf(client);
  const facts = decision ? here.factsOf(decision, app, locale()) : [];
  const alternatives = decision ? here.alternativesOf(decision, locale()) : [];
  return (
    <dl class="values">
      {facts.map(row)}
      {alternatives.length > 0 && (
        <div class="lines">
          <dt>{t('alternative.lead')}</dt>
          {alternatives.map((changes, i) => (
            <dd key={i}>{changesText(changes)}</dd>
          ))}
        </div>
      )}
      {row({ name: 'refused.decision', value: name })}
    </dl>
  );
}

function row({ name, id, value, to }: RefusalFact) {
  const words = id ? format(id, { value }) : <Text of={value} />;
  return (
    <div key={name + value}>
      <dt>{t(name)}</dt>
      <dd>
        {to ? (
          <Link to={to} tab>
            {words}
          </Link>
        ) : (
          words
        )}
      </dd>
    </div>
  );
}
