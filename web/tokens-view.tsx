import { useEffect, useRef } from 'preact/hooks';
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

/** The sum of tokens by agent as it grew. The library that draws it comes when it is needed; the table stands without it. */
function Chart({ points }: { points: readonly Point[] }) {
  const box = useRef<HTMLDivElement>(null);
  const shownTheme = theme.value;
  useEffect(() => {
    let remove = (): void => undefined;
    let isHere = true;
    void import('./token-chart.ts').then(({ drawTokens }) => {
      if (isHere && box.current) remove = drawTokens(box.current, points);
    });
    return () => {
      isHere = false;
      remove();
    };
  }, [points, shownTheme]);
  return (
    <div class="chart" ref={box} role="img" aria-label="Tokens by agent over time; the table below has the sums" />
  );
}
