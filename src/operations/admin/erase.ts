import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import type { Event } from '../../core/journal/event.ts';
import type { Engine } from '../../engine/engine.ts';
import { act, inRun } from '../act.ts';
import { label, reason } from '../fields.ts';
import { defineOperation, described, type Pen } from '../operation.ts';
import { ErasedPlace, erasePlaces } from './parts/erased-places.ts';
import { transcriptPlaces } from './parts/erased-transcripts.ts';
import { lookFor, wordsOf } from './parts/erased-words.ts';

export const erase = defineOperation({
  name: 'erase',
  summary: 'Erase the text of an entry permanently (people only).',
  scope: 'maintain',
  by: 'person',
  words: ['target'],
  examples: [
    'holdfast erase N-8 --reason "a password was pasted"',
    'holdfast erase --found --reason "everything that `holdfast scan` lists"',
  ],
  input: v.object({
    target: v.optional(described(label, 'The id of an entry, or the version of an event.')),
    found: v.optional(described(v.boolean(), 'Erase every event that `holdfast scan` lists for this run.')),
    reason,
  }),
  output: v.object({
    erased: v.array(v.number()),
    run: v.string(),
    version: v.number(),
    places: v.array(ErasedPlace),
  }),
  async run(given, { target, found = false, reason: why }) {
    if ((target === undefined) === !found) throw eitherOr();
    const context = await inRun(given);
    const { run } = context;
    const engine = await context.engine();
    const maintenance = await engine.maintenance();
    const versions =
      target === undefined
        ? (await maintenance.findSecrets(run)).flatMap(({ version, kinds, left }) =>
            left.length < kinds.length ? version : [],
          )
        : await maintenance.versionsAbout(run, target);
    const events = await eventsAt(engine, run, versions);
    const done = await act(context, { type: 'text.erase', versions, reason: why });
    const places = [
      ...(await erasePlaces(context, done.state, lookFor(wordsOf(events)))),
      ...(await transcriptPlaces(context, run, events)),
    ];
    return {
      data: { erased: versions, run, version: done.state.version, places },
      changed: versions.map((version) => ({ path: `event.${version}`, before: 'text', after: 'erased' })),
    };
  },
  say({ erased, places }, pen) {
    if (erased.length === 0) return 'Nothing to erase: no event has text in the form of a secret.';
    const events = `${erased.length} ${erased.length === 1 ? 'event' : 'events'} (${erased.join(', ')})`;
    return [
      `Erased the text of ${events}. The journal still shows that it was there and was erased.`,
      ...places.map((place) => `  ${placeWords(place, pen)}`),
    ].join('\n');
  },
});

const eitherOr = (): Fault =>
  new Fault('usage', 'Give an id or a version, or `--found`, and not both.', {
    hints: ['`holdfast scan` lists what `--found` erases.', '`holdfast erase N-8 --reason TEXT` erases one entry.'],
  });

async function eventsAt(engine: Engine, run: string, versions: readonly number[]): Promise<Event[]> {
  const events: Event[] = [];
  for (const version of versions) {
    const event = await engine.event(run, version);
    if (event) events.push(event);
  }
  return events;
}

function placeWords({ place, state, path, note }: ErasedPlace, pen: Pen): string {
  const shown = state === 'cannot' ? pen.warn(state) : state;
  return `${shown.padEnd(9)}  ${place}${path ? `, ${path}` : ''}${note ? `. ${note}` : ''}`;
}
