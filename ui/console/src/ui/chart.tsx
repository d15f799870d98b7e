import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import UPlot, { type Options } from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useStore } from './store.ts';
import { theme } from '../shell/theme.ts';

export interface Line {
  label: string;
  /** A variable of the style sheet, such as `--svc-good`. */
  colour: string;
  values: readonly (number | null)[];
}

const height = 190;

const dark = matchMedia('(prefers-color-scheme: dark)');
function onTurn(told: () => void): () => void {
  dark.addEventListener('change', told);
  return () => dark.removeEventListener('change', told);
}

/** Lines over time. What they say stands in `label`, too, for who does not see them. */
export function Chart(props: {
  label: string;
  /** In seconds since the epoch. */
  times: readonly number[];
  lines: readonly Line[];
  unit?: (value: number) => string;
}): ReactNode {
  const { label, times, lines, unit = String } = props;
  const place = useRef<HTMLDivElement>(null);
  const chosen = useStore(theme);
  const isDark = useSyncExternalStore(onTurn, () => dark.matches);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const plot = new UPlot(
      { width: element.clientWidth, height, ...optionsOf(lines, unit) },
      [[...times], ...lines.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, lines, unit, chosen, isDark]);
  return (
    <figure className="chart">
      <figcaption className="chart-legend">
        {lines.map((line) => (
          <span key={line.label} className={`chart-key chart-key${line.colour}`}>
            {line.label}
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={label} />
    </figure>
  );
}

/** How it looks, in the colours of the page. */
function optionsOf(
  lines: readonly Line[],
  unit: (value: number) => string,
): Omit<Options, 'width' | 'height'> {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--svc-text-soft'),
    grid: { stroke: colour('--svc-line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  return {
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, _low, high) => [0, Math.max(high * 1.1, 1)] } },
    axes: [axis, { ...axis, size: 54, values: (_, ticks) => ticks.map((tick) => unit(tick)) }],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(line.colour),
        width: 1.5,
        spanGaps: true,
        // A line of few values would not be seen.
        points: { show: line.values.filter((value) => value !== null).length <= 12, size: 5 },
      })),
    ],
  };
}
