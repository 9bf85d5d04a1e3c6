import { locale } from './i18n.js';

/** A day and a time of day, in the reader's own time zone. */
export const formatDateTime = (timestamp: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(timestamp),
  );

/** The same for the page, with the exact timestamp for programs. */
export const Timestamp = ({ of: value }: { of: string }) => (
  <time dateTime={value}>{formatDateTime(value)}</time>
);
