import { tag } from './i18n.js';

/** A day and a time of day, in the reader's own time zone. */
export const dayAndTime = (timestamp: string): string =>
  new Intl.DateTimeFormat(tag(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(timestamp),
  );

/** The same for the page, with the exact timestamp for programs. */
export const Moment = ({ of }: { of: string }) => <time dateTime={of}>{dayAndTime(of)}</time>;
