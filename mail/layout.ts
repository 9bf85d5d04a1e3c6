import type { Translator } from '../i18n/translator.js';
import { escapeHTML } from '../security/escape-html.js';
import type { Message } from './message.js';

/** One block of a mail. */
export type Block =
  | { readonly text: string }
  /** The small print at the end: when to ignore the mail, and whom to contact. */
  | { readonly footer: string }
  | { readonly code: string }
  | { readonly link: string; readonly label: string };

/** The subject and the blocks of a mail, before they are laid out. */
export interface MailContent {
  readonly subject: string;
  readonly blocks: readonly Block[];
}

/** How mails of a deployment look. */
export interface MailAppearance {
  /** Its name, which is written before its host. */
  readonly displayName?: string | undefined;
  /** The colour of buttons, in the form #rrggbb; white text on it must be readable. */
  readonly accentColor?: string | undefined;
}

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Splits a code into two groups, which are easier to read. */
function groupsOf(code: string): [string, string] {
  const half = Math.ceil(code.length / 2);
  return [code.slice(0, half), code.slice(half)];
}

function blockHTML(block: Block, { accentColor = '#2b4fd8' }: MailAppearance): string {
  if ('code' in block)
    return `<p dir="ltr" style="${font};font-size:34px;line-height:44px;font-weight:600;letter-spacing:6px;margin:0 0 24px;color:#14161c">${groupsOf(
      block.code,
    )
      .map((group) => `<span style="margin-right:10px">${escapeHTML(group)}</span>`)
      .join('')}</p>`;
  if ('link' in block) {
    const href = escapeHTML(block.link);
    return (
      `<p style="margin:0 0 12px"><a href="${href}" style="${font};display:inline-block;padding:12px 20px;border-radius:8px;background:${accentColor};color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${escapeHTML(block.label)}</a></p>` +
      `<p style="${font};font-size:13px;line-height:20px;margin:0 0 24px;color:#5a6072;word-break:break-all">${href}</p>`
    );
  }
  const [text, style] =
    'footer' in block
      ? [block.footer, '13px;line-height:20px;color:#5a6072']
      : [block.text, '16px;line-height:24px;color:#14161c'];
  return `<p style="${font};font-size:${style};margin:0 0 16px">${escapeHTML(text)}</p>`;
}

function blockText(block: Block): string {
  if ('code' in block) return groupsOf(block.code).join(' ');
  if ('link' in block) return `${block.label}:\n${block.link}`;
  return 'footer' in block ? block.footer : block.text;
}

/**
 * Returns a mail in the translator's language, as text and as HTML: a table of 600 px, inline
 * styles, nothing remote (docs/design/ui.md#mails).
 *
 * @example
 * ```ts
 * function newBrowserMail(translator: Translator, host: string, account: string): MailContent {
 *   const blocks: Block[] = [
 *     { text: translator.text('mail.newBrowser.notYou') },
 *     { link: account, label: translator.text('mail.newBrowser.open') },
 *   ];
 *   return { subject: translator.text('mail.newBrowser.subject', { host }), blocks };
 * }
 * ```
 */
export function layout(
  { language, direction }: Translator,
  { subject, blocks }: MailContent,
  appearance: MailAppearance,
): Message {
  const body = blocks.map((block) => blockHTML(block, appearance)).join('');
  return {
    subject,
    text: `${blocks.map(blockText).join('\n\n')}\n`,
    html:
      `<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${escapeHTML(subject)}</title></head>` +
      `<body style="margin:0;padding:0;background:#f4f5f8"><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:32px 16px">` +
      `<table role="presentation" width="600" cellpadding="0" cellspacing="0" style="max-width:600px;width:100%;background:#ffffff;border-radius:12px"><tr><td style="padding:32px">${body}</td></tr></table></td></tr></table></body></html>`,
  };
}
