import { useEffect, useRef } from 'preact/hooks';
import type { Output } from '../api.ts';
import { Await, Card, Empty } from '../parts.tsx';
import { moment, type RunAt, type Status } from '../run.ts';
import { useAnswer } from '../state.ts';
import { theme } from '../theme.ts';
import { amountOf } from '../words.tsx';

type Point = Output<'timeline'>['usage'][number];

export function TokensView({ run, at, status }: RunAt & { status: Status }) {
  const timeline = useAnswer('timeline', { ...moment(at), limit: 1 }, run);
  const { usage } = status;
  return (
    <Card title="Token use">
      <Await of={timeline}>
        {({ usage: points }) =>
          points.length === 0 ? (
            <Empty title="No token use recorded.">
              Hooks record it automatically; agents can add to it with <code>holdfast usage add</code>.
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
                        <td>{reported(one.input)}</td>
                        <td>{reported(one.cached)}</td>
                        <td>{reported(one.output)}</td>
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

/** An unreported count is not zero. */
const reported = (count: number | null): string => (count === null ? 'not reported' : amountOf(count));

/** Cumulative tokens by agent. The chart library loads on demand; the table does not need it. */
function Chart({ points }: { points: readonly Point[] }) {
  const box = useRef<HTMLDivElement>(null);
  const shownTheme = theme.value;
  useEffect(() => {
    let remove = (): void => undefined;
    let isHere = true;
    void import('../token-chart.ts').then(({ drawTokens }) => {
      if (isHere && box.current) remove = drawTokens(box.current, points);
    });
    return () => {
      isHere = false;
      remove();
    };
  }, [points, shownTheme]);
  return (
    <div class="chart" ref={box} role="img" aria-label="Tokens by agent over time; the table below has the totals" />
  );
}
