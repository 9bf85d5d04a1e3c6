import { useEffect, useRef, useState } from 'preact/hooks';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { announce } from '../../base/live-region.js';
import { locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import { now } from '../../base/api/clock.js';
import type { Bars } from './bars.js';
import { stepsOf, type Span } from '../base/hours.js';

/** Counts of one name in each bar. */
export interface Line {
  readonly label: string;
  readonly counts: readonly number[];
}

interface Props {
  title: string;
  /** Which colours the chart has. */
  look: 'signins' | 'refused';
  span: Span;
  /** When the bars begin, in ms. */
  bars: readonly number[];
  /** What the legend names: two counts of a bar, one above the other. */
  lower: Line;
  upper: Line;
  /** What the tip and the table name, which add up to the bars. */
  lines: readonly Line[];
  /** Said beside the sum. */
  notes: readonly string[];
  /** Said where there is nothing to show. */
  none: string;
}

const barsChunk = new Lazy(() => import('./bars.js'));

const number = (count: number): string => new Intl.NumberFormat(locale()).format(count);
const total = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

const time = { hour: '2-digit', minute: '2-digit' } as const;
const day = { day: 'numeric', month: 'short' } as const;
const dateFormat = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale(), options);

/** Returns the time of a bar in words. */
function barText(span: Span, bars: readonly number[], bar: number): string {
  const start = bars[bar]!;
  const end = bars[bar + 1] ?? now();
  if (span === '30d') return dateFormat({ weekday: 'short', ...day }).format(start);
  const format = dateFormat(span === '7d' ? { weekday: 'short', ...day, ...time } : time);
  return format.formatRange(start, Math.max(start, end));
}

/** How many bars are between two texts of the axis, and their form. */
const axes: Readonly<Record<Span, { readonly every: number; readonly form: object }>> = {
  '24h': { every: 4, form: time },
  '7d': { every: 4, form: { weekday: 'short' } },
  '30d': { every: 5, form: day },
};

/** Returns the bars that have a text under them, with `now` under the last. */
function ticksOf(span: Span, bars: readonly number[], isNarrow: boolean) {
  const every = axes[span].every * (isNarrow ? 2 : 1);
  const first =
    span === '7d'
      ? Math.max(
          0,
          bars.findIndex((bar) => !new Date(bar).getHours()),
        )
      : 0;
  const ticks = bars
    .map((_, i) => i)
    .filter((i) => i >= first && (i - first) % every === 0 && i < bars.length - every / 2);
  const format = dateFormat(axes[span].form);
  return {
    ticks: [...ticks, bars.length - 1],
    tickTexts: [...ticks.map((i) => format.format(bars[i])), t('overview.now')],
  };
}

/** Renders again when the element gets another width, or the page other colours. */
function useLook(place: { readonly current: HTMLElement | null }): string {
  const [look, set] = useState('');
  useEffect(() => {
    const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map(matchMedia);
    const update = (): void =>
      set([place.current?.clientWidth, ...queries.map(({ matches }) => matches)].join());
    const observer = new ResizeObserver(update);
    const listeners = new AbortController();
    observer.observe(place.current!);
    for (const query of queries) query.addEventListener('change', update, listeners);
    return () => {
      observer.disconnect();
      listeners.abort();
    };
  }, []);
  return look;
}

const isRightToLeft = (): boolean => document.documentElement.dir === 'rtl';

/** Draws the bars again when what they show or their look changes; undefined until they are. */
function useBars(
  place: { readonly current: HTMLElement | null },
  { span, bars, lower, upper }: Props,
): { readonly current: Bars | undefined } {
  const drawn = useRef<Bars>(undefined);
  const { loaded } = useLazy(barsChunk);
  const look = useLook(place);
  const steps = stepsOf(Math.max(...lower.counts.map((count, i) => count + upper.counts[i]!)));
  useEffect(() => {
    if (!loaded || !look) return undefined;
    drawn.current = loaded.drawBars(place.current!, {
      lower: lower.counts,
      upper: upper.counts,
      ...ticksOf(span, bars, place.current!.clientWidth < 420),
      steps,
      stepTexts: steps.map(number),
      isRightToLeft: isRightToLeft(),
    });
    return () => drawn.current?.destroy();
  }, [loaded, look, JSON.stringify([lower.counts, upper.counts, bars]), locale()]);
  return drawn;
}

