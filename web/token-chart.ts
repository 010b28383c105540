import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';
import type { Output } from './api.ts';
import { amountOf } from './words.tsx';

type Point = Output<'timeline'>['usage'][number];

const COLOURS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];
const HEIGHT = 280;

/** Draws into an element; returns a function that removes the chart. */
export function drawTokens(element: HTMLElement, points: readonly Point[]): () => void {
  const style = getComputedStyle(element);
  const colour = colourReader(element);
  const agents = [...new Set(points.map((point) => point.agent))];
  const axis: uPlot.Axis = {
    stroke: style.color,
    grid: { stroke: colour('--rule'), width: 1 },
    ticks: { stroke: colour('--rule'), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const plot = new uPlot(
    {
      width: element.clientWidth - 20,
      height: HEIGHT,
      series: [
        {},
        ...agents.map((agent, index) => ({
          label: agent,
          stroke: colour(COLOURS[index % COLOURS.length] ?? ''),
          width: 2,
          ...(stepped ? { paths: stepped } : {}),
          points: { show: points.length < 40 },
          value: (_: uPlot, value: number | null) => (value === null ? '' : amountOf(value)),
        })),
      ],
      axes: [axis, { ...axis, size: 64, values: (_, values) => values.map((value) => amountOf(value)) }],
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max) * 1.08] } },
    },
    linesOf(points, agents),
    element,
  );
  const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth - 20, height: HEIGHT }));
  resize.observe(element);
  return () => {
    resize.disconnect();
    plot.destroy();
  };
}

/** A custom property reads as written; only an element that uses it has the colour of the theme. */
function colourReader(element: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = element.appendChild(document.createElement('i'));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

function linesOf(points: readonly Point[], agents: readonly string[]): uPlot.AlignedData {
  const sums = new Map(agents.map((agent) => [agent, 0]));
  const times: number[] = [];
  const lines = agents.map((): (number | null)[] => []);
  for (const { at, agent, input, output, cached } of points) {
    sums.set(agent, (sums.get(agent) ?? 0) + input + output + cached);
    times.push(Date.parse(at) / 1000);
    for (const [index, name] of agents.entries()) lines[index]?.push(sums.get(name) || null);
  }
  return [times, ...lines];
}
