import type { State } from '../src/core/fold/state.ts';
import type { EventBody, EventType } from '../src/core/journal/event.ts';

/** A history as a STATE.md kept by hand, and as a work log. */
export interface StateFile {
  add<T extends EventType>(type: T, body: EventBody<T>): void;
  finish(state: State): void;
  render(): string;
  renderLog(): string;
}

/**
 * Better kept than real ones: nothing was forgotten, settled items are ticked off, the position is right and on top.
 */
export function createStateFile(): StateFile {
  const decisions: string[] = [];
  const items = new Map<string, string>();
  const mail = new Map<string, string>();
  const notes: string[] = [];
  const log: string[] = [];
  let position: string[] = [];
  const add = (list: string[], line: string): void => {
    list.push(`- ${line}`);
    log.push(`- ${line}`);
  };
  const put = (table: Map<string, string>, id: string, line: string): void => {
    table.set(id, `- [ ] ${line}`);
    log.push(`- ${line}`);
  };
  const tick = (table: Map<string, string>, id: string, note: string): void => {
    table.set(id, `${(table.get(id) ?? '').replace('[ ]', '[x]')} ${note}`);
    log.push(`- ${id} done: ${note}`);
  };
  const writers: { [T in EventType]?: (body: EventBody<T>) => void } = {
    'run.opened': ({ goal }) => add([], `Goal: ${goal}`),
    'decision.made': ({ id, decision, reason, irreversible }) =>
      add(decisions, `${id}${irreversible ? ' (irreversible)' : ''}: ${decision} Why: ${reason}`),
    'item.raised': ({ id, kind, text, step }) => put(items, id, `${id} ${kind}${step ? ` in ${step}` : ''}: ${text}`),
    'item.settled': ({ id, note }) => tick(items, id, note ?? ''),
    'effect.began': ({ id, name }) => put(items, id, `${id} running: ${name}`),
    'effect.ended': ({ id, outcome }) => tick(items, id, outcome),
    'message.sent': ({ id, from, to, subject }) => put(mail, id, `${id} from ${from} to ${to}: ${subject}`),
    'message.moved': ({ id, note }) => tick(mail, id, note),
    'note.added': ({ id, kind, text }) => add(notes, `${id} ${kind}: ${text}`),
    'session.ended': ({ id, reason, notes: more }) => add(notes, `${id} ended, ${reason}. ${more?.join(' ') ?? ''}`),
    'step.started': ({ step, session }) => log.push(`- ${session} started step ${step}`),
    'step.checkpointed': ({ step, name, next }) =>
      log.push(`- ${step} reached checkpoint ${name}${next ? `, next: ${next}` : ''}`),
    'step.completed': ({ step, summary }) => log.push(`- ${step} completed: ${summary ?? ''}`),
  };
  return {
    add(type, body) {
      writers[type]?.(body);
    },
    finish(state) {
      position = positionLines(state);
    },
    render: () =>
      [
        ...['# State', '', '## Position', '', ...position, '', '## Decisions', '', ...decisions],
        ...['', '## Items', '', ...items.values(), '', '## Mail', '', ...mail.values(), '', '## Notes', '', ...notes],
      ].join('\n'),
    renderLog: () => ['# Work log', '', ...log].join('\n'),
  };
}

function positionLines(state: State): string[] {
  const steps = [...state.steps.values()];
  return [
    `- Goal: ${state.run?.goal}`,
    ...steps.flatMap(({ key, title, status, gate, checkpoint, checkpoints, holder, lastAgent }) => {
      if (gate?.state === 'closed') return [`- [ ] ${key} ${title}: waits for a person, gate ${key}`];
      if (status !== 'in_progress') return [`- [${status === 'completed' ? 'x' : ' '}] ${key} ${title}: ${status}`];
      const next = checkpoints[checkpoints.indexOf(checkpoint?.name ?? '') + 1];
      const who = holder ? `${holder.agent} is at it` : `left by ${lastAgent}`;
      const nextAction = checkpoint?.next ? ` Next action: ${checkpoint.next}` : '';
      return [`- [ ] step ${key} ${title}: ${who}, checkpoint ${checkpoint?.name}, next: ${next}.${nextAction}`];
    }),
  ];
}
