import type { EventBody } from '../core/journal/event.ts';

type EffectClass = EventBody<'effect.began'>['class'];

/**
 * What repeating a command could do, by its first words. A command that is not in the tables is unknown, and a line of
 * several commands has the class of the worst one. The class only decides how a brief describes the command.
 */
export function classOfCommand(command: string): EffectClass {
  const text = command.slice(0, 4000);
  if (hasAlarmingWord(text) && irreversible.test(text)) return 'irreversible';
  let worst = 0;
  for (const part of text.split(/&&|\|\|?|;|\n|&(?!\d)/)) {
    const words = part.trim().replace(/^(?:(?:sudo|time|nohup|command|exec)\s+|\w+=\S*\s+)+/, '');
    if (words === '') continue;
    worst = Math.max(worst, order.indexOf(classOfOne(words)));
  }
  return order[worst] ?? 'unknown';
}

const order: readonly EffectClass[] = ['read', 'idempotent', 'unknown'];

function classOfOne(words: string): EffectClass {
  // Substitutions and appends are not analysed.
  if (/`|\$\(|<\(|>>/.test(words)) return 'unknown';
  const end = words.search(/\s/);
  const tool = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? '' : words.slice(end).trimStart();
  if (isKnown(readers, tool, rest) && !/(?:^|\s)-(?:delete|exec|execdir|ok|i|-in-place)\b/.test(rest))
    return /(?<![0-9&])>(?!&|\s*\/dev\/null)/.test(words) ? 'idempotent' : 'read';
  return isKnown(repeatable, tool, rest) ? 'idempotent' : 'unknown';
}

/** What must follow each tool. One pattern for all tools would take as long to compile as the rest of a hook. */
type Tools = ReadonlyMap<string, RegExp | null>;

function isKnown(tools: Tools, tool: string, rest: string): boolean {
  const follows = tools.get(tool);
  return follows === null || follows?.test(rest) === true;
}

function toolsOf(alone: string, others: Readonly<Record<string, RegExp>>): Tools {
  const tools = new Map<string, RegExp | null>(alone.split(' ').map((tool) => [tool, null]));
  for (const [names, follows] of Object.entries(others)) for (const tool of names.split(' ')) tools.set(tool, follows);
  return tools;
}

const readers = toolsOf(
  'cd ls ll cat head tail less more grep egrep fgrep rg ag find fd pwd echo printf wc sort uniq cut tr jq diff cmp file stat which type whoami id date uname hostname ps df du env printenv tree realpath dirname basename true false test [ sha256sum md5sum awk',
  {
    git: /^(?:status|log|diff|show|blame|branch(?: -[avr]+)?$|rev-parse|ls-files|remote -v|describe|grep|stash list|--version|-v|-V|version)(?:\s|$)/,
    sed: /^-n(?:\s|$)/,
    npm: /^(?:ls|list|view|outdated|why|--version|-v|-V|version)(?:\s|$)/,
    'pnpm yarn': /^(?:ls|list|view|outdated|why)(?:\s|$)/,
    docker: /^(?:ps|images|logs|inspect)(?:\s|$)/,
    kubectl: /^(?:get|describe|logs)(?:\s|$)/,
    gh: /^(?:pr|issue|run|repo) (?:view|list|status|diff)(?:\s|$)/,
    'node python python3 go cargo rustc': /^(?:--version|-v|-V|version)(?:\s|$)/,
  },
);

const repeatable = toolsOf('touch tsc eslint prettier biome vitest jest pytest mypy ruff rustfmt gofmt', {
  mkdir: /^-p(?:\s|$)/,
  make: /^(?:test|check|lint|build|all)$/,
  'npm bun': /^(?:test|t|ci|install|run (?:test|build|lint|check|format|typecheck|dev)\S*)(?:\s|$)/,
  pnpm: /^(?:test|t|ci|install|run (?:test|build|lint|check|format|typecheck|dev)\S*|exec (?:tsc|eslint|prettier|biome|vitest|jest))(?:\s|$)/,
  yarn: /^(?:test|t|ci|install|run (?:test|build|lint|check|format|typecheck|dev)\S*|tsc|eslint|prettier|biome|vitest|jest)(?:\s|$)/,
  npx: /^(?:tsc|eslint|prettier|biome|vitest|jest)(?:\s|$)/,
  cargo: /^(?:build|test|check|clippy|fmt|bench)(?:\s|$)/,
  go: /^(?:build|test|vet|fmt|mod tidy)(?:\s|$)/,
  'python python3': /^-m (?:pytest|unittest|mypy|ruff|compileall)(?:\s|$)/,
  'mvn gradle ./gradlew': /^(?:test|build|compile)(?:\s|$)/,
  dotnet: /^(?:build|test)(?:\s|$)/,
  git: /^(?:add|fetch|checkout|switch)(?:\s|$)/,
  terraform: /^(?:plan|validate|fmt|init)(?:\s|$)/,
  docker: /^build(?:\s|$)/,
});

/** Whether the text has a word that `irreversible` needs; that pattern takes long to compile. */
function hasAlarmingWord(text: string): boolean {
  return text
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => alarming.has(word));
}

const alarming = new Set(
  [
    'push reset clean filter publish upload unpublish yank rm terraform tofu pulumi cdk sam serverless sls helmfile ansible',
    'kubectl helm docker gh curl aws gcloud az fly flyctl vercel netlify heroku wrangler firebase drop truncate delete',
    'dd mkfs shutdown reboot kill pkill killall crontab sendmail mail scp rsync deploy',
  ].flatMap((words) => words.split(' ')),
);

/** Matches anywhere in the line, even inside quotes: a false warning costs less than a missing one. */
const irreversible =
  /\bgit\s+(?:push|reset\s+--hard|clean\s+-|filter-branch)|\b(?:npm|pnpm|yarn|cargo|poetry|gem|twine|vsce|deno|bun)\s+(?:publish|push|upload|unpublish|yank)\b|\brm\s+-\w*[rf]|\b(?:terraform|tofu|pulumi|cdk|sam|serverless|sls|helmfile)\s+(?:apply|destroy|up|deploy|sync|import)\b|\bansible-playbook\s|\bkubectl\s+(?:apply|delete|create|replace|patch|scale|rollout|drain|exec)|\bhelm\s+(?:install|upgrade|uninstall|rollback)|\bdocker\s+(?:push|rm|rmi|volume rm|system prune)|\bgh\s+(?:release|pr|issue|repo|workflow)\s+(?:create|merge|close|delete|edit|run|comment)|\bcurl\b[^\n|;]*\s(?:-X\s*(?:POST|PUT|PATCH|DELETE)|-d|--data\S*|-F|-T)\b|\b(?:aws|gcloud|az|fly|flyctl|vercel|netlify|heroku|wrangler|firebase)\s+\S*\s*\S*(?:deploy|delete|create|update|put|rm|sync|terminate|release|publish)|\b(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)|\bDELETE\s+FROM\b|\b(?:dd\s+if|mkfs|shutdown|reboot|kill|pkill|killall|crontab|sendmail|mail\s+-s|scp|rsync)\b|(?:^|[\s/:])deploy(?:\.\w+)?(?:\s|$)/i;
