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

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Splits a code into two groups, which are easier to read. */
function groupsOf(code: string): [string, string] {
  const half = Math.ceil(code.length / 2);
  return [code.slice(0, half), code.slice(half)];
}

function blockHTML(block: Block): string {
  if ('code' in block)
    return `<p dir="ltr" style="${font};font-size:34px;line-height:44px;font-weight:600;letter-spacing:6px;margin:0 0 24px;color:#14161c">${groupsOf(
      block.code,
    )
      .map((group) => `<span style="margin-right:10px">${escapeHTML(group)}</span>`)
      .join('')}</p>`;
  if ('link' in block) {
    const href = escapeHTML(block.link);
    return (
      `<p style="margin:0 0 12px"><a href="${href}" style="${font};display:inline-block;padding:12px 20px;border-radius:8px;background:#2b4fd8;color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${escapeHTML(block.label)}</a></p>` +
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
 * Returns a message of these blocks in the translator's language, as text and as HTML: a table of
 * 600 px, inline styles, nothing remote (docs/design/ui.md#mails).
 *
 * @example
 * ```ts
 * function newBrowserMail(translator: Translator, host: string, account: string): Message {
 *   const blocks: Block[] = [
 *     { text: translator.text('mail.newBrowser.notYou') },
 *     { link: account, label: translator.text('mail.newBrowser.open') },
 *   ];
 *   return createMessage(translator, translator.text('mail.newBrowser.subject', { host }), blocks);
 * }
 * ```
 */
export function createMessage(
  { language, direction }: Translator,
  subject: string,
  blocks: readonly Block[],
): Message {
  const body = blocks.map(blockHTML).join('');
  return {
    subject,
    text: `${blocks.map(blockText).join('\n\n')}\n`,
    html:
      `<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${escapeHTML(subject)}</title></head>` +
      `<body style="margin:0;padding:0;background:#f4f5f8"><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:32px 16px">` +
      `<table role="presentation" width="600" cellpadding="0" cellspacing="0" style="max-width:600px;width:100%;background:#ffffff;border-radius:12px"><tr><td style="padding:32px">${body}</td></tr></table></td></tr></table></body></html>`,
  };
}
