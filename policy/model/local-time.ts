/** A moment by the clock of a time zone: milliseconds since midnight, and the day of the week. */
export interface LocalTime {
  readonly ms: number;
  readonly weekday: string;
}

/** The days as `localTime` names them. */
export const weekdays: readonly string[] = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the local time of `time` (ms since the epoch) in an IANA time zone. */
export function localTime({ time, timeZone }: { time: number; timeZone: string }): LocalTime {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  const number = (part: Intl.DateTimeFormatPartTypes): number => Number(parts.get(part));
  const seconds = (number('hour') * 60 + number('minute')) * 60 + number('second');
  const ms = ((time % 1000) + 1000) % 1000;
  return { ms: seconds * 1000 + ms, weekday: parts.get('weekday')! };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'long',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  return format;
}
