import { Fault, quoted } from '../core/fault.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

/**
 * A script that asks the program for completions: `holdfast __complete WORDS… =CURRENT` prints one a line, with a tab and a
 * description. What is recorded may be hostile, so no shell expands a line of it.
 */
export function completionScript(shell: string | undefined): string {
  const found = shells.find((one) => one === shell);
  if (found) return scripts[found];
  throw new Fault(
    'usage',
    shell === undefined ? '`completion` needs a shell.' : `There are no completions for ${quoted(shell)}.`,
    {
      hints: ['Switch them on with one of these lines:', ...Object.values(switchOn).map((line) => `\`${line}\``)],
    },
  );
}

/** The one line that switches completions on. */
export const switchOn: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `echo 'eval "$(holdfast completion bash)"' >> ~/.bashrc`,
  zsh: `echo 'source <(holdfast completion zsh)' >> ~/.zshrc`,
  fish: 'holdfast completion fish > ~/.config/fish/completions/holdfast.fish',
  powershell: 'holdfast completion powershell | Out-String >> $PROFILE',
};

const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: String.raw`_holdfast() {
  local value rest
  COMPREPLY=()
  while IFS=$'\t' read -r value rest; do
    COMPREPLY+=("$value")
  done < <(holdfast __complete "${'$'}{COMP_WORDS[@]:1:COMP_CWORD-1}" "=${'$'}{COMP_WORDS[COMP_CWORD]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _holdfast holdfast`,
  zsh: String.raw`#compdef holdfast
_holdfast() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done < <(holdfast __complete "${'$'}{(@)words[2,CURRENT-1]}" "=${'$'}{words[CURRENT]}" 2>/dev/null)
  if (( $#found )); then
    _describe -V holdfast found
  else
    _files
  fi
}
if [[ "$funcstack[1]" == _holdfast ]]; then
  _holdfast "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _holdfast holdfast
fi`,
  fish: String.raw`function __holdfast_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (holdfast __complete $words[2..-1] "=$current" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'`,
  powershell: `Register-ArgumentCompleter -Native -CommandName holdfast -ScriptBlock {
  param($current, $line, $position)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($current -ne '' -and $words.Count -gt 0) { $words = @($words | Select-Object -SkipLast 1) }
  holdfast __complete @words "=$current" 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    if (-not $text) { $text = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
  }
}`,
};
