import { useEffect } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import type { SignInStore } from '../store/sign-in-store.js';

/** Milliseconds after which a tab without input goes on by itself. */
const goOnMs = 2_000;

/** Shown when the person has signed in in another tab: this sign-in can go on with that session. */
export function ContinueView({ store }: { store: SignInStore }) {
  const { email, isUnused } = store.signedIn!;
  useEffect(() => {
    if (!isUnused) return undefined;
    const timer = setTimeout(() => store.resume(), goOnMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <View
      title="continue.title"
      values={{ email }}
      heading={format('continue.title', { email: <Ltr of={email} /> })}
      phase="LoginRequired"
    >
      {store.interaction!.spec.prompt !== 'SelectAccount' && (
        <p class="lead">
          {t('continue.what')} {isUnused && t('continue.going')}
        </p>
      )}
      <div class="pair">
        <Button variant="main" onPress={() => store.resume()}>
          {t('leaving.go')}
        </Button>
        <Button onPress={() => store.stay()}>{t('continue.other')}</Button>
      </div>
    </View>
  );
}
