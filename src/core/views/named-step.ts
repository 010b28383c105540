/** As much of a step as its names follow from; steps of the journal and of a run model both have it. */
export interface Nameable {
  key: string;
  title: string;
  kind: string;
  parent?: string | null | undefined;
}

/**
 * The step that people mean by `2-3`, `Phase 3`, `Phase 3: OAuth` or a title; null where the words name none. A number is
 * looked for in the keys (`3`, `phase-3`) before it is counted, so that an inserted phase moves no other.
 */
export function stepNamed<T extends Nameable>(steps: ReadonlyMap<string, T>, words: string): T | null {
  const exact = steps.get(words);
  if (exact) return exact;
  const all = [...steps.values()];
  const [, kind = '', number = ''] = /^\s*(phase|plan|step|task)\s+(\d[\d.-]*\d|\d)\b/i.exec(words.slice(0, 200)) ?? [];
  if (number !== '') {
    const wanted = kind.toLowerCase();
    const peers = all.filter((step) => (wanted === 'phase' ? !isBelow(steps, step) : step.kind === wanted));
    const byKey = peers.find((step) => sameNumber(step.key, number));
    if (byKey) return byKey;
    const isCounted =
      wanted === 'phase' && /^\d+$/.test(number) && !peers.some((step) => /^\D*\d+(?:\.\d+)?$/.test(step.key));
    const counted = isCounted ? peers[Number(number) - 1] : undefined;
    if (counted) return counted;
  }
  const title = plain(words);
  return title === '' ? null : (all.find((step) => plain(step.title) === title) ?? null);
}

/** Where a step is: `Phase 2, Plan 3`; null for a step that is in no phase. */
export function placeWords<T extends Nameable>(steps: ReadonlyMap<string, T>, step: T): string | null {
  const path = pathTo(steps, step);
  const [phase] = path;
  if (!phase || (phase === step && phase.kind !== 'phase')) return null;
  const plan = path.find(({ kind }) => kind === 'plan');
  return [`Phase ${numberOf(steps, phase)}`, ...(plan ? [`Plan ${numberOf(steps, plan)}`] : [])].join(', ');
}

/** `Phase 2, Plan 3: Refresh rotation`. */
export function stepWords<T extends Nameable>(steps: ReadonlyMap<string, T>, step: T): string {
  const place = placeWords(steps, step);
  return place === null ? step.title : `${place}: ${step.title}`;
}

/** The number in a key (`2-3` is plan 3, `2.1` stays); without one, its place among its siblings of that kind. */
export function numberOf<T extends Nameable>(steps: ReadonlyMap<string, T>, step: T): string {
  const digits = (step.kind === 'plan' ? PLAN_NUMBER : PHASE_NUMBER).exec(step.key)?.[1];
  if (digits !== undefined) return digits;
  const parent = isBelow(steps, step) ? step.parent : null;
  const siblings = [...steps.values()].filter(
    (one) => one.kind === step.kind && (isBelow(steps, one) ? one.parent : null) === parent,
  );
  return String(siblings.indexOf(step) + 1);
}

const PHASE_NUMBER = /^(?:phase[-_])?0*(\d{1,6}(?:\.\d{1,6})?)$/i;
const PLAN_NUMBER = /^.*-0*(\d{1,6})$/;

/** From its phase down to the step itself. */
export function pathTo<T extends Nameable>(steps: ReadonlyMap<string, T>, step: T): T[] {
  const path = [step];
  for (let above = steps.get(step.parent ?? ''); above && !path.includes(above); above = steps.get(above.parent ?? ''))
    path.unshift(above);
  return path;
}

/** Whether one of the blockers names the step or one above it. */
export function isBlockedBy<T extends Nameable>(
  steps: ReadonlyMap<string, T>,
  step: T,
  { affects = [], step: raisedIn }: { affects?: readonly string[] | undefined; step?: string | undefined },
): boolean {
  const path = new Set(pathTo(steps, step).map(({ key }) => key));
  return path.has(raisedIn ?? '') || affects.some((words) => path.has(stepNamed(steps, words)?.key ?? ''));
}

const isBelow = <T extends Nameable>(steps: ReadonlyMap<string, T>, { parent }: T): boolean =>
  parent !== null && parent !== undefined && steps.has(parent);

const sameNumber = (key: string, number: string): boolean =>
  trimmed(key) === trimmed(number) || PHASE_NUMBER.exec(key)?.[1] === trimmed(number);

const trimmed = (number: string): string => number.replace(/(^|[.-])0+(?=\d)/g, '$1');

const plain = (text: string): string => text.trim().toLowerCase();
