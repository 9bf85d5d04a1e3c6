import { t } from '../../base/text/message.js';
import { navigate, pathTo, useRoute } from '../base/route.js';
import { spanOf, spans } from '../base/hours.js';

/** Chooses the span that is shown; the address has it, so that a link can be shared. */
export function SpanSwitch() {
  const span = spanOf(useRoute().query);
  return (
    <div class="segments" role="group" aria-label={t('overview.span')}>
      {spans.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === span}
          onClick={() => navigate(one === spans[0] ? pathTo() : `${pathTo()}?span=${one}`, true)}
        >
          {t(`overview.span.${one}`)}
        </button>
      ))}
    </div>
  );
}
