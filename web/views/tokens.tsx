import type { Output } from '../api.ts';
import { Await, Card, Empty } from '../parts.tsx';
import { moment, type RunAt, type Status } from '../run.ts';
import { useAnswer } from '../state.ts';
import { BREAK_PX, timeScale } from '../time-scale.ts';
import { busyOf, type Timeline, useWidth } from '../timeline-chart.tsx';
import { amountOf, durationOf } from '../words.tsx';

type Point = Output<'timeline'>['usage'][number];
type Usage = Status['usage'][number];

export function TokensView({ run, at, status }: RunAt & { status: Status }) {
  const timeline = useAnswer('timeline', { ...moment(at), limit: 1 }, run);
  const { usage } = status;
  return (
    <Card title="Token use">
      <Await of={timeline}>
        {(found) =>
          usage.length === 0 ? (
            <Empty title="No token use recorded.">
              Hooks record it at the end of each turn; agents can add to it: <code>holdfast usage add</code>
            </Empty>
          ) : (
            <>
              <Chart timeline={found} usage={usage} />
              <UsageTable usage={usage} />
            </>
          )
        }
      </Await>
    </Card>
  );
}

function UsageTable({ usage }: { usage: readonly Usage[] }) {
  const rows = usage.flatMap(rowsOf);
  const sum = (field: 'input' | 'cached' | 'output'): number => usage.reduce((all, one) => all + (one[field] ?? 0), 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone it scrolls, also by keys
    <section class="table-scroll" aria-label="Tokens by agent and model" tabIndex={0}>
      <table>
        <caption class="hidden">Tokens by agent and model</caption>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Model</th>
            <th scope="col">Input</th>
            <th scope="col">of it cached</th>
            <th scope="col">Output</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={`${one.agent} ${one.model}`}>
              <th scope="row">{one.agent}</th>
              <td class="model">{one.model ?? <span class="dim">not reported</span>}</td>
              <td>{reported(one.input)}</td>
              <td>{reported(one.cached)}</td>
              <td>{reported(one.output)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              All
            </th>
            <td>{amountOf(sum('input'))}</td>
            <td>{amountOf(sum('cached'))}</td>
            <td>{amountOf(sum('output'))}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

interface UsageRow {
  agent: string;
  model: string | null;
  input: number | null;
  cached: number | null;
  output: number | null;
}

/** A row for each model, and one for the reports that named none. */
function rowsOf({ agent, models = [], ...all }: Usage): UsageRow[] {
  if (models.length === 0) return [{ agent, model: null, ...all }];
  const without = (field: 'input' | 'cached' | 'output'): number =>
    (all[field] ?? 0) - models.reduce((sum, one) => sum + (one[field] ?? 0), 0);
  const rest = { agent, model: null, input: without('input'), cached: without('cached'), output: without('output') };
  const named = models.map((one) => ({ ...one, agent }));
  return rest.input + rest.output > 0 ? [...named, rest] : named;
}

/** An unreported count is not zero. */
const reported = (count: number | null): string => (count === null ? 'not reported' : amountOf(count));

const HEIGHT = 240;
const LEFT = 58;
const TOP = 14;
const BOTTOM = 26;
/** The padding of the scroll area, and room for the last dot. */
const MARGIN = 48;

interface LineOf {
  agent: string;
  total: number;
  /** One for each session: a line does not lead from one to the next. */
  paths: string[];
  dots: { x: number; y: number; about: string }[];
}

/** Tokens read and written, added up for each agent. Cached ones are part of the input and count once. */
function Chart({ timeline, usage }: { timeline: Timeline; usage: readonly Usage[] }) {
  const { box, width } = useWidth();
  const points = timeline.usage;
  if (points.length === 0) return null;
  const scale = timeScale(busyOf(timeline), [], Math.max(260, width - LEFT - MARGIN), 0);
  const most = Math.max(1, ...usage.map((one) => (one.input ?? 0) + (one.output ?? 0)));
  const y = (tokens: number): number => TOP + (1 - tokens / (most * 1.06)) * (HEIGHT - TOP - BOTTOM);
  const lines = usage.map(({ agent }) => lineOf(agent, points, (at) => LEFT + scale.x(Date.parse(at)), y));
  const levels = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(most * share));
  return (
    <div ref={box} class="tokens-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <section class="chart-scroll" tabIndex={0} aria-label="Token chart">
        {width > 0 && (
          <svg
            class="tokens"
            width={LEFT + scale.width + 12}
            height={HEIGHT}
            role="img"
            aria-label="Tokens by agent over time; the table below has the totals"
          >
            {levels.map((level) => (
              <g key={level}>
                <line class="tick" x1={LEFT} x2={LEFT + scale.width} y1={y(level)} y2={y(level)} />
                <text class="tick-words" x={LEFT - 8} y={y(level) + 4} text-anchor="end">
                  {amountOf(level)}
                </text>
              </g>
            ))}
            {scale.breaks.map(({ x, ms }) => (
              <g key={x}>
                <rect class="gap" x={LEFT + x} y={TOP} width={BREAK_PX} height={HEIGHT - TOP - BOTTOM} />
                <text class="gap-words" x={LEFT + x + BREAK_PX / 2} y={TOP + 12} text-anchor="middle">
                  {durationOf(ms)}
                </text>
              </g>
            ))}
            {scale.ticks.map(({ x, label }) => (
              <text key={x} class="tick-words" x={LEFT + x} y={HEIGHT - 8}>
                {label}
              </text>
            ))}
            {lines.map(({ agent, paths, dots }, index) => (
              <g key={agent} class={`series series-${(index % 6) + 1}`}>
                {paths.map((path) => (
                  <path key={path} d={path} />
                ))}
                {dots.map(({ x, y: at, about }) => (
                  <circle key={`${x} ${at}`} cx={x} cy={at} r="3">
                    <title>{about}</title>
                  </circle>
                ))}
              </g>
            ))}
          </svg>
        )}
      </section>
      <ul class="legend" aria-label="Totals">
        {lines.map(({ agent, total }, index) => (
          <li key={agent}>
            <svg class={`series series-${(index % 6) + 1}`} width="18" height="10" aria-hidden="true">
              <path d="M0 5H18" />
            </svg>
            {agent} <strong>{amountOf(total)}</strong>
          </li>
        ))}
      </ul>
    </div>
  );
}

const DOTS = 80;

function lineOf(
  agent: string,
  all: readonly Point[],
  x: (at: string) => number,
  y: (tokens: number) => number,
): LineOf {
  const points = all.filter((point) => point.agent === agent);
  const paths: string[] = [];
  const dots: LineOf['dots'] = [];
  let total = 0;
  let session: string | null | undefined;
  for (const point of points) {
    const before = total;
    total += point.input + point.output;
    const at = x(point.at);
    if (session === undefined || session !== point.session) paths.push(`M${at} ${y(before)}V${y(total)}`);
    else paths.push(`${paths.pop() ?? ''}H${at}V${y(total)}`);
    session = point.session;
    if (points.length <= DOTS) dots.push({ x: at, y: y(total), about: `${agent}: ${amountOf(total)}` });
  }
  return { agent, total, paths, dots };
}
