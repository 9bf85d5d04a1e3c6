import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Icon } from '../../base/frame/icon.js';
import { errorText, Reference } from '../../base/error-page.js';
import { announce } from '../../base/live-region.js';
import { locale } from '../../base/text/i18n.js';
import { Text, t } from '../../base/text/message.js';
import { refusalText } from '../../base/refusal-text.js';
import { now } from '../../base/api/clock.js';
import { formatDateTime } from '../../base/text/timestamp.js';
import { acceptsPasskeyOnly, signIn } from '../../base/passkeys/sign-in.js';
import { currentStep, navigate } from './route.js';

/** Text of the API: names and descriptions, which are in English in every language of the page. */
export const English = ({ children }: { children: ComponentChildren }) => (
  <bdi lang="en" dir="ltr">
    {children}
  </bdi>
);

/** A link to another part of the console, which does not load the page again. */
export function A({
  to,
  current,
  look,
  label,
  children,
}: {
  to: string;
  current?: boolean;
  look?: string;
  /** The name for screen readers, if an icon is all that is shown. */
  label?: string;
  children: ComponentChildren;
}) {
  return (
    <a
      href={to}
      class={look}
      aria-label={label}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
          return;
        }
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}

/**
 * The error of a request: of a refusal the message of the rule, of an invalid one the server's. After
 * a refused change a newer sign-in may help, which leads back here.
 */
export function Failure({
  failure,
  retry,
  isChange,
}: {
  failure: ApiError;
  retry?: (() => void) | undefined;
  isChange?: boolean;
}) {
  const isRefused = failure.code === 403;
  const isExplained = isRefused || [400, 404, 409, 422].includes(failure.code);
  const words = isExplained
    ? t(isRefused ? 'console.refused' : 'console.invalid')
    : errorText(failure);
  const message = isRefused ? refusalText(failure) : failure.message;
  useEffect(() => announce(isExplained ? `${words} ${message}` : words), [failure]);
  return (
    <div class="notice bad">
      <p>{words}</p>
      {isExplained && (
        <p>{isRefused ? <Text of={message} max={500} /> : <English>{message}</English>}</p>
      )}
      <Reference failure={failure} />
      {retry && (
        <Button variant="small" onPress={retry}>
          {t('retry')}
        </Button>
      )}
      {isRefused && isChange && (
        <Button
          variant="small"
          onPress={() =>
            signIn({
              step: currentStep(),
              prompt: true,
              passkeyOnly: acceptsPasskeyOnly(failure),
            })
          }
        >
          {t('console.again')}
        </Button>
      )}
    </div>
  );
}

/** A button that copies a text, with an icon alone; it says when it has. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [text]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce(t('console.copied'));
  };
  const words = copied ? t('console.copied') : t('console.copy');
  return (
    <button
      type="button"
      class="button small icon-only quiet-button"
      aria-label={label ? `${words}: ${label}` : words}
      title={words}
      onClick={() => void copy()}
    >
      <Icon of={copied ? 'check' : 'copy'} />
    </button>
  );
}

/** Text of a program, with a button at its end that copies it. */
export const Code = ({ text, label }: { text: string; label: string }) => (
  <div class="code-block">
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll */}
    <pre tabIndex={0} role="region" aria-label={label} dir="ltr">
      {text}
    </pre>
    <CopyButton text={text} />
  </div>
);

/** The command that does the same. */
export const Kubectl = ({ command }: { command: string }) => (
  <details class="kubectl">
    <summary>{t('console.kubectl')}</summary>
    <Code text={command} label={t('console.kubectl')} />
  </details>
);

const units = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3600],
  ['day', 86_400],
  ['year', 31_536_000],
] as const;

function ageOf(timestamp: string): string {
  const seconds = Math.max(0, (now() - Date.parse(timestamp)) / 1000);
  const [unit, length] = units.findLast(([, least]) => seconds >= 2 * least) ?? units[0];
  const format = new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'narrow' });
  return format.format(Math.floor(seconds / length));
}

/** How long ago something was created, and when. */
export const Age = ({ of: timestamp }: { of: string }) => (
  <time dateTime={timestamp} title={formatDateTime(timestamp)}>
    {ageOf(timestamp)}
  </time>
);

/** Returns the time of a timestamp of today, otherwise its day; with the year if it is another one. */
function dayOf(timestamp: string): string {
  const [date, today] = [new Date(timestamp), new Date(now())];
  if (date.toDateString() === today.toDateString()) {
    return new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(date);
  }
  const year = date.getFullYear() === today.getFullYear() ? {} : ({ year: 'numeric' } as const);
  return new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', ...year }).format(
    date,
  );
}

/** When something was: the time today, otherwise the day. */
export const Day = ({ of: timestamp }: { of: string }) => (
  <time dateTime={timestamp} title={formatDateTime(timestamp)}>
    {dayOf(timestamp)}
  </time>
);

/** What the fields to search in have in common. */
export const searchField = {
  id: 'find',
  type: 'search',
  autoComplete: 'off',
  autoCapitalize: 'none',
  spellcheck: false,
} as const;

interface TableProps {
  label: string;
  columns: readonly string[];
  /** The description of each column. */
  descriptions?: readonly string[];
  role?: 'region' | 'group';
  /** Long words of its cells may be broken. */
  wraps?: boolean;
  lang?: string;
  /** The rows. */
  children: ComponentChildren;
}

/** A table, which may be wider than the page. */
export const Table = ({
  label,
  columns,
  descriptions,
  role = 'region',
  wraps,
  lang,
  children,
}: TableProps) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
  <div
    class={wraps ? 'table wraps' : 'table'}
    role={role}
    tabIndex={0}
    aria-label={label}
    lang={lang}
  >
    <table>
      <thead>
        <tr>
          {columns.map((column, i) => (
            <th scope="col" title={descriptions?.[i]}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

/** A part of a view with its heading. */
export const Part = ({
  id,
  title,
  children,
}: {
  id: string;
  title: string;
  children: ComponentChildren;
}) => (
  <section class="panel" aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** Says that something is loading. */
export const Loading = () => (
  <p class="hint" aria-busy="true">
    {t('working')}
  </p>
);
