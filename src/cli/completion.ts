import { Fault, quoted } from '../core/fault.ts';
import type { Operation } from '../operations/operation.ts';
import { commonFlags, flagsOf, ownCommands } from './arguments.ts';

/** A completion script, generated from the list of commands. */
export function completionScript(shell: string | undefined, all: readonly Operation[]): string {
  switch (shell) {
    case 'bash':
      return bash(all);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(all)}`;
    case 'fish':
      return fish(all);
    default:
      throw new Fault(
        'usage',
        shell === undefined ? 'Name a shell.' : `There are no completions for ${quoted(shell)}.`,
        {
          hints: ['`holdfast completion bash`, `zsh` or `fish`; put its output where your shell loads completions.'],
        },
      );
  }
}

const nameOf = (operation: Operation): string => operation.name.replace('.', ' ');

function flagNames(operation: Operation): string[] {
  const own = flagsOf(operation).filter((spec) => !operation.words?.includes(spec.field));
  return [...own.map((spec) => `--${spec.name}`), ...Object.keys(commonFlags).map((flag) => `--${flag}`)];
}

function bash(all: readonly Operation[]): string {
  const names = all.map(nameOf);
  const firstWords = [...new Set([...names.map((name) => name.split(' ')[0] as string), ...ownCommands])];
  const groups = [...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] as string))];
  const secondWords = groups.map((group) => {
    const members = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.split(' ')[1]);
    return `    ${group}) second="${members.join(' ')}" ;;`;
  });
  const flags = all.map((operation) => `    "${nameOf(operation)}") flags="${flagNames(operation).join(' ')}" ;;`);
  return `_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" name second="" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firstWords.join(' ')}" -- "$current"))
    return
  fi
  case "$first" in
${secondWords.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$second" ] && [[ "$current" != -* ]]; then
    COMPREPLY=($(compgen -W "$second" -- "$current"))
    return
  fi
  name="$first"
  [ -n "$second" ] && [[ " $second " == *" \${COMP_WORDS[2]} "* ]] && name="$first \${COMP_WORDS[2]}"
  case "$name" in
${flags.join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _holdfast holdfast`;
}

function fish(all: readonly Operation[]): string {
  const commands = all.map((operation) => {
    const [first, second] = operation.name.split('.') as [string, string | undefined];
    const summary = operation.summary.replaceAll("'", "\\'");
    return second === undefined
      ? `complete -c holdfast -n __fish_use_subcommand -f -a ${first} -d '${summary}'`
      : `complete -c holdfast -n __fish_use_subcommand -f -a ${first}\ncomplete -c holdfast -n '__fish_seen_subcommand_from ${first}' -f -a ${second} -d '${summary}'`;
  });
  const flags = all.flatMap((operation) => {
    const [first] = operation.name.split('.') as [string];
    return flagsOf(operation)
      .filter((spec) => !operation.words?.includes(spec.field))
      .map(
        (spec) =>
          `complete -c holdfast -n '__fish_seen_subcommand_from ${first}' -l ${spec.name}${spec.kind === 'boolean' ? '' : ' -r'}`,
      );
  });
  return [...new Set([...commands, ...flags])].join('\n');
}
