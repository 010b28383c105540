/** Whether a command checks the work: a test, a build, a linter or a type check. */
export function isCheck(command: string): boolean {
  return command.split(/&&|\|\|?|;|\n/).some((part) => {
    const words = part.trim().replace(LEADING, '');
    const [program = ''] = words.split(/\s/, 1);
    return program.split('/').some((name) => patternFor(firstWord(name))?.test(words));
  });
}

/** What may stand before the command itself. */
const LEADING = /^(?:(?:sudo|time|env|npx|bunx|pnpm exec|yarn exec|poetry run|uv run|bundle exec)\s+|\w+=\S*\s+)+/;

/** Programs, and what follows the name of one that checks the work. */
const checks: readonly { programs: string; words: string }[] = [
  {
    programs: 'npm pnpm yarn bun',
    words: '\\s+(?:run\\s+)?(?:t|test|tests|build|lint|check|typecheck|type-check|tsc|verify|ci:test)\\b',
  },
  {
    programs: 'cargo go dotnet swift zig mix sbt lein stack cabal deno flutter dart rebar3 bazel',
    words: '\\s+(?:test|build|check|clippy|vet|lint|analyze|eunit|compile)\\b',
  },
  { programs: 'mvn gradle ./gradlew ./mvnw', words: '\\s+\\S*\\s*\\b(?:test|build|check|verify|compile)\\b' },
  {
    programs: 'make just task rake ninja nox tox',
    words: '(?:\\s+(?:-\\S+\\s+)*(?:test|tests|check|lint|build|all|verify|spec)\\b|$)',
  },
  {
    programs:
      'vitest jest mocha ava playwright cypress tsc eslint biome prettier oxlint stylelint pytest unittest mypy pyright ruff flake8 pylint black phpunit phpstan rspec rubocop ctest clang-tidy shellcheck golangci-lint ktlint checkstyle hadolint',
    words: '\\b',
  },
  { programs: 'python python3 node', words: '\\s+(?:-m\\s+(?:pytest|unittest|mypy|ruff)|--test)\\b' },
  { programs: 'terraform', words: '\\s+(?:validate|plan)\\b' },
];

/** `clang` of `clang-tidy`. */
const firstWord = (name: string): string => /^\w*/.exec(name)?.[0] ?? '';

const patterns = new Map<string, RegExp | null>();

/** One expression for all programs would take longer to compile than the rest of a brief's facts to gather. */
function patternFor(word: string): RegExp | null {
  const known = patterns.get(word);
  if (known !== undefined) return known;
  const [found] = checks.flatMap(({ programs, words }) => {
    const own = programs.split(' ').filter((program) => firstWord(program.replace('./', '')) === word);
    return own.length > 0 ? [new RegExp(`^(?:\\S*/)?(?:${own.join('|').replaceAll('.', '\\.')})${words}`)] : [];
  });
  patterns.set(word, found ?? null);
  return found ?? null;
}
