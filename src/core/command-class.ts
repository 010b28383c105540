import type { EventBody } from './event.ts';

type EffectClass = EventBody<'effect.began'>['class'];

/**
 * What repeating a command could do, by its first words. Few are known for certain; whatever is not is unknown, and a
 * line of several commands is as bad as the worst of them. Nothing is decided by this but how a brief speaks of it.
 */
export function classOfCommand(command: string): EffectClass {
  const text = command.slice(0, 4000);
  if (irreversible.test(text)) return 'irreversible';
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
  // What a substitution runs, or where an append leads, is not looked into.
  if (/`|\$\(|<\(|>>/.test(words)) return 'unknown';
  const writes = /(?<![0-9&])>(?!&|\s*\/dev\/null)/.test(words);
  if (reading.test(words) && !/\s-(?:delete|exec|execdir|ok|i|-in-place)\b/.test(words))
    return writes ? 'idempotent' : 'read';
  return repeatable.test(words) ? 'idempotent' : 'unknown';
}

const reading =
  /^(?:cd|ls|ll|cat|head|tail|less|more|grep|egrep|fgrep|rg|ag|find|fd|pwd|echo|printf|wc|sort|uniq|cut|tr|jq|diff|cmp|file|stat|which|type|whoami|id|date|uname|hostname|ps|df|du|env|printenv|tree|realpath|dirname|basename|true|false|test|\[|sha256sum|md5sum|git (?:status|log|diff|show|blame|branch(?: -[avr]+)?$|rev-parse|ls-files|remote -v|describe|grep|stash list)|sed -n|awk|(?:npm|pnpm|yarn) (?:ls|list|view|outdated|why)|docker (?:ps|images|logs|inspect)|kubectl (?:get|describe|logs)|gh (?:pr|issue|run|repo) (?:view|list|status|diff)|(?:node|python3?|go|cargo|rustc|npm|git) (?:--version|-v|-V|version))(?:\s|$)/;

const repeatable =
  /^(?:mkdir -p|touch|tsc|eslint|prettier|biome|vitest|jest|pytest|mypy|ruff|rustfmt|gofmt|make (?:test|check|lint|build|all)$|(?:npm|pnpm|yarn|bun) (?:test|t|ci|install|run (?:test|build|lint|check|format|typecheck|dev)\S*)|(?:npx|pnpm exec|yarn) (?:tsc|eslint|prettier|biome|vitest|jest)|cargo (?:build|test|check|clippy|fmt|bench)|go (?:build|test|vet|fmt|mod tidy)|python3? -m (?:pytest|unittest|mypy|ruff|compileall)|(?:mvn|gradle|\.\/gradlew) (?:test|build|compile)|dotnet (?:build|test)|git (?:add|fetch|checkout|switch)|terraform (?:plan|validate|fmt|init)|docker build)(?:\s|$)/;

/** Anywhere in the line, quotes or not: better to be told once too often to look first. */
const irreversible =
  /\bgit\s+(?:push|reset\s+--hard|clean\s+-|filter-branch)|\b(?:npm|pnpm|yarn|cargo|poetry|gem|twine|vsce|deno|bun)\s+(?:publish|push|upload|unpublish|yank)\b|\brm\s+-\w*[rf]|\b(?:terraform|tofu|pulumi|cdk|sam|serverless|sls|helmfile)\s+(?:apply|destroy|up|deploy|sync|import)\b|\bansible-playbook\s|\bkubectl\s+(?:apply|delete|create|replace|patch|scale|rollout|drain|exec)|\bhelm\s+(?:install|upgrade|uninstall|rollback)|\bdocker\s+(?:push|rm|rmi|volume rm|system prune)|\bgh\s+(?:release|pr|issue|repo|workflow)\s+(?:create|merge|close|delete|edit|run|comment)|\bcurl\b[^\n|;]*\s(?:-X\s*(?:POST|PUT|PATCH|DELETE)|-d|--data\S*|-F|-T)\b|\b(?:aws|gcloud|az|fly|flyctl|vercel|netlify|heroku|wrangler|firebase)\s+\S*\s*\S*(?:deploy|delete|create|update|put|rm|sync|terminate|release|publish)|\b(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)|\bDELETE\s+FROM\b|\b(?:dd\s+if|mkfs|shutdown|reboot|kill|pkill|killall|crontab|sendmail|mail\s+-s|scp|rsync)\b|(?:^|[\s/:])deploy(?:\.\w+)?(?:\s|$)/i;
