import { useAppearance } from '../../base/api/appearance.js';
import { t } from '../../base/text/message.js';
import { inGroups } from '../../base/passkeys/code.js';

/** One mail in one language, as GET appearances/default/mails says it. */
export interface Sample {
  readonly mail: string;
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  readonly subject: string;
  readonly blocks: readonly {
    readonly text?: string;
    readonly code?: string;
    readonly link?: string;
    readonly label?: string;
    readonly footer?: string;
  }[];
}

/** A mail as people get it, drawn from its parts: markup from a request has no way into a page. */
export function MailSample({ sample }: { sample: Sample }) {
  const { logo, accentColor } = useAppearance();
  const { subject, blocks, language, direction } = sample;
  return (
    <article class="mail-sample" lang={language} dir={direction}>
      {logo && <img src={logo} alt="" height={40} />}
      <h3>{subject}</h3>
      {blocks.map(({ text, code, link, label, footer }, i) => (
        <div key={i}>
          {text && <p>{text}</p>}
          {code && (
            <p class="sample-code">
              <bdi dir="ltr">{inGroups(code, code.length)}</bdi>{' '}
              <span class="tag" lang="" dir="auto">
                {t('mail.sample')}
              </span>
            </p>
          )}
          {link && (
            <p>
              <span class="sample-button" style={{ backgroundColor: accentColor }}>
                {label}
              </span>
            </p>
          )}
          {footer && <p class="hint">{footer}</p>}
        </div>
      ))}
    </article>
  );
}
