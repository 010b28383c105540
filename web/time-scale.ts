import { clockOf, dayOf } from './words.tsx';

export interface Stretch {
  from: number;
  to: number;
}

export interface TimeScale {
  width: number;
  x(ms: number): number;
  /** Times in which nothing happened, each as wide as the next. */
  breaks: readonly { x: number; ms: number }[];
  ticks: readonly { x: number; label: string }[];
}

export const BREAK_PX = 28;
const TICK_PX = 84;
const LEAST_BUSY_PX = 24;
const ROUNDS = 8;

interface Piece extends Stretch {
  px: number;
  isBreak: boolean;
}

/**
 * Places times on a line. Idle times between the busy ones are narrow breaks, and every bar is at least `leastPx` wide: time
 * is stretched where a bar would be narrower, so bars never cover each other.
 */
export function timeScale(
  busy: readonly Stretch[],
  bars: readonly Stretch[],
  widthPx: number,
  leastPx: number,
): TimeScale {
  const spans = busy.length > 0 ? busy : [{ from: 0, to: 1 }];
  const pieces = spans.flatMap((span, index) => {
    const before = spans[index - 1];
    const gap: Piece[] = before ? [{ from: before.to, to: span.from, px: BREAK_PX, isBreak: true }] : [];
    return [...gap, ...piecesOf(span, bars)];
  });
  // Widening some bars makes the line longer; the others give way as far as they can.
  let aimPx = widthPx;
  for (let round = 0; round < ROUNDS; round++) {
    share(pieces, spans, aimPx);
    for (const bar of bars) widen(pieces, bar, leastPx);
    const over = pieces.reduce((sum, { px }) => sum + px, 0) - widthPx;
    if (over <= 0) break;
    aimPx -= over;
  }
  return scaleOf(pieces);
}

/** A busy time, cut wherever a bar begins or ends. */
function piecesOf(span: Stretch, bars: readonly Stretch[]): Piece[] {
  const to = Math.max(span.to, span.from + 1000);
  const cuts = bars.flatMap((bar) => [bar.from, bar.to]).filter((at) => at > span.from && at < to);
  const points = [...new Set([span.from, ...cuts, to])].sort((a, b) => a - b);
  return points.slice(1).map((point, index) => ({ from: points[index] as number, to: point, px: 0, isBreak: false }));
}

function share(pieces: Piece[], spans: readonly Stretch[], widthPx: number): void {
  const left = Math.max(LEAST_BUSY_PX * spans.length, widthPx - BREAK_PX * (spans.length - 1));
  const total = pieces.reduce((sum, { from, to, isBreak }) => sum + (isBreak ? 0 : to - from), 0);
  for (const piece of pieces) if (!piece.isBreak) piece.px = ((piece.to - piece.from) / total) * left;
}

function widen(pieces: Piece[], { from, to }: Stretch, leastPx: number): void {
  const own = pieces.filter((piece) => piece.from >= from && piece.to <= Math.max(to, from + 1) && !piece.isBreak);
  const inside =
    own.length > 0 ? own : pieces.filter((piece) => piece.from <= from && piece.to > from && !piece.isBreak);
  const px = inside.reduce((sum, piece) => sum + piece.px, 0);
  if (inside.length === 0 || px >= leastPx) return;
  for (const piece of inside) piece.px += (leastPx - px) / inside.length;
}

function scaleOf(pieces: readonly Piece[]): TimeScale {
  const starts: number[] = [];
  let width = 0;
  for (const piece of pieces) {
    starts.push(width);
    width += piece.px;
  }
  const x = (ms: number): number => {
    const index = pieces.findLastIndex((piece) => piece.from <= ms);
    const piece = pieces[index];
    if (!piece) return 0;
    const part = Math.min(1, (ms - piece.from) / Math.max(1, piece.to - piece.from));
    return (starts[index] ?? 0) + part * piece.px;
  };
  const breaks = pieces.flatMap((piece, index) =>
    piece.isBreak ? [{ x: starts[index] ?? 0, ms: piece.to - piece.from }] : [],
  );
  return { width, x, breaks, ticks: ticksOf(pieces, starts) };
}

/** Seconds are needed where two ticks would show the same minute. */
const EXACT_BELOW_MS = 10 * 60_000;

/** Labels that do not overlap; the day is named where it changes. */
function ticksOf(pieces: readonly Piece[], starts: readonly number[]): { x: number; label: string }[] {
  const ticks: { x: number; label: string }[] = [];
  const first = pieces[0]?.from ?? 0;
  const last = pieces.at(-1)?.to ?? 0;
  let free = 0;
  let day = '';
  for (const [index, piece] of pieces.entries()) {
    const start = starts[index] ?? 0;
    if (piece.isBreak) continue;
    for (let px = Math.max(0, free - start); px < piece.px; px = free - start) {
      const at = piece.from + (px / piece.px) * (piece.to - piece.from);
      const isNewDay = dayOf(at) !== day;
      day = dayOf(at);
      const time = clockOf(at, last - first < EXACT_BELOW_MS);
      ticks.push({ x: start + px, label: isNewDay ? `${day} ${time}` : time });
      free = start + px + TICK_PX + (isNewDay ? 30 : 0);
    }
  }
  return ticks;
}
