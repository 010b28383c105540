import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStateFolder, thisUser } from '../../../src/workspace/state/folder.ts';
import { saveTrust } from '../../../src/workspace/state/trust.ts';
import { findWorkspace } from '../../../src/workspace/workspace.ts';
import type { Random } from '../faults/random.ts';
import type { Ground } from './ground.ts';
import { callSome, type Tally } from './plant.ts';

/** Random `holdfast.json`, agreed to in part, and changed between the agreement and the use. */
export async function proposalCase(ground: Ground, random: Random, tally: Tally): Promise<string[]> {
  const { shop } = ground;
  const file = join(shop, 'holdfast.json');
  const state = openStateFolder(thisUser());
  writeFileSync(file, proposal(ground, random));
  const seen = findWorkspace(shop);
  const findings: string[] = [];
  const harmless = { capture: { ignorePaths: ['secret/**'] } };
  if (seen?.proposals && state && random.chance(0.5)) {
    const about = { at: '2026-01-01T00:00:00.000Z', by: 'ada', evidence: 'terminal' };
    const { clone, place } = seen;
    const agreed = JSON.stringify(harmless);
    writeFileSync(file, agreed);
    const hash = findWorkspace(shop)?.proposals?.hash ?? null;
    saveTrust(state, { clone: clone.clone, place, hash, settings: harmless, ...about });
    if (findWorkspace(shop)?.trustState !== 'trusted') findings.push('what was agreed to is not in force');
    // The bytes change after they were agreed to.
    writeFileSync(file, random.chance(0.2) ? `${agreed} ` : proposal(ground, random));
  }
  const used = findWorkspace(shop);
  if (used && used.trustState !== 'trusted' && (used.config.store !== undefined || used.config.notify !== undefined))
    findings.push('settings that nobody agreed to are in force');
  const ran = await callSome(ground, random, tally, 1);
  writeFileSync(file, '{}');
  return findings.map((words) => `${words}; ${ran}`);
}

function proposal({ port, top }: Ground, random: Random): string {
  const touch = ['sh', '-c', `: >${join(top, 'ran/notify')}`];
  const values = [
    `postgres://x@127.0.0.1:${port}/x`,
    `http://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `../outside/theirs.md`,
    touch,
    touch.join(' '),
    { address: `http://127.0.0.1:${port}/` },
    { program: touch },
    null,
    7,
    [],
    { __proto__: { store: 'x' } },
  ];
  const keys = ['store', 'notify', 'capture', 'share', 'workspace', 'program', '__proto__', 'constructor'];
  const settings = Object.fromEntries(
    random.sample(keys, 1 + random.below(4)).map((key) => [key, random.pick(values)]),
  );
  const text = JSON.stringify(settings);
  if (random.chance(0.1)) return text.slice(0, random.below(text.length));
  return random.chance(0.1) ? `\ufeff${text}` : text;
}

/** Keys of git that name a program, or something that git fetches or opens. */
const PROGRAM_KEYS = [
  ...['core.fsmonitor', 'core.hooksPath', 'core.sshCommand', 'core.editor', 'core.pager', 'core.askPass'],
  ...['core.gitProxy', 'core.alternateRefsCommand', 'core.attributesFile', 'core.worktree', 'core.excludesFile'],
  ...[
    'credential.helper',
    'credential.https://x.helper',
    'diff.external',
    'diff.canary.command',
    'diff.canary.textconv',
  ],
  ...['diff.guitool', 'difftool.canary.cmd', 'merge.canary.driver', 'mergetool.canary.cmd', 'sequence.editor'],
  ...['filter.canary.clean', 'filter.canary.smudge', 'filter.canary.process', 'filter.canary.required'],
  ...['gpg.program', 'gpg.ssh.program', 'gpg.x509.program', 'gpg.ssh.defaultKeyCommand', 'log.showSignature'],
  ...[
    'pager.status',
    'pager.log',
    'pager.rev-list',
    'pager.config',
    'interactive.diffFilter',
    'alias.status',
    'alias.log',
  ],
  ...['alias.rev-parse', 'alias.rev-list', 'alias.config', 'remote.origin.uploadpack', 'remote.origin.receivepack'],
  ...['remote.origin.vcs', 'remote.origin.url', 'remote.origin.promisor', 'remote.origin.partialclonefilter'],
  ...[
    'extensions.partialClone',
    'uploadpack.packObjectsHook',
    'submodule.x.update',
    'init.templateDir',
    'include.path',
  ],
  ...[
    'instaweb.browser',
    'browser.canary.cmd',
    'man.canary.cmd',
    'web.browser',
    'sendemail.smtpserver',
    'trailer.x.command',
  ],
  ...['receive.procReceiveRefs', 'maintenance.auto', 'gc.auto', 'fetch.recurseSubmodules', 'status.submoduleSummary'],
];

/** Random `.git/config` and attributes, as an unpacked archive brings them. */
export async function configurationCase(ground: Ground, random: Random, tally: Tally): Promise<string> {
  const { shop, top, port } = ground;
  const file = join(shop, '.git/config');
  const before = readFileSync(file);
  const values = [
    `${join(top, 'bin/canary')} #`,
    `!${join(top, 'bin/canary')}`,
    'canary',
    `: >${join(top, 'ran/shell')}; true`,
    join(top, 'bin'),
    `http://127.0.0.1:${port}/x.git`,
    `ext::${join(top, 'bin/canary')}`,
    'true',
  ];
  const chosen = random.sample(PROGRAM_KEYS, 1 + random.below(6));
  const lines = chosen.map((key) => `${sectionOf(key)}\n\t${key.split('.').at(-1)} = ${quote(random.pick(values))}\n`);
  writeFileSync(file, `${before.toString('utf8')}${lines.join('')}`);
  const attributes = join(shop, '.git/info/attributes');
  writeFileSync(attributes, '* filter=canary diff=canary merge=canary\n');
  writeFileSync(join(shop, 'README.md'), `# Shop ${random.below(1e9)}\n`);
  const ran = await callSome(ground, random, tally, 1);
  const resumed = await ground.call('resume', {});
  tally.set(resumed, (tally.get(resumed) ?? 0) + 1);
  writeFileSync(file, before);
  writeFileSync(attributes, '');
  return `${chosen.join(', ')}; ${ran}`;
}

function sectionOf(key: string): string {
  const [section, ...rest] = key.split('.');
  const name = rest.slice(0, -1).join('.');
  return name === '' ? `[${section}]` : `[${section} "${name}"]`;
}

const quote = (value: string): string => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
