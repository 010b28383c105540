import { type ClientName, clientNames, installOf } from '../../clients/index.ts';
import type { WantedFile } from '../../clients/installation.ts';
import { defineOperation } from '../operation.ts';
import { applyChanges, type FileChange, keyOf, type OpenManifest, pathOf, planUninstall } from './parts/apply.ts';
import { filesFor, findPlace } from './parts/place.ts';
import { changesOf, installFields, reportOf, sayFiles, scopeOf, withManifest } from './parts/report.ts';

export const uninstall = defineOperation({
  name: 'uninstall',
  summary: 'Remove Holdfast from a client; a file that was not edited since is restored as it was.',
  ...installFields,
  examples: ['holdfast uninstall claude', 'holdfast uninstall all --user'],
  async run(context, input) {
    const place = findPlace(context, scopeOf(input));
    const names = input.client === 'all' ? [...clientNames] : [input.client];
    return withManifest(context, place, input.dryRun === true, async (open) => {
      const planned = await planAll(open, names, place);
      const reported = input.client === 'all' ? await installedClients(open, planned, place) : names;
      if (input.dryRun !== true) {
        applyChanges(open, planned);
        for (const name of names) delete open.manifest.clients[name];
      }
      const data = { ...reportOf(place, reported, planned, input.dryRun === true), steps: [], notes: [] };
      return { data, changed: changesOf(planned, input.dryRun === true) };
    });
  },
  say: (data, pen) => sayFiles(data, pen, 'Removed from'),
});

/** Takes the files of the manifest and, where there is none, as in a clone, those with entries of ours. */
async function planAll(
  open: OpenManifest,
  names: readonly ClientName[],
  place: ReturnType<typeof findPlace>,
): Promise<FileChange[]> {
  const wanted = new Map<string, WantedFile>();
  for (const name of names) {
    for (const file of await filesFor(name, place)) wanted.set(keyOf(place, file.path), file);
  }
  const recorded = Object.entries(open.manifest.files)
    .filter(([, entry]) => entry.clients.some((name) => (names as readonly string[]).includes(name)))
    .map(([key]) => planUninstall(open, names, pathOf(place, key), wanted.get(key)));
  const known = new Set(Object.keys(open.manifest.files));
  const marked = [...wanted]
    .filter(([key]) => !known.has(key))
    .map(([, file]) => planUninstall(open, names, file.path, file));
  // Files without entries of ours are not reported.
  return [...recorded, ...marked.filter((change) => change.action !== 'unchanged')];
}

/** The clients in the manifest or, in a clone, those that have hooks of ours. */
async function installedClients(
  open: OpenManifest,
  planned: readonly FileChange[],
  place: ReturnType<typeof findPlace>,
): Promise<ClientName[]> {
  const recorded = clientNames.filter((name) => name in open.manifest.clients);
  if (recorded.length > 0) return recorded;
  const keys = new Set(planned.map(({ key }) => key));
  const hasOurs = ({ path, holds }: WantedFile): boolean => /hooks|plugin/.test(holds) && keys.has(keyOf(place, path));
  const marked: ClientName[] = [];
  for (const name of clientNames) if ((await installOf(name)).files(place).some(hasOurs)) marked.push(name);
  return marked.length > 0 ? marked : [...clientNames];
}
