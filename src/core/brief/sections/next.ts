import { agent, at, fixed, id, joined, type Line, line, quote, quotePath, quoteStart } from '../../line.ts';
import type { BriefForm, PlannedStep, RunFacts } from '../facts.ts';

/** The facts that decide what comes next. */
export type Deciding = Pick<RunFacts, 'situation' | 'uncertain' | 'commands' | 'steps' | 'next' | 'isPlanned'>;

/** The line on what comes next; null if nothing does. */
export function nextLine(run: Deciding, form: BriefForm, now: string, chars: number): Line | null {
  const { declared } = run.next;
  if (declared) {
    const text = quoteStart(declared.text, chars);
    if ('file' in declared)
      return line`Next, as the file says (${at(declared.at, now)}): ${text} (file ${quotePath(declared.file)})`;
    return line`Next, as ${agent(declared.by)} wrote (${at(declared.at, now)}): ${text}`;
  }
  // What it quotes stands above in full.
  const derived = derivedNext(run, form, Math.min(chars, DERIVED_CHARS));
  return derived === null ? null : line`Next: ${derived}`;
}

/** What follows from the record, in the order in which a reader has to deal with it. */
export function derivedNext(run: Deciding, form: BriefForm, chars: number): Line | null {
  const then = nextOf(run, chars) ?? unfinished(run, form);
  const first = run.uncertain.find(({ process }) => process.is !== 'in-session');
  if (!first) return then;
  const found =
    first.process.is === 'alive'
      ? line`${id(first.id)} is still running`
      : line`find out whether ${id(first.id)} took effect`;
  return then === null ? line`${found}.` : line`${found}; ${then}`;
}

function nextOf({ situation, steps, commands, next, isPlanned }: Deciding, chars: number): Line | null {
  const titles = (all: readonly PlannedStep[]): Line =>
    joined(
      all.slice(0, SEVERAL).map((step) => quote(step.title, 'title', chars)),
      ' and ',
    );
  const held = steps?.inProgress.filter((step) => step.heldBy !== null) ?? [];
  const free = steps?.inProgress.filter((step) => step.heldBy === null) ?? [];
  if (situation.is === 'archived' || situation.is === 'abandoned' || situation.is === 'finished') return null;
  if (situation.is === 'waiting') return line`the user's answer.`;
  // The steps of a plan are claimed; other work of two sessions at once is not.
  if (situation.is === 'working' && !isPlanned) {
    const has = held.length > 0 ? line`; ${agent(situation.who.agent)} has ${titles(held)}` : '';
    return line`agree with the user who does what${has}.`;
  }
  if (free.length > 0) {
    const isOwn = situation.is === 'own';
    const verb = free.length === 1 ? (isOwn ? fixed('is') : fixed('was')) : isOwn ? fixed('are') : fixed('were');
    return line`${titles(free)} ${verb} in progress.`;
  }
  const failed = commands.find((command) => command.is === 'failed');
  if (failed) return line`${quoteStart(failed.name, chars)} failed last; the request is not known to be finished.`;
  if (next.failedStep) {
    const { title, key, retriesLeft } = next.failedStep;
    return line`${quote(title, 'title', chars)} failed (step ${quote(key, 'name')}); a person chooses: retry (${retriesLeft} left), skip, abort or adjust the plan.`;
  }
  if (next.ready) {
    const title = quote(next.ready.title, 'title', chars);
    return isPlanned ? line`${title} is ready (step ${quote(next.ready.key, 'name')}).` : line`${title} is left.`;
  }
  if (next.gate) {
    const { key, title } = next.gate;
    return line`a person opens gate ${quote(key, 'name')} (${quote(title, 'title', chars)}): \`holdfast gate KEY open\`.`;
  }
  if (next.blocker) return line`blocked by ${id(next.blocker.id)}: ${quoteStart(next.blocker.text, chars)}.`;
  return null;
}

/** A conversation that comes back knows its own request. */
function unfinished({ situation }: Deciding, form: BriefForm): Line | null {
  const isCut = situation.is === 'cut-off' || situation.is === 'stopped';
  return isCut && form !== 'returned' ? line`the request is not known to be finished.` : null;
}

const SEVERAL = 3;
const DERIVED_CHARS = 100;
