import { type ClientName, clientNames, installOf } from '../../clients/index.ts';
import type { WantedFile } from '../../clients/installation.ts';
import type { Context } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { applyChanges, type FileChange, keyOf, type OpenManifest, pathOf, planUninstall } from './parts/apply.ts';
import { hasManifest } from './parts/manifest.ts';
import { filesFor, findPlace, manifestFolder } from './parts/place.ts';
import { changesOf, installFields, reportOf, sayFiles, scopeOf, withManifest } from './parts/report.ts';

export const uninstall = defineOperation({
  name: 'uninstall',
  summary: 'Remove Holdfast from a client; a file that was not edited since is restored as it was.',
  ...installFields,
  examples: ['holdfast uninstall claude', 'holdfast uninstall all --project'],
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
      const elsewhere = place.scope === 'user' && planned.length === 0 ? inProject(context, input.client) : [];
      const data = { ...reportOf(place, reported, planned, input.dryRun === true), steps: elsewhere, notes: [] };
      return { data, changed: changesOf(planned, input.dryRun === true) };
    });
  },
  say: (data, pen) => sayFiles(data, pen, 'Removed from'),
});

/** Where to remove it, if it is installed in this project only. */
function inProject(context: Context, client: string): string[] {
  const folder = manifestFolder(context, findPlace(context, 'project'));
  return hasManifest(folder) ? [`It is installed in this project: \`holdfast uninstall ${client} --project\`.`] : [];
}

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
