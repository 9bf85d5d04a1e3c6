import UPlot from 'uplot';

/** What a chart shows: two counts for each bar, one above the other, and the marks of both axes. */
export interface BarsContent {
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  /** The bars that have a text, and the texts. */
  readonly ticks: readonly number[];
  readonly tickTexts: readonly string[];
  readonly steps: readonly number[];
  readonly stepTexts: readonly string[];
  readonly isRightToLeft: boolean;
}

/** A chart that was drawn. */
export interface Bars {
  /** Returns the bar at a place of the window. */
  at(clientX: number): number;
  /** Returns where the column of a bar is in the chart, in CSS pixels. */
  column(bar: number): { readonly left: number; readonly width: number };
  destroy(): void;
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

type Color = (name: string) => string;

function axesOf(
  { ticks, tickTexts, steps, stepTexts, isRightToLeft }: BarsContent,
  color: Color,
  font: string,
): UPlot.Axis[] {
  const axis = { stroke: color('text'), font: `11px ${font}`, ticks: { show: false }, space: 0 };
  return [
    {
      ...axis,
      size: 24,
      gap: 6,
      splits: () => [...ticks],
      values: () => [...tickTexts],
      grid: { show: false },
    },
    {
      ...axis,
      size: 40,
      gap: 8,
      side: isRightToLeft ? 1 : 3,
      splits: () => [...steps],
      values: () => [...stepTexts],
      grid: { stroke: color('grid'), width: 1 },
    },
  ];
}

/** Returns the series: of both counts together, and over it of the lower ones, with their boxes. */
function seriesOf(color: Color, boxes: Box[]): UPlot.Series[] {
  const bars = (each: NonNullable<UPlot.Series.BarsPathBuilderOpts['each']> = () => {}) => ({
    paths: UPlot.paths.bars!({ size: [0.7, 40], each }),
    points: { show: false },
  });
  const noteBox = bars((_plot, _series, bar, left, top, width) => {
    boxes[bar] = { left, top, width };
  });
  const edge = { stroke: color('upper-edge'), width: 1 / devicePixelRatio };
  return [
    {},
    { ...bars(), ...edge, fill: color('upper') },
    { ...noteBox, width: 0, fill: color('lower') },
  ];
}

/** Draws a line between the two parts of each bar that has both. */
function drawGaps(
  ctx: CanvasRenderingContext2D,
  { lower, upper }: BarsContent,
  boxes: readonly Box[],
): void {
  for (const [i, box] of boxes.entries()) {
    const isSplit = lower[i]! > 0 && upper[i]! > 0;
    if (box && isSplit) ctx.fillRect(box.left, box.top, box.width, devicePixelRatio);
  }
}

/** Draws a chart that fills an element, in the colours of its style. */
export function drawBars(place: HTMLElement, content: BarsContent): Bars {
  const style = getComputedStyle(place);
  const color: Color = (name) => style.getPropertyValue(`--chart-${name}`).trim();
  const { lower, upper, steps, isRightToLeft } = content;
  const boxes: Box[] = [];
  const draw = ({ ctx }: UPlot): void => {
    ctx.fillStyle = color('gap');
    drawGaps(ctx, content, boxes);
  };
  const plot = new UPlot(
    {
      width: place.clientWidth,
      height: place.clientHeight,
      padding: [8, isRightToLeft ? 0 : 8, 0, isRightToLeft ? 8 : 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, dir: isRightToLeft ? -1 : 1, range: [-0.5, lower.length - 0.5] },
        y: { range: [0, steps.at(-1)!] },
      },
      axes: axesOf(content, color, style.fontFamily),
      series: seriesOf(color, boxes),
      hooks: { draw: [draw] },
    },
    [
      lower.map((_, i) => i),
      lower.map((count, i) => (upper[i]! > 0 ? count + upper[i]! : null)),
      [...lower],
    ],
    place,
  );
  const start = (): number => plot.bbox.left / devicePixelRatio;
  const width = (): number => plot.bbox.width / devicePixelRatio / lower.length;
  const last = lower.length - 1;
  return {
    at(clientX) {
      const from = clientX - place.getBoundingClientRect().left - start();
      const found = Math.min(last, Math.max(0, Math.floor(from / width())));
      return isRightToLeft ? last - found : found;
    },
    column: (bar) => ({
      left: start() + (isRightToLeft ? last - bar : bar) * width(),
      width: width(),
    }),
    destroy: () => plot.destroy(),
  };
}
