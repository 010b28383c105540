import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { clients } from '../../clients/clients.ts';
import { type ClientName, clientNames } from '../../clients/conversation.ts';
import type { WantedFile } from '../../clients/installation.ts';
import { Fault } from '../../core/fault.ts';
import { localFiles } from '../../workspace/workspace.ts';
import { defineOperation } from '../operation.ts';
import { carryOut, type Desk, planInstall } from './parts/apply.ts';
import { findPlace, isFound, isPassing, launcherFiles, makePlace } from './parts/place.ts';
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

export const install = defineOperation({
  name: 'install',
  summary: "Wire Holdfast into an agent's client: hooks, MCP server, skills, instructions.",
  scope: 'write',
  local: true,
  words: ['client'],
  flags: { dryRun: 'dry-run' },
  examples: ['holdfast install claude', 'holdfast install all --dry-run', 'holdfast install codex --user'],
  input: v.object({ client: ChosenClient, project, user, dryRun }),
  output: Installation,
  async run(context, input) {
    const scope = scopeOf(input);
    const place = findPlace(context, scope);
    const names = input.client === 'all' ? clientNames.filter((name) => isFound(clients[name], place)) : [input.client];
    if (names.length === 0) throw nothingFound();
    const wanted = wantedBy(names, place);
    const steps = names.flatMap((name) => clients[name].steps(place));
    const notes = [
      ...(isPassing(place.program)
        ? ['Holdfast runs from what npx has fetched, which may be cleared away. `npm install -g holdfast` keeps it.']
        : []),
      ...(scope === 'project'
        ? ['To share it, commit these files with `.holdfast/`; who has no Holdfast installed is not disturbed by them.']
        : []),
    ];
    if (input.dryRun !== true) makePlace(context, place);
    return atDesk(place, input.dryRun === true, async (desk) => {
      const planned = [...wanted.values()].map(({ file, by }) => planInstall(desk, by, file));
      if (input.dryRun !== true) {
        if (scope === 'project') ignoreLocal(desk);
        carryOut(desk, planned);
        const at = new Date().toISOString();
        for (const name of names) {
          const since = desk.record.clients[name]?.at ?? at;
          desk.record.clients[name] = { at: since, words: [...place.start.words] };
        }
      }
      const data = { ...reportOf(place, names, planned, input.dryRun === true), steps, notes };
      return { data, changed: changesOf(planned, input.dryRun === true) };
    });
  },
  say: (data, pen) => sayFiles(data, pen, 'Installed for'),
});

/** Files that several clients read are written once, and go with the last of them. */
function wantedBy(names: readonly ClientName[], place: ReturnType<typeof findPlace>) {
  const wanted = new Map<string, { file: WantedFile; by: string[] }>();
  for (const name of names) {
    for (const file of [...launcherFiles(place), ...clients[name].files(place)]) {
      const found = wanted.get(file.path);
      if (found) found.by.push(name);
      else wanted.set(file.path, { file, by: [name] });
    }
  }
  return wanted;
}

/** A workspace that is older than this says nothing of these files yet. */
function ignoreLocal({ folder }: Desk): void {
  const file = join(folder, '.gitignore');
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // There is none.
  }
  const missing = localFiles.filter((name) => !text.split(/\r?\n/).includes(name));
  if (missing.length > 0)
    writeFileSync(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
}

function nothingFound(): Fault {
  return new Fault('not_found', "No agent's client was found: none of their commands, none of their folders.", {
    hints: [`Name the one you will use: \`holdfast install claude\`. Known are ${clientNames.join(', ')}.`],
    data: { clients: clientNames },
  });
}
