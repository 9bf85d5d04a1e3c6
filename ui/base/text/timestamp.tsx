import { locale } from './i18n.js';

/** Returns a date and a time of day in the reader's time zone. */
export const formatDateTime = (timestamp: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(timestamp),
  );

/** A date and time with the exact timestamp in a machine-readable attribute. */
export const Timestamp = ({ of: value }: { of: string }) => (
  <time dateTime={value}>{formatDateTime(value)}</time>
);
