import { join } from 'node:path';
import { type ClientName, clientNames, installOf } from '../../clients/index.ts';
import type { WantedFile } from '../../clients/installation.ts';
import { Fault } from '../../core/fault.ts';
import { readDamaged } from '../../workspace/read.ts';
import { localFiles } from '../../workspace/workspace.ts';
import { writeAtomically } from '../../workspace/write.ts';
import { defineOperation } from '../operation.ts';
import { applyChanges, type OpenManifest, planInstall } from './parts/apply.ts';
import { ensureWorkspace, findPlace, isFound, isTemporary, launcherFiles } from './parts/place.ts';
import { changesOf, installFields, reportOf, sayFiles, scopeOf, withManifest } from './parts/report.ts';

export const install = defineOperation({
  name: 'install',
  summary: 'Set up Holdfast in a client: hooks, MCP server, skills, instructions.',
  ...installFields,
  examples: ['holdfast install claude', 'holdfast install all --dry-run', 'holdfast install codex --user'],
  async run(context, input) {
    const scope = scopeOf(input);
    const place = findPlace(context, scope);
    const names = input.client === 'all' ? await findClients(place) : [input.client];
    if (names.length === 0) throw nothingFound();
    const wanted = await wantedBy(names, place);
    const steps: string[] = [];
    for (const name of names) steps.push(...(await installOf(name)).steps(place));
    const notes = [
      ...(isTemporary(place.program)
        ? ['Holdfast runs from the cache of npx, which may be cleared. `npm install -g holdfast` keeps it.']
        : []),
      ...(scope === 'project'
        ? ['To share it, commit these files with `.holdfast/`; teammates without Holdfast are not affected.']
        : []),
    ];
    if (input.dryRun !== true) ensureWorkspace(context, place);
    return withManifest(place, input.dryRun === true, async (open) => {
      const planned = [...wanted.values()].map(({ file, by }) => planInstall(open, by, file));
      if (input.dryRun !== true) {
        if (scope === 'project') ignoreLocal(open);
        applyChanges(open, planned);
        const at = new Date().toISOString();
        for (const name of names) {
          const since = open.manifest.clients[name]?.at ?? at;
          open.manifest.clients[name] = { at: since, words: [...place.start.words] };
        }
      }
      const data = { ...reportOf(place, names, planned, input.dryRun === true), steps, notes };
      return { data, changed: changesOf(planned, input.dryRun === true) };
    });
  },
  say: (data, pen) => sayFiles(data, pen, 'Installed for'),
});

async function findClients(place: ReturnType<typeof findPlace>): Promise<ClientName[]> {
  const found: ClientName[] = [];
  for (const name of clientNames) if (isFound(await installOf(name), place)) found.push(name);
  return found;
}

/** A file that several clients read is written once and removed with the last of them. */
async function wantedBy(names: readonly ClientName[], place: ReturnType<typeof findPlace>) {
  const wanted = new Map<string, { file: WantedFile; by: string[] }>();
  for (const name of names) {
    for (const file of [...launcherFiles(place), ...(await installOf(name)).files(place)]) {
      const found = wanted.get(file.path);
      if (found) found.by.push(name);
      else wanted.set(file.path, { file, by: [name] });
    }
  }
  return wanted;
}

/** An older workspace does not ignore these files yet. */
function ignoreLocal({ folder }: OpenManifest): void {
  const file = join(folder, '.gitignore');
  const text = readDamaged(file) ?? '';
  const missing = localFiles.filter((name) => !text.split(/\r?\n/).includes(name));
  if (missing.length > 0)
    writeAtomically(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
}

function nothingFound(): Fault {
  return new Fault('not_found', 'No client was found: neither a command nor a settings folder of one.', {
    hints: [`Name the one you will use: \`holdfast install claude\`. Known clients: ${clientNames.join(', ')}.`],
    data: { clients: clientNames },
  });
}
