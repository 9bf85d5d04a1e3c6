import { completeCommand } from '../terminal/commands.js';
import { CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { program } from '../terminal/program-name.js';

/** The script of each shell; all of them call the hidden subcommand. */
const scripts: Readonly<Record<string, string>> = {
  bash: `# Completion of vestibule for bash.
_vestibule() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :0) compopt -o default 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" ${completeCommand} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _vestibule vestibule
`,
  zsh: `#compdef vestibule
# Completion of vestibule for zsh.
_vestibule() {
  local line directive tab=$'\\t'
  local -a found
  while IFS= read -r line; do
    case $line in
      :*) directive=\${line#:} ;;
      *) line=\${line//:/\\\\:}; found+=("\${line/$tab/:}") ;;
    esac
  done < <("\${words[1]}" ${completeCommand} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ $directive == 0 ]]; then _files; else _describe completions found; fi
}
compdef _vestibule vestibule
if [[ "$funcstack[1]" == _vestibule ]]; then _vestibule; fi
`,
  fish: `# Completion of vestibule for fish.
function __vestibule_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  $before[1] ${completeCommand} $before[2..-1] "$current" 2>/dev/null | string match -rv '^:'
end
complete -c vestibule -f -a '(__vestibule_complete)'
complete -c vestibule -s f -l filename -rF
complete -c vestibule -l patch-file -rF
complete -c vestibule -l certificate-authority -rF
complete -c vestibule -l config -rF
`,
};

/** Prints the script that completes subcommands, flags and their values in a shell. */
export function printCompletionScript({ args: [shell, ...more] }: Invocation): void {
  if (shell === undefined || more.length > 0 || !Object.hasOwn(scripts, shell)) {
    throw new CommandError(
      `completion takes the name of a shell: ${program} completion ${Object.keys(scripts).join('|')}`,
      2,
    );
  }
  process.stdout.write(scripts[shell]!);
}
