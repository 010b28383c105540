import * as v from 'valibot';
import { type ClientName, clientNames, clients, installOf } from '../../clients/index.ts';
import type { WantedFile } from '../../clients/installation.ts';
import { Fault } from '../../core/fault.ts';
import { findProgram } from '../../workspace/program.ts';
import { defineOperation } from '../operation.ts';
import { applyChanges, planInstall } from './parts/apply.ts';
import { ensureWorkspace, filesFor, findPlace, isFound, isTemporary } from './parts/place.ts';
import { changesOf, installFields, reportOf, sayFiles, scopeOf, withManifest } from './parts/report.ts';

export const install = defineOperation({
  name: 'install',
  summary: 'Set up Holdfast in a client: hooks, MCP server, skills, instructions.',
  ...installFields,
  input: v.object({ ...installFields.input.entries, client: v.optional(installFields.input.entries.client) }),
  examples: ['holdfast install claude', 'holdfast install all --dry-run', 'holdfast install codex --project'],
  async run(context, { client, ...input }) {
    const scope = scopeOf(input);
    const place = findPlace(context, scope);
    if (client === undefined) throw notNamed(await findClients(place));
    const names = client === 'all' ? await findClients(place) : [client];
    if (names.length === 0) throw nothingFound();
    const wanted = await wantedBy(names, place);
    const steps = scope === 'project' && findProgram('holdfast', place.root) === null ? [NOT_FOUND] : [];
    for (const name of names) steps.push(...(await installOf(name)).steps(place));
    const notes = [
      ...(isTemporary(place.program)
        ? ['Holdfast runs from the cache of npx, which may be cleared. `npm install -g holdfast` keeps it.']
        : []),
      ...(scope === 'project' ? ['To share it, commit these files; teammates without Holdfast are not affected.'] : []),
      ...(scope === 'user' && input.dryRun !== true ? [completionLine(place.environment['SHELL'] ?? ''), USAGE] : []),
    ];
    if (input.dryRun !== true) ensureWorkspace(context, place);
    return withManifest(context, place, input.dryRun === true, async (open) => {
      const planned = [...wanted.values()].map(({ file, by }) => planInstall(open, by, file));
      if (input.dryRun !== true) {
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

/** A path of this machine does not belong into settings that are shared. */
const NOT_FOUND =
  'The settings of this project call `holdfast-hook` from your search path, where it is not. `npm install -g holdfast` puts it there; `holdfast install CLIENT` works without.';

const USAGE =
  'Now work as usual: each git repository gets its own record, inside `.git`. `holdfast doctor` says whether it works, `holdfast capture off` stops it in a repository.';

/** The one line that switches completions on; `holdfast completion` names it for each shell. */
function completionLine(shell: string): string {
  if (/fish$/.test(shell)) return 'Completions: holdfast completion fish > ~/.config/fish/completions/holdfast.fish';
  if (/zsh$/.test(shell)) return `Completions: echo 'source <(holdfast completion zsh)' >> ~/.zshrc`;
  return `Completions: echo 'eval "$(holdfast completion bash)"' >> ~/.bashrc`;
}

function notNamed(found: readonly ClientName[]): Fault {
  const shown = found.length > 0 ? found : clientNames;
  return new Fault('usage', '`install` needs a client.', {
    hints: [
      found.length > 0 ? 'Found here:' : 'None was found here; choose the one you will use:',
      ...shown.map((name) => `${`\`holdfast install ${name}\``.padEnd(29)}${clients[name].title}`),
    ],
    data: { found, clients: clientNames },
  });
}

async function findClients(place: ReturnType<typeof findPlace>): Promise<ClientName[]> {
  const found: ClientName[] = [];
  for (const name of clientNames) if (isFound(await installOf(name), place)) found.push(name);
  return found;
}

/** A file that several clients read is written once and removed with the last of them. */
async function wantedBy(names: readonly ClientName[], place: ReturnType<typeof findPlace>) {
  const wanted = new Map<string, { file: WantedFile; by: string[] }>();
  for (const name of names) {
    for (const file of await filesFor(name, place)) {
      const found = wanted.get(file.path);
      if (found) found.by.push(name);
      else wanted.set(file.path, { file, by: [name] });
    }
  }
  return wanted;
}

function nothingFound(): Fault {
  return new Fault('not_found', 'No client was found: neither a command nor a settings folder of one.', {
    hints: [`Name the one you will use: \`holdfast install claude\`. Known clients: ${clientNames.join(', ')}.`],
    data: { clients: clientNames },
  });
}