/** Returns the bar that a key leads to, from the last one if there is none. */
function barAfter(key: string, bar: number | undefined, count: number): number | undefined {
  const last = count - 1;
  const step = isRightToLeft() ? -1 : 1;
  const steps: Readonly<Partial<Record<string, number>>> = {
    ArrowRight: (bar ?? last) + step,
    ArrowLeft: (bar ?? last) - step,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.min(last, Math.max(0, to));
}

/** What a bar says, above it. */
function Tip({ span, bars, lines, bar, center }: Props & { bar: number; center: number }) {
  return (
    <div class="tip" aria-hidden="true" style={{ left: `clamp(5rem, ${center}px, 100% - 5rem)` }}>
      <p>{barText(span, bars, bar)}</p>
      <dl>
        {lines.map(({ label, counts }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{number(counts[bar]!)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The bars, with what each says on hover, focus and touch. */
function Plot(props: Props) {
  const { title, span, bars, lines } = props;
  const place = useRef<HTMLDivElement>(null);
  const drawn = useBars(place, props);
  const [bar, setBar] = useState<number>();
  const show = (at: number): void => {
    setBar(at);
    const counts = lines.map((line) => `${line.label}: ${number(line.counts[at]!)}`);
    announce([barText(span, bars, at), ...counts].join(', '));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setBar(undefined);
    const next = barAfter(event.key, bar, bars.length);
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  };
  const point = ({ clientX }: PointerEvent): void => setBar(drawn.current?.at(clientX));
  const column = bar === undefined ? undefined : drawn.current?.column(bar);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the table says the same
    <div
      class="plot"
      role="group"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys read each bar
      tabIndex={0}
      aria-label={t('overview.chart', { title })}
      onKeyDown={onKeyDown}
      onFocus={(event) => event.currentTarget.matches(':focus-visible') && show(bars.length - 1)}
      onBlur={() => setBar(undefined)}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && setBar(undefined)}
    >
      {column && (
        <div class="column" style={{ left: `${column.left}px`, width: `${column.width}px` }} />
      )}
      <div class="canvas" ref={place} aria-hidden="true" />
      {column && <Tip {...props} bar={bar!} center={column.left + column.width / 2} />}
    </div>
  );
}

/** What the chart shows, for those who do not see it. */
const Figures = ({ title, span, bars, lines }: Props) => (
  <div class="quiet">
    <table>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{t('overview.time')}</th>
          {lines.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map((start, i) => (
          <tr key={start}>
            <th scope="row">{barText(span, bars, i)}</th>
            {lines.map(({ label, counts }) => (
              <td key={label}>{number(counts[i]!)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** A chart of counts by time: the sum, the bars with their legend, and a sentence if there are none. */
export function HoursChart(props: Props) {
  const { title, look, lower, upper, notes, none } = props;
  const sum = total(lower.counts) + total(upper.counts);
  const id = `chart-${look}`;
  return (
    <section class={`panel chart ${look}`} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <ul class="legend" aria-hidden="true">
          <li class="lower">{lower.label}</li>
          <li class="upper">{upper.label}</li>
        </ul>
      </div>
      <p class="sum">
        <strong>{number(sum)}</strong>{' '}
        <span class="hint">
          {sum > 0 && notes.map((note, i) => [i > 0 && ' · ', <bdi key={note}>{note}</bdi>])}
        </span>
      </p>
      {sum > 0 ? <Plot {...props} /> : <p class="plot empty">{none}</p>}
      {sum > 0 && <Figures {...props} />}
    </section>
  );
}
