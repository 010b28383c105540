import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findProgram } from '../program.ts';
import { type Repository, readSmall } from './repository.ts';

export type GitAnswer = { output: string } | { failed: string };

/**
 * Runs git in a working tree so that nothing the repository configures is run: no hook, filter, file monitor, pager,
 * helper, remote or external diff. An unpacked archive brings its own `.git/config`, and even `git status` runs what
 * stands there.
 *
 * Never with `--git-dir` or `--work-tree`: they skip git's own check of who the repository belongs to.
 */
export async function runGit(repository: Repository, cwd: string, words: readonly string[]): Promise<GitAnswer> {
  const git = findProgram('git', repository.root);
  if (git === null) return { failed: 'git was not found' };
  const overrides = await localOverrides(git, repository);
  if ('failed' in overrides) return overrides;
  return start(git, repository, cwd, [...overrides.settings, ...words]);
}

/** Whether git itself would work in a repository, by its rule about owners and the user's `safe.directory`. */
export function acceptsRepository(repository: Repository): boolean {
  const common = answerOf(repository, ['rev-parse', '--git-common-dir']);
  return common !== null && realpathSync(resolve(repository.root, common)) === repository.commonDir;
}

/** The first commit of the history, which all clones have; null where it is not known: no commit yet, a shallow clone. */
export function rootCommit(repository: Repository): string | null {
  if (statSync(join(repository.commonDir, 'shallow'), { throwIfNoEntry: false })) return null;
  const rootOf = (name: string) => answerOf(repository, ['rev-list', '--max-parents=0', '--first-parent', name]);
  const roots = rootOf('refs/remotes/origin/HEAD') ?? rootOf('HEAD') ?? '';
  return /^[0-9a-f]{40,64}$/m.exec(roots)?.[0] ?? null;
}

/** For the few questions that must be answered before anything else can begin. */
function answerOf({ root }: Repository, words: readonly string[]): string | null {
  const git = findProgram('git', root);
  if (git === null) return null;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const answer = spawnSync(git, ['-C', root, ...SAFE_SETTINGS, ...words], {
    ...{ env: safeEnvironment(root), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    timeout: BRIEF_PATIENCE_MS,
    windowsHide: true,
  });
  return answer.status === 0 ? answer.stdout.trimEnd() : null;
}

/** What a repository could make git run, switched off. An empty value removes a helper. */
const SAFE_SETTINGS: readonly string[] = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'protocol.allow=never',
  'core.sshCommand=false',
  'credential.helper=',
  'diff.external=',
  'core.pager=cat',
  'log.showSignature=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'safe.bareRepository=explicit',
].flatMap((setting) => ['-c', setting]);

/**
 * Clean and smudge filters have names of their own, so they are looked up first, and only those of the repository are
 * switched off: those of the user's own settings are the user's wish. Most repositories have none, which their
 * configuration shows without starting git.
 */
async function localOverrides(
  git: string,
  repository: Repository,
): Promise<{ settings: string[] } | { failed: string }> {
  const files = [join(repository.commonDir, 'config'), join(repository.gitDir, 'config.worktree')];
  const configured = files.map(configurationIn).join('\n').toLowerCase();
  if (/worktree\s*=/.test(configured) && repository.gitDir !== repository.commonDir) {
    return { failed: 'its configuration names another working tree' };
  }
  if (!/filter|include/.test(configured)) return { settings: [] };
  const pattern = '^filter\\..*\\.(clean|process|smudge)$';
  const asked = await start(git, repository, repository.root, [
    'config',
    '--null',
    '--show-scope',
    '--get-regexp',
    pattern,
  ]);
  // Exit code 1 is git's way to say that there are none.
  if ('failed' in asked) return asked.failed === 'git ended with 1' ? { settings: [] } : asked;
  const fields = asked.output.split('\0');
  const settings: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [scope = '', entry = ''] = [fields[index], fields[index + 1]];
    const key = entry.split('\n', 1)[0] ?? '';
    if (scope !== 'local' && scope !== 'worktree') continue;
    settings.push('-c', `${key}=`, '-c', `${key.replace(/\.[^.]*$/, '')}.required=false`);
  }
  return { settings };
}

/** Git follows a link; what is not a plain file here may say anything, as one that includes others does. */
function configurationIn(file: string): string {
  return readSmall(file, CONFIG_LIMIT_BYTES) ?? (lstatSync(file, { throwIfNoEntry: false }) ? 'include' : '');
}

const CONFIG_LIMIT_BYTES = 16 * 1024 * 1024;
const PATIENCE_MS = 10_000;
const BRIEF_PATIENCE_MS = 2000;
const OUTPUT_LIMIT_BYTES = 32 * 1024 * 1024;

async function start(git: string, { root }: Repository, cwd: string, words: readonly string[]): Promise<GitAnswer> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn(git, ['-C', cwd, ...SAFE_SETTINGS, ...words], {
      cwd: root,
      env: safeEnvironment(root),
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: PATIENCE_MS,
      windowsHide: true,
    });
    const pieces: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > OUTPUT_LIMIT_BYTES) child.kill();
      else pieces.push(piece);
    });
    child.on('error', (thrown) => resolve({ failed: thrown.message }));
    child.on('close', (code, signal) => {
      if (code === 0) resolve({ output: Buffer.concat(pieces).toString('utf8') });
      else resolve({ failed: code === null ? `git was ended by ${signal}` : `git ended with ${code}` });
    });
  });
}

const KEPT_VARIABLES = ['PATH', 'HOME', 'USERPROFILE', 'SystemRoot', 'TMPDIR', 'XDG_CONFIG_HOME', 'SUDO_UID'];

function safeEnvironment(root: string): Record<string, string> {
  // biome-ignore lint/style/noProcessEnv: git needs these variables of the process, and gets no others
  const own = process.env;
  const kept = KEPT_VARIABLES.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_CEILING_DIRECTORIES: dirname(root),
    LC_ALL: 'C',
  };
}
