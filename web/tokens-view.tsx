import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Output } from './api.ts';
import { Await, Card, Empty } from './parts.tsx';
import { moment, type RunAt, type Status } from './run.ts';
import { useAnswer } from './state.ts';
import { theme } from './theme.ts';
import { amountOf } from './words.tsx';

type Point = Output<'timeline'>['usage'][number];

export function TokensView({ run, at, status }: RunAt & { status: Status }) {
  const timeline = useAnswer('timeline', { ...moment(at), limit: 1 }, run);
  const { usage } = status;
  return (
    <Card title="Token use">
      <Await of={timeline}>
        {({ usage: points }) =>
          points.length === 0 ? (
            <Empty title="No token use is recorded.">
              Hooks record it by themselves; agents do so with <code>holdfast usage add</code>.
            </Empty>
          ) : (
            <>
              <Chart points={points} />
              <div class="table-scroll">
                <table>
                  <caption class="hidden">Tokens by agent</caption>
                  <thead>
                    <tr>
                      <th scope="col">Agent</th>
                      <th scope="col">Input</th>
                      <th scope="col">Cached</th>
                      <th scope="col">Output</th>
                    </tr>
                  </thead>
                  <tbody>
                    {usage.map((one) => (
                      <tr key={one.agent}>
                        <th scope="row">{one.agent}</th>
                        <td>{told(one.input)}</td>
                        <td>{told(one.cached)}</td>
                        <td>{told(one.output)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }
      </Await>
    </Card>
  );
}

/** What nobody told is not zero. */
const told = (count: number | null): string => (count === null ? 'not told' : amountOf(count));

const COLOURS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];
const HEIGHT = 280;

/** The sum of tokens by agent as it grew. */
function Chart({ points }: { points: readonly Point[] }) {
  const box = useRef<HTMLDivElement>(null);
  const shownTheme = theme.value;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const agents = [...new Set(points.map((point) => point.agent))];
    const axis: uPlot.Axis = {
      stroke: style.color,
      grid: { stroke: colour('--rule'), width: 1 },
      ticks: { stroke: colour('--rule'), width: 1 },
      font: `12px ${style.fontFamily}`,
    };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        series: [
          {},
          ...agents.map((agent, index) => ({
            label: agent,
            stroke: colour(COLOURS[index % COLOURS.length] ?? ''),
            width: 2,
            paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
            points: { show: points.length < 40 },
            value: (_: uPlot, value: number | null) => (value === null ? '' : amountOf(value)),
          })),
        ],
        axes: [axis, { ...axis, size: 64, values: (_, values) => values.map((value) => amountOf(value)) }],
        scales: { y: { range: (_, __, max) => [0, Math.max(1, max) * 1.08] } },
      },
      series(points, agents),
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [points, shownTheme]);
  return (
    <div class="chart" ref={box} role="img" aria-label="Tokens by agent over time; the table below has the sums" />
  );
}

function series(points: readonly Point[], agents: readonly string[]): uPlot.AlignedData {
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
