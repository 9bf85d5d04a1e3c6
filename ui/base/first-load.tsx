import type { MessageID } from '../messages/catalog.js';
import type { ApiError } from './api/api.js';
import { Button } from './button.js';
import { LoadErrorView } from './error-page.js';
import { t } from './text/message.js';

interface Props {
  /** What is shown while it loads. */
  loading: MessageID;
  failure: ApiError | undefined;
  retry: () => void;
}

/** Shown until the first call of a page has succeeded: that it is loading, or the error. */
export const FirstLoad = ({ loading, failure, retry }: Props) =>
  failure ? (
    <LoadErrorView failure={failure}>
      <Button variant="main" onPress={retry}>
        {t('retry')}
      </Button>
    </LoadErrorView>
  ) : (
    <h1 class="waiting" aria-busy="true">
      {t(loading)}
    </h1>
  );
