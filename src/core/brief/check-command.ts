/** Whether a command checks the work: a test, a build, a linter or a type check. */
export function isCheck(command: string): boolean {
  return command.split(/&&|\|\|?|;|\n/).some((part) => CHECK.test(part.trim().replace(LEADING, '')));
}

/** What may stand before the command itself. */
const LEADING = /^(?:(?:sudo|time|env|npx|bunx|pnpm exec|yarn exec|poetry run|uv run|bundle exec)\s+|\w+=\S*\s+)+/;

const CHECK = new RegExp(
  [
    '(?:npm|pnpm|yarn|bun)\\s+(?:run\\s+)?(?:t|test|tests|build|lint|check|typecheck|type-check|tsc|verify|ci:test)\\b',
    '(?:cargo|go|dotnet|swift|zig|mix|sbt|lein|stack|cabal|deno|flutter|dart|rebar3|bazel)\\s+(?:test|build|check|clippy|vet|lint|analyze|eunit|compile)\\b',
    '(?:mvn|gradle|\\./gradlew|\\./mvnw)\\s+\\S*\\s*\\b(?:test|build|check|verify|compile)\\b',
    '(?:make|just|task|rake|ninja|nox|tox)(?:\\s+(?:-\\S+\\s+)*(?:test|tests|check|lint|build|all|verify|spec)\\b|$)',
    '(?:vitest|jest|mocha|ava|playwright|cypress|tsc|eslint|biome|prettier|oxlint|stylelint|pytest|unittest|mypy|pyright|ruff|flake8|pylint|black|phpunit|phpstan|rspec|rubocop|ctest|clang-tidy|shellcheck|golangci-lint|ktlint|checkstyle|hadolint)\\b',
    '(?:python3?|node)\\s+(?:-m\\s+(?:pytest|unittest|mypy|ruff)|--test)\\b',
    'terraform\\s+(?:validate|plan)\\b',
  ]
    .map((one) => `^(?:\\S*/)?(?:${one})`)
    .join('|'),
);
