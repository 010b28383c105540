import { join } from 'node:path';
import * as v from 'valibot';
import { type CodexHook, codexHash, codexKey, trustedHashes } from '../../../clients/codex/trust.ts';
import { clientNames, installOf } from '../../../clients/index.ts';
import { type Edit, ownFolder, type Place } from '../../../clients/installation.ts';
import type { Session } from '../../../core/fold/state.ts';
import { findProgram } from '../../../workspace/program.ts';
import { readDamaged } from '../../../workspace/read.ts';
import type { Context } from '../../context.ts';
import { pathOf } from './apply.ts';
import { applyEdit, isOurs } from './edit.ts';
import { valueAt } from './json-text.ts';
import { hasManifest, type Manifest, readManifest } from './manifest.ts';
import { findPlace, manifestFolder } from './place.ts';

interface Finding {
  code: string;
  level: 'warning';
  at: string;
  message: string;
}

const warning = (code: string, at: string, message: string): Finding => ({ code, level: 'warning', at, message });

/** A client that is set up, and when its hooks last reported from this workspace. */
export const InstalledClient = v.object({
  client: v.string(),
  scope: v.picklist(['project', 'user']),
  reportedAt: v.nullable(v.string()),
});
export type InstalledClient = v.InferOutput<typeof InstalledClient>;

/**
 * Checks that what was installed is there, trusted, starts and has reported. Only at a command line: elsewhere the
 * environment, and so the user's settings, may be another one.
 */
export async function inspectInstallations(
  context: Context,
): Promise<{ findings: Finding[]; clients: InstalledClient[] }> {
  const findings: Finding[] = [];
  const clients: InstalledClient[] = [];
  if (context.environment === undefined) return { findings, clients };
  const reported = await lastReports(context);
  for (const scope of ['project', 'user'] as const) {
    const place = findPlace(context, scope);
    const folder = manifestFolder(context, place);
    if (!hasManifest(folder)) continue;
    const manifest = readManifest(folder);
    findings.push(...missing(place, manifest), ...untrusted(place, manifest));
    findings.push(...unreachable(place, manifest), ...(await silent(context, place, manifest, reported)));
    const names = Object.keys(manifest.clients);
    clients.push(...names.map((client) => ({ client, scope, reportedAt: reported.get(client) ?? null })));
  }
  return { findings, clients };
}

function missing(place: Place, { files }: Manifest): Finding[] {
  return Object.entries(files).flatMap(([key, { edits, clients: names }]) => {
    const text = read(pathOf(place, key));
    const again = names.map((name) => installCommand(place, name)).join(', ');
    if (text === null) return [warning('install.missing', key, `The file is gone; ${again} writes it again.`)];
    // The user may change a file of ours as long as it is there.
    const lost = edits.some((edit) => edit.kind !== 'whole' && !isIn(text, edit));
    return lost
      ? [warning('install.missing', key, `The entries of Holdfast are gone or were changed; ${again} restores them.`)]
      : [];
  });
}

function isIn(text: string, edit: Edit): boolean {
  try {
    return applyEdit(text, edit).text === text;
  } catch {
    return false;
  }
}

/** Codex silently skips a hook until its user has trusted it, and again after any change of it. */
function untrusted(place: Place, { clients: names, files }: Manifest): Finding[] {
  if (!('codex' in names)) return [];
  const key = Object.keys(files).find((one) => /[\\/]hooks\.json$/.test(one) && one.includes('codex')) ?? '';
  const file = key === '' ? '' : pathOf(place, key);
  const text = file === '' ? null : read(file);
  if (text === null) return [];
  const settings = read(join(ownFolder(place, 'CODEX_HOME', '.codex'), 'config.toml')) ?? '';
  const hashes = trustedHashes(settings);
  const ours = hooksIn(text).filter(({ handlerWords }) => isOurs(handlerWords));
  const not = ours.filter((hook) => hashes.get(codexKey(file, hook)) !== codexHash(hook));
  if (not.length === 0) return [];
  const which = not.length === ours.length ? 'None of the hooks is' : `${not.map((hook) => hook.event).join(', ')} not`;
  return [warning('install.untrusted', key, `${which} trusted. Start \`codex\`, open \`/hooks\` and trust them.`)];
}

function hooksIn(text: string): CodexHook[] {
  const events = valueAt(text, ['hooks']);
  if (typeof events !== 'object' || events === null) return [];
  return Object.entries(events).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((one: { matcher?: string; hooks?: unknown }, group) =>
      (Array.isArray(one?.hooks) ? one.hooks : []).map((handlerWords: Record<string, unknown>, handler) => ({
        event,
        group,
        handler,
        matcher: one.matcher,
        handlerWords,
      })),
    ),
  );
}

/** Compares the program that the settings start with the one that runs: nothing from a record is started. */
function unreachable(place: ReturnType<typeof findPlace>, { clients: names }: Manifest): Finding[] {
  if (place.scope === 'project') {
    if (findProgram('holdfast-hook', place.root) !== null) return [];
    const message = 'Hooks of this project call `holdfast-hook` from your search path, where it is not.';
    return [warning('install.unreachable', 'holdfast-hook', `${message} \`npm install -g holdfast\` puts it there.`)];
  }
  const wanted = place.start.words.join(' ');
  return Object.entries(names).flatMap(([name, { words }]) => {
    if (words.join(' ') === wanted) return [];
    const message = `Its settings start another program than this one; ${installCommand(place, name)} writes this one.`;
    return [warning('install.unreachable', name, message)];
  });
}

const installCommand = ({ scope }: Place, name: string): string =>
  `\`holdfast install ${name}${scope === 'project' ? ' --project' : ''}\``;

const LATELY_MS = 14 * 24 * 3600 * 1000;

/** Finds clients whose hooks have never reported, or not for a long time. */
async function silent(
  context: Context,
  place: Place,
  { clients: names }: Manifest,
  reported: ReadonlyMap<string, string>,
): Promise<Finding[]> {
  // A user has clients for all projects and need not use each of them in this one.
  if (place.scope === 'user') return [];
  const findings: Finding[] = [];
  for (const name of Object.keys(names)) {
    const last = reported.get(name);
    if (last !== undefined && Date.parse(context.now()) - Date.parse(last) < LATELY_MS) continue;
    const client = clientNames.find((one) => one === name);
    const since =
      last === undefined ? 'Its hooks have not reported yet' : `Its hooks last reported on ${last.slice(0, 10)}`;
    const [step = 'Start it here once.'] = client ? (await installOf(client)).steps(place) : [];
    findings.push(warning('install.silent', name, `${since}. ${step}`));
  }
  return findings;
}

/** When the hooks of each client last reported from this workspace. */
async function lastReports(context: Context): Promise<Map<string, string>> {
  const reported = new Map<string, string>();
  const workspace = context.workspace();
  if (!workspace) return reported;
  const engine = await context.engine();
  for (const { run } of await engine.heads({ workspace: workspace.ids })) {
    for (const { doc } of await engine.savedRows(run, { kind: 'session', limit: SESSIONS_LIMIT })) {
      const { client, startedAt, seenAt = startedAt } = doc as Session;
      if (client && seenAt > (reported.get(client.name) ?? '')) reported.set(client.name, seenAt);
    }
  }
  return reported;
}

const SESSIONS_LIMIT = 200;

const read = (path: string): string | null => readDamaged(path)?.replace(/^\ufeff/, '') ?? null;
