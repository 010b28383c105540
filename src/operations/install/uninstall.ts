import * as v from 'valibot';
import { clients } from '../../clients/clients.ts';
import { type ClientName, clientNames } from '../../clients/conversation.ts';
import type { WantedFile } from '../../clients/installation.ts';
import { defineOperation } from '../operation.ts';
import { carryOut, type Desk, keyOf, pathOf, planUninstall, type Step } from './parts/apply.ts';
import { findPlace, launcherFiles } from './parts/place.ts';
import {
  atDesk,
  ChosenClient,
  changesOf,
  dryRun,
  Installation,
  project,
  reportOf,
  sayFiles,
  scopeOf,
  user,
} from './parts/report.ts';

export const uninstall = defineOperation({
  name: 'uninstall',
  summary: "Take Holdfast out of an agent's client again; a file that nobody touched since is as it was.",
  scope: 'write',
  local: true,
  words: ['client'],
  flags: { dryRun: 'dry-run' },
  examples: ['holdfast uninstall claude', 'holdfast uninstall all --user'],
  input: v.object({ client: ChosenClient, project, user, dryRun }),
  output: Installation,
  async run(context, input) {
    const place = findPlace(context, scopeOf(input));
    const names = input.client === 'all' ? [...clientNames] : [input.client];
    return atDesk(place, input.dryRun === true, async (desk) => {
      const planned = planAll(desk, names, place);
      const told = input.client === 'all' ? thoseIn(desk, planned, place) : names;
      if (input.dryRun !== true) {
        carryOut(desk, planned);
        for (const name of names) delete desk.record.clients[name];
      }
      const data = { ...reportOf(place, told, planned, input.dryRun === true), steps: [], notes: [] };
      return { data, changed: changesOf(planned, input.dryRun === true) };
    });
  },
  say: (data, pen) => sayFiles(data, pen, 'Taken out of'),
});

/** What the record tells of; and where there is none, as in a clone, what bears our marks. */
function planAll(desk: Desk, names: readonly ClientName[], place: ReturnType<typeof findPlace>): Step[] {
  const wanted = new Map<string, WantedFile>();
  for (const name of names) {
    // With others still there, the launcher is theirs too, and what the record does not know is not taken.
    const alone = Object.keys(desk.record.clients).every((other) => (names as readonly string[]).includes(other));
    const files = [...clients[name].files(place), ...(alone ? launcherFiles(place) : [])];
    for (const file of files) wanted.set(keyOf(place, file.path), file);
  }
  const recorded = Object.entries(desk.record.files)
    .filter(([, entry]) => entry.clients.some((name) => (names as readonly string[]).includes(name)))
    .map(([key]) => planUninstall(desk, names, pathOf(place, key), wanted.get(key)));
  const known = new Set(Object.keys(desk.record.files));
  const marked = [...wanted]
    .filter(([key]) => !known.has(key))
    .map(([, file]) => planUninstall(desk, names, file.path, file));
  // What was not there is not worth a word.
  return [...recorded, ...marked.filter((step) => step.action !== 'unchanged')];
}

/** Of all clients those that it was installed for; in a clone, those that have hooks of ours. */
function thoseIn(desk: Desk, planned: readonly Step[], place: ReturnType<typeof findPlace>): ClientName[] {
  const recorded = clientNames.filter((name) => name in desk.record.clients);
  if (recorded.length > 0) return recorded;
  const keys = new Set(planned.map(({ key }) => key));
  const hasOurs = ({ path, holds }: WantedFile): boolean => /hooks|plugin/.test(holds) && keys.has(keyOf(place, path));
  const marked = clientNames.filter((name) => clients[name].files(place).some(hasOurs));
  return marked.length > 0 ? marked : [...clientNames];
}
