import type { Translator } from '../i18n/translator.js';
import { escapeHTML } from '../security/escape-html.js';
import { logoID, type Message } from './message.js';

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
  /** Where people get help. */
  readonly supportURI?: string | undefined;
  /** The colour of buttons, in the form #rrggbb; white text on it must be readable. */
  readonly accentColor?: string | undefined;
  /** Its logo, a PNG; one of more than {@link maxLogoBytes} is left out. */
  readonly logoFile?: Buffer | undefined;
}

/** The largest logo that each mail carries, in bytes. */
const maxLogoBytes = 64 << 10;

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** The accent colour of pages without an Appearance. */
const defaultAccent = '#3d3fb8';

/**
 * The colours of dark pages. Clients that drop style elements show the light ones, which are
 * inline.
 */
const darkStyle =
  '@media (prefers-color-scheme:dark){' +
  '.page{background:#121116!important}.card{background:#1b1a21!important}' +
  '.ink{color:#f2f0f7!important}.soft{color:#b4b1bf!important}}';

/** Splits a code into two groups, which are easier to read. */
function groupsOf(code: string): [string, string] {
  const half = Math.ceil(code.length / 2);
  return [code.slice(0, half), code.slice(half)];
}

function blockHTML(block: Block, { accentColor = defaultAccent }: MailAppearance): string {
  if ('code' in block) {
    return `<p class="ink" dir="ltr" style="${font};font-size:34px;line-height:44px;font-weight:600;letter-spacing:6px;margin:0 0 24px;color:#1c1b22">${groupsOf(
      block.code,
    )
      .map((group) => `<span style="margin-right:10px">${escapeHTML(group)}</span>`)
      .join('')}</p>`;
  }
  if ('link' in block) {
    const href = escapeHTML(block.link);
    return (
      `<p style="margin:0 0 12px"><a href="${href}" style="${font};display:inline-block;padding:12px 20px;border-radius:8px;background:${accentColor};color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${escapeHTML(block.label)}</a></p>` +
      `<p class="soft" style="${font};font-size:13px;line-height:20px;margin:0 0 24px;color:#5a5864;word-break:break-all">${href}</p>`
    );
  }
  return 'footer' in block
    ? paragraph('soft', '13px;line-height:20px;color:#5a5864', block.footer)
    : paragraph('ink', '16px;line-height:24px;color:#1c1b22', block.text);
}

const paragraph = (color: 'ink' | 'soft', style: string, text: string): string =>
  `<p class="${color}" style="${font};font-size:${style};margin:0 0 16px">${escapeHTML(text)}</p>`;

function blockText(block: Block): string {
  if ('code' in block) return groupsOf(block.code).join(' ');
  if ('link' in block) return `${block.label}:\n${block.link}`;
  return 'footer' in block ? block.footer : block.text;
}

/**
 * Returns a mail in the translator's language, as text and as HTML: a heading and a table of 600 px
 * in the colours of the pages, nothing remote (docs/design/ui.md#mails).
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
  const heading =
    `<h1 class="ink" style="${font};font-size:20px;line-height:28px;font-weight:600;margin:0 0 16px;color:#1c1b22">` +
    `${escapeHTML(subject)}</h1>`;
  const { logoFile } = appearance;
  const logo = logoFile && logoFile.length <= maxLogoBytes ? logoFile : undefined;
  const image = logo
    ? `<p style="margin:0 0 24px"><img src="cid:${logoID}" alt="" height="40" style="display:block;height:40px;max-width:240px;object-fit:contain"></p>`
    : '';
  const body = image + heading + blocks.map((block) => blockHTML(block, appearance)).join('');
  return {
    subject,
    ...(logo && { logo }),
    text: `${blocks.map(blockText).join('\n\n')}\n`,
    html:
      `<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHTML(subject)}</title><style>${darkStyle}</style></head>` +
      `<body class="page" style="margin:0;padding:0;background:#f6f5f2"><table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f5f2"><tr><td align="center" style="padding:32px 16px">` +
      `<table class="card" role="presentation" width="600" cellpadding="0" cellspacing="0" style="max-width:600px;width:100%;background:#ffffff;border-radius:12px"><tr><td style="padding:32px"><main>${body}</main></td></tr></table></td></tr></table></body></html>`,
  };
}
