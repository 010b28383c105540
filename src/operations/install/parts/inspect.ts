import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clients } from '../../../clients/clients.ts';
import { type CodexHook, codexHash, codexKey, trustedHashes } from '../../../clients/codex/trust.ts';
import type { ClientName } from '../../../clients/conversation.ts';
import { ownFolder, type Place } from '../../../clients/installation.ts';
import type { Session } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';
import { pathOf } from './apply.ts';
import { applyEdit, type Edit, isOurs } from './edit.ts';
import { valueAt } from './json-text.ts';
import { type Installed, readRecord } from './manifest.ts';
import { findPlace, recordFolder } from './place.ts';

interface Finding {
  code: string;
  level: 'warning';
  at: string;
  message: string;
}

const warning = (code: string, at: string, message: string): Finding => ({ code, level: 'warning', at, message });

/**
 * Whether what was installed is there, trusted, can be started and has been heard of. Only at a command line: whoever asks
 * from elsewhere has other settings.
 */
export async function inspectInstallations(context: Context): Promise<Finding[]> {
  if (context.environment === undefined) return [];
  const findings: Finding[] = [];
  for (const scope of ['project', 'user'] as const) {
    const place = findPlace(context, scope);
    const folder = recordFolder(place);
    if (!existsSync(join(folder, 'installed.json'))) continue;
    const record = readRecord(folder);
    findings.push(...missing(place, record), ...untrusted(place, record), ...unreachable(place, record));
    findings.push(...(await unheard(context, place, record)));
  }
  return findings;
}

function missing(place: Place, { files }: Installed): Finding[] {
  return Object.entries(files).flatMap(([key, { edits, clients: names }]) => {
    const text = read(pathOf(place, key));
    const again = names
      .map((name) => `\`holdfast install ${name}${place.scope === 'user' ? ' --user' : ''}\``)
      .join(', ');
    if (text === null) return [warning('install.missing', key, `The file is gone; ${again} writes it anew.`)];
    // A text of ours that somebody changed is theirs to change, as long as it is there.
    const lost = edits.some((edit) => edit.kind !== 'whole' && !isIn(text, edit));
    return lost
      ? [warning('install.missing', key, `What Holdfast put there is gone or was changed; ${again} puts it back.`)]
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

/** Codex skips a hook without a word until its user has trusted it, and again after any change of it. */
function untrusted(place: Place, { clients: names, files }: Installed): Finding[] {
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

const START_LIMIT_MS = 10_000;

/** Starts what the settings start, as they do. */
function unreachable(place: Place, { clients: names }: Installed): Finding[] {
  const started = new Map(Object.entries(names).map(([name, { words }]) => [words.join(' '), { name, words }]));
  return [...started.values()].flatMap(({ name, words: [command = '', ...words] }) => {
    const ran = spawnSync(command, [...words, '--version'], {
      cwd: place.root,
      env: { ...place.environment },
      encoding: 'utf8',
      timeout: START_LIMIT_MS,
    });
    if (ran.status === 0 && /^\d+\.\d+/.test(ran.stdout)) return [];
    const again = `\`holdfast install ${name}${place.scope === 'user' ? ' --user' : ''}\``;
    const message = `What the hooks start does not run; ${again} names the program that runs now.`;
    return [warning('install.unreachable', [command, ...words].join(' '), message)];
  });
}

const LATELY_MS = 14 * 24 * 3600 * 1000;

/** A client of which nothing was recorded since it was installed, or for long. */
async function unheard(context: Context, place: Place, { clients: names }: Installed): Promise<Finding[]> {
  const workspace = context.workspace();
  if (place.scope === 'user' || !workspace) return [];
  const engine = await context.engine();
  const heard = new Map<string, string>();
  for (const { run } of await engine.heads({ workspace: workspace.id })) {
    for (const { doc } of await engine.savedRows(run, { kind: 'session', limit: SESSIONS_LIMIT })) {
      const { client, startedAt } = doc as Session;
      if (client && startedAt > (heard.get(client.name) ?? '')) heard.set(client.name, startedAt);
    }
  }
  return Object.keys(names).flatMap((name) => {
    const last = heard.get(name);
    if (last !== undefined && Date.parse(engine.now()) - Date.parse(last) < LATELY_MS) return [];
    const client = clients[name as ClientName];
    const since =
      last === undefined ? 'No hook of it has reported yet' : `Its hooks reported last on ${last.slice(0, 10)}`;
    const [step = 'Start it here once.'] = client?.steps(place) ?? [];
    return [warning('install.silent', name, `${since}. ${step}`)];
  });
}

const SESSIONS_LIMIT = 200;

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch {
    return null;
  }
}
