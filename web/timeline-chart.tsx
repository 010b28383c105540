import { useEffect, useRef, useState } from 'preact/hooks';
import { oneLine } from '../src/core/text.ts';
import type { Output } from './api.ts';
import { runHref } from './route.ts';
import { isTodo, type StepLine } from './run.ts';
import { now } from './state.ts';
import { BREAK_PX, type Stretch, type TimeScale, timeScale } from './time-scale.ts';
import { durationOf, momentOf, plural } from './words.tsx';

export type Timeline = Output<'timeline'>;
type Session = Timeline['sittings'][number];

/** The width of an element, followed while it changes. */
export function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}

/** Silence shorter than this belongs to the work before it. */
const IDLE_MS = 20 * 60_000;

export function busyOf({ busy }: Timeline): Stretch[] {
  const spans = busy.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }));
  const last = spans.at(-1);
  if (last && now.value - last.to < IDLE_MS) last.to = Math.max(last.to, now.value);
  return spans;
}

type BarKind = 'in progress' | 'done' | 'failed' | 'left' | 'cut off' | 'handed over' | 'turn';

interface Bar extends Stretch {
  lane: number;
  kind: BarKind;
  label: string;
  about: string;
  step: string | null;
  points: { at: number; name: string }[];
}

const NAME_PX = 132;
const LANE_PX = 34;
const TOP_PX = 30;
const BAR_PX = 22;
const LEAST_PX = 30;
/** The padding of the scroll area, and room for the end of the last bar. */
const MARGIN_PX = 44;
/** Above this many sessions there is a lane for each agent. */
const LANES = 12;

interface ChartProps {
  run: string;
  timeline: Timeline;
  steps: readonly StepLine[];
}

/** One lane per session: what it worked on and how that ended. Breaks stand for idle time. */
export function TimelineChart({ run, timeline, steps }: ChartProps) {
  const { box, width } = useWidth();
  const { sittings: sessions } = timeline;
  const isGrouped = sessions.length > LANES;
  const agents = [...new Set(sessions.map(({ agent }) => agent))];
  const lanes = isGrouped
    ? agents.map((agent) => ({ name: agent, id: '' }))
    : sessions.map(({ agent, session }) => ({ name: agent, id: session }));
  const titles = new Map(steps.map(({ key, title }) => [key, title]));
  const busy = busyOf(timeline);
  const end = busy.at(-1)?.to ?? 0;
  const bars = sessions.flatMap((session, index) =>
    barsOf(session, isGrouped ? agents.indexOf(session.agent) : index, titles, end),
  );
  const scale = timeScale(busy, bars, Math.max(320, width - NAME_PX - MARGIN_PX), LEAST_PX);
  const height = TOP_PX + lanes.length * LANE_PX + 6;
  const kinds = [...new Set(bars.map(({ kind }) => kind))];
  return (
    <>
      <div ref={box} class="timeline-box">
        <section
          class="chart-scroll"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
          tabIndex={0}
          aria-label={`${plural(sessions.length, 'session')} on a time line; the list below has the same data`}
        >
          {width > 0 && (
            <svg class="timeline" width={NAME_PX + scale.width + 8} height={height}>
              <title>Time line of the sessions</title>
              <Patterns />
              <Axis scale={scale} height={height} />
              {lanes.map(({ name, id }, index) => (
                <LaneName key={`${name} ${id}`} name={name} id={id} y={TOP_PX + index * LANE_PX} />
              ))}
              {bars.map((bar) => (
                <BarShape key={`${bar.lane} ${bar.label} ${bar.from}`} run={run} bar={bar} scale={scale} bars={bars} />
              ))}
            </svg>
          )}
        </section>
      </div>
      <Legend kinds={kinds} />
    </>
  );
}

function barsOf(session: Session, lane: number, titles: ReadonlyMap<string, string>, end: number): Bar[] {
  const until = session.to === null ? end : Date.parse(session.to);
  const held = session.steps
    .filter(({ step }) => !isTodo({ key: step }))
    .map((one): Bar => {
      const title = oneLine(titles.get(one.step) ?? '', 120);
      const kind = one.end === 'held' && session.label === 'cut off' ? 'cut off' : kindOf(one.end);
      return {
        lane,
        kind,
        from: Date.parse(one.from),
        to: one.to === null ? until : Date.parse(one.to),
        label: `${one.step} ${title}`.trim(),
        about: `${session.agent} ${session.session}: ${one.step} ${title}, ${kind}, from ${momentOf(one.from)}`,
        step: one.step,
        points: one.checkpoints.slice(0, 50).map(({ name, at }) => ({ name: oneLine(name, 80), at: Date.parse(at) })),
      };
    });
  if (held.length > 0) return held;
  const turns = session.turns.map(({ request, from, to, outcome }): Bar => {
    const isCut = to === null && session.label === 'cut off';
    const kind = isCut ? 'cut off' : outcome === 'failed' ? 'failed' : 'turn';
    const label = oneLine(request ?? 'continued', 120);
    const about = `${session.agent} ${session.session}: ${label.slice(0, 120)}, from ${momentOf(from)}`;
    return {
      lane,
      kind,
      from: Date.parse(from),
      to: to === null ? until : Date.parse(to),
      label,
      about,
      step: null,
      points: [],
    };
  });
  if (turns.length > 0) return turns;
  const kind = session.label === 'cut off' ? 'cut off' : session.label === 'handed over' ? 'handed over' : 'turn';
  const about = `${session.agent} ${session.session}: ${session.label}, from ${momentOf(session.from)}`;
  return [
    { lane, kind, from: Date.parse(session.from), to: until, label: session.label, about, step: null, points: [] },
  ];
}

