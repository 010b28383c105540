import * as v from 'valibot';
import { asFault, Fault, quoted } from '../../core/fault.ts';
import type { State } from '../../core/fold/state.ts';
import type { Command } from '../../core/journal/command.ts';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { StepKey } from '../../core/text.ts';
import { EffectOutcome, SettledAs } from '../../core/words.ts';
import { act, currentRun, currentState, inRun } from '../act.ts';
import type { Context } from '../context.ts';
import { note, reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { Made } from './decide.ts';
import { openLines } from './parts/named.ts';

const As = v.picklist([...SettledAs.options, ...EffectOutcome.options]);

export const settle = defineOperation({
  name: 'settle',
  summary: 'Close something open: an item, or an uncertain effect with how it ended; `active` reopens an item.',
  scope: 'write',
  words: ['id', 'as'],
  flags: { followUp: 'follow-up' },
  examples: ['holdfast settle B-3 resolved --note "credentials arrived"', 'holdfast settle X-7 succeeded'],
  async suggest(context, { id }) {
    const state = await currentState(context);
    if (typeof id !== 'string') return openLines(state);
    const words: readonly string[] = /^X-/.test(id) ? EffectOutcome.options : SettledAs.options;
    return words.map((one) => `\`holdfast settle ${id} ${one}\``);
  },
  input: v.object({
    id: reference,
    as: described(As, 'What it becomes; the last four are for effects.'),
    note,
    followUp: v.optional(described(v.array(StepKey), 'A step that replaces a bypass.')),
  }),
  output: v.object({ ...Made.entries, status: v.string(), freed: v.array(v.string()) }),
  async run(given, { id, as, note: remark, followUp }) {
    const context = await inRun(given);
    const outcome = EffectOutcome.options.find((one) => one === as);
    const settled = SettledAs.options.find((one) => one === as);
    const isEffect = await isEffectId(context, id);
    if (isEffect ? outcome === undefined : settled === undefined) throw wrongWord(id, as, isEffect);
    const command: Command = outcome
      ? { type: 'effect.end', id, outcome, note: remark }
      : { type: 'item.settle', id, as: settled ?? 'resolved', note: remark, followUp };
    const done = await act(context, command).catch(async (thrown: unknown) => {
      throw withOpen(asFault(thrown), await currentState(context));
    });
    const event = done.events.find((one) => one.type === 'item.settled');
    return {
      data: {
        id: event?.body.id ?? id,
        status: as,
        freed: event?.body.freed ?? [],
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, status, freed }, pen) =>
    line`${pen.bold(ownId(id))} is ${id.startsWith('X-') ? line`recorded as ` : ''}${word(status)}.${freed.length > 0 ? line` This frees ${joined(freed.map((key) => pen.quote(key, 'name')))}.` : ''}`,
});

/** Something that is not there is refused with what is open. */
function withOpen(fault: Fault, state: State): Fault {
  const open = openLines(state);
  if (fault.code !== 'not_found' || open.length === 0) return fault;
  const { message, hints, data } = fault;
  const near = hints.filter((hint) => hint.startsWith('Did you mean'));
  return new Fault('not_found', message, { hints: [...near, 'Open now:', ...open], data });
}

/** An effect may also be named by its key. */
async function isEffectId(context: Context, id: string): Promise<boolean> {
  if (/^[A-Z]-\d+/.test(id)) return id.startsWith('X-');
  const run = await currentRun(context);
  const found = await (await context.engine()).recall(run, [id]);
  return found.length > 0 && found.every((row) => row.kind === 'effect');
}

function wrongWord(id: string, as: string, isEffect: boolean): Fault {
  const allowed = isEffect ? EffectOutcome.options : SettledAs.options;
  const what = isEffect ? 'an effect, which ends as' : 'an item, which becomes';
  return new Fault('invalid', `${quoted(id)} is ${what} ${allowed.join(', ')}; not ${quoted(as)}.`, {
    hints: allowed.map((one) => `\`holdfast settle ${id} ${one}\``),
    data: { field: 'as', allowed: [...allowed] },
  });
}
