import type { ComponentChild } from 'preact';
import type { MessageID } from '../../messages/catalog.js';
import { locale, messageText } from './i18n.js';
import { foreignLanguage } from './local-text.js';

/** The arguments of a message: text, numbers or, on a page, elements. */
type Values = Readonly<Record<string, ComponentChild>>;

const pattern = /\{(\w+)(?:, plural,((?: \w+ \{[^{}]*\}){1,9}))?\}/g;

/** Shortens text written by someone else to at most `max` characters. */
export function truncate(words: string, max = 120): string {
  const letters = [...words];
  return letters.length > max ? `${letters.slice(0, max - 1).join('')}…` : words;
}

function plural(forms: string, count: number): string {
  const form = (name: string): string | undefined =>
    new RegExp(` ${name} \\{([^{}]*)\\}`).exec(forms)?.[1];
  const chosen = form(new Intl.PluralRules(locale()).select(count)) ?? form('other') ?? '';
  return chosen.replace('#', new Intl.NumberFormat(locale()).format(count));
}

function formatParts(
  id: MessageID,
  values: Values,
  render: (value: ComponentChild) => ComponentChild,
): ComponentChild[] {
  const words = messageText(id);
  const children: ComponentChild[] = [];
  let last = 0;
  for (const { 0: whole, 1: name = '', 2: forms, index } of words.matchAll(pattern)) {
    children.push(
      words.slice(last, index),
      forms ? plural(forms, Number(values[name])) : render(values[name]),
    );
    last = index + whole.length;
  }
  return [...children, words.slice(last)];
}

/** Returns a message as plain text, for titles, announcements and attributes. */
export const t = (id: MessageID, values: Values = {}): string =>
  formatParts(id, values, (value) => truncate(String(value))).join('');

/**
 * Returns a message for the page. Each value is in its own element, so that its text direction
 * cannot change the sentence around it.
 */
export const format = (id: MessageID, values: Values = {}): ComponentChild =>
  formatParts(id, values, (value) => (typeof value === 'string' ? <Text of={value} /> : value));

/** A text written by someone else, with its language if that is not the page's. */
export const Text = ({ of: text, max }: { of: string; max?: number }) => (
  <bdi lang={foreignLanguage(text)}>{truncate(text, max)}</bdi>
);

/** An address or a code, left-to-right in every language. */
export const Ltr = ({ of: text, strong }: { of: string; strong?: boolean }) => (
  <bdi dir="ltr" class={strong ? 'strong' : undefined}>
    {truncate(text, 320)}
  </bdi>
);

/** Returns a time of day. */
export const clockTime = (timestamp: string): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(new Date(timestamp));

/** Returns a duration from now, such as "in 2 minutes", rounded up and at least a second. */
export function relativeTime(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  const format = new Intl.RelativeTimeFormat(locale());
  if (seconds < 100) return format.format(seconds, 'second');
  return seconds < 5400
    ? format.format(Math.ceil(seconds / 60), 'minute')
    : format.format(Math.ceil(seconds / 3600), 'hour');
}
