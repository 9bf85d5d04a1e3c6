import { useEffect, useRef } from 'preact/hooks';
import { palettesOf } from '../../../kinds/appearance/palette.js';
import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import type { Texts } from '../edits/use-faults.js';

/** The accent colour of pages without one of their own. */
const usualAccent = '#3d3fb8';

/** Returns whether a text is a colour in the form #rrggbb. */
export const isColor = (text = ''): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** A logo that is served, or one that was just chosen: it is drawn, since images load from here only. */
export function Logo({ value, size }: { value: string; size: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (!canvas.current) return;
    const bytes = Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0));
    void createImageBitmap(new Blob([bytes])).then(
      (image) => {
        const target = canvas.current;
        if (!target) return;
        const scale = (2 * size) / Math.max(image.width, image.height);
        [target.width, target.height] = [image.width * scale, image.height * scale];
        target.getContext('2d')!.drawImage(image, 0, 0, target.width, target.height);
      },
      () => undefined, // the service says that it is no image
    );
  }, [value]);
  if (value.startsWith('/')) return <img src={value} alt="" style={{ blockSize: `${size}px` }} />;
  return <canvas ref={canvas} style={{ blockSize: `${size}px` }} />;
}

interface Props {
  spec: Texts;
  scheme: 'light' | 'dark';
}

/** The sign-in page on light or dark, with a look that may not be saved yet. */
export function SignInPreview({ spec, scheme }: Props) {
  const {
    displayName = '',
    logo,
    accentColor,
    supportURI,
    privacyPolicyURI,
    termsOfServiceURI,
  } = spec;
  const palette = palettesOf(isColor(accentColor) ? accentColor! : usualAccent)[scheme];
  const links = [
    supportURI && t('help'),
    privacyPolicyURI && t('privacy'),
    termsOfServiceURI && t('terms'),
  ].filter(Boolean);
  const main = { background: palette.accent, color: palette['accent-ink'] };
  return (
    <div class={`look ${scheme}`} role="img" aria-label={t(`appearance.${scheme}`)}>
      <div class="look-card" aria-hidden="true">
        <p class="look-brand">
          {logo && <Logo value={logo} size={24} />}
          <bdi>{displayName || location.host}</bdi>
        </p>
        <p class="look-title">{t('email.title', { client: 'Example' })}</p>
        <p>{t('email.label')}</p>
        <span class="look-field" />
        <span class="look-button" style={main}>
          {t('email.go')}
        </span>
        <span class="look-button outlined">
          <Icon of="fingerprint-pattern" /> {t('email.passkey')}
        </span>
        <p class="look-links" style={{ color: palette.accent }}>
          {links.join(' · ')}
        </p>
      </div>
    </div>
  );
}