function kindOf(end: Session['steps'][number]['end']): BarKind {
  switch (end) {
    case 'held':
      return 'in progress';
    case 'completed':
      return 'done';
    case 'failed':
      return 'failed';
    case 'crashed':
      return 'cut off';
    case 'handed':
      return 'handed over';
    case 'released':
    case 'interrupted':
      return 'left';
    default:
      return end satisfies never;
  }
}

/** Failed and cut off differ in their pattern, not in colour alone. */
function Patterns() {
  return (
    <defs>
      <pattern id="stripes" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="bar-failed-back" width="7" height="7" />
        <rect class="bar-failed-line" width="3" height="7" />
      </pattern>
    </defs>
  );
}

function Axis({ scale, height }: { scale: TimeScale; height: number }) {
  return (
    <>
      {scale.ticks.map(({ x, label }) => (
        <g key={x}>
          <line class="tick" x1={NAME_PX + x} x2={NAME_PX + x} y1={TOP_PX - 8} y2={height} />
          <text class="tick-words" x={NAME_PX + x + 4} y={TOP_PX - 12}>
            {label}
          </text>
        </g>
      ))}
      {scale.breaks.map(({ x, ms }) => (
        <g key={x}>
          <rect class="gap" x={NAME_PX + x} y={TOP_PX - 4} width={BREAK_PX} height={height - TOP_PX} />
          <text class="gap-words" x={NAME_PX + x + BREAK_PX / 2} y={height - 8} text-anchor="middle">
            {durationOf(ms)}
          </text>
        </g>
      ))}
    </>
  );
}

const NAME_CHARS = 14;

function LaneName({ name, id, y }: { name: string; id: string; y: number }) {
  return (
    <text class="lane-name" x="2" y={y + 20}>
      {name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name}
      <tspan class="lane-id" dx="6">
        {id}
      </tspan>
      <title>{name}</title>
    </text>
  );
}

const CHAR_PX = 6.4;

/** The whole label, as much of it as says something, the key of the step alone, or nothing. */
function fitted({ label, step }: Bar, chars: number): string {
  if (label.length <= chars) return label;
  const least = (step?.length ?? 0) + 6;
  if (chars >= least) return `${label.slice(0, chars - 1).trimEnd()}…`;
  return step !== null && step.length <= chars + 1 ? step : '';
}

function BarShape({ run, bar, scale, bars }: { run: string; bar: Bar; scale: TimeScale; bars: readonly Bar[] }) {
  const left = NAME_PX + scale.x(bar.from);
  const wide = Math.max(LEAST_PX, NAME_PX + scale.x(bar.to) - left - 2);
  const y = TOP_PX + bar.lane * LANE_PX + 4;
  const next = Math.min(
    ...bars.filter((one) => one.lane === bar.lane && one.from > bar.from).map((one) => NAME_PX + scale.x(one.from)),
  );
  const edge = Math.min(next, NAME_PX + scale.width);
  const isInside = wide >= 30 || edge - left - wide < 50;
  const room = isInside ? wide - 8 : edge - left - wide - 10;
  const words = fitted(bar, Math.floor(room / CHAR_PX));
  const shape = (
    <>
      <rect class={`bar bar-${bar.kind.replace(' ', '-')}`} x={left} y={y} width={wide} height={BAR_PX} rx="5" />
      <text
        class={isInside ? `bar-words words-${bar.kind.replace(' ', '-')}` : 'bar-beside'}
        x={isInside ? left + 4 : left + wide + 6}
        y={y + 15}
      >
        {words}
      </text>
      {bar.kind === 'cut off' && <path class="cut" d={`M${left + wide + 1} ${y - 2}l-4 6l5 5l-5 5l4 6`} />}
      {bar.points.map(({ at, name }) => (
        <circle key={at} class="checkpoint" cx={NAME_PX + scale.x(at)} cy={y + BAR_PX - 1} r="2.6">
          <title>{name}</title>
        </circle>
      ))}
      <title>{bar.about}</title>
    </>
  );
  return bar.step === null ? (
    <g>{shape}</g>
  ) : (
    <a class="bar-link" href={runHref(run, { view: 'sessions', step: bar.step })} aria-label={bar.about}>
      {shape}
    </a>
  );
}

const kindWords: Readonly<Record<BarKind, string>> = {
  'in progress': 'in progress',
  done: 'done',
  failed: 'failed',
  left: 'left unfinished',
  'cut off': 'cut off',
  'handed over': 'handed over',
  turn: 'a request and the work on it',
};

function Legend({ kinds }: { kinds: readonly BarKind[] }) {
  return (
    <ul class="legend" aria-label="Legend">
      {kinds.map((kind) => (
        <li key={kind}>
          <svg width="18" height="12" aria-hidden="true">
            <rect class={`bar bar-${kind.replace(' ', '-')}`} x="0.5" y="0.5" width="16" height="11" rx="3" />
          </svg>
          {kindWords[kind]}
        </li>
      ))}
    </ul>
  );
}
