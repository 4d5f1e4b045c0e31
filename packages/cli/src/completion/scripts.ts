// What a shell loads. Each asks `berth __complete` with the words before the cursor, so they know every version.
export type Shell = 'bash' | 'zsh' | 'fish'

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# berth completions for bash: source <(berth completion bash)
_berth() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local word about
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    COMPREPLY+=("$(printf %q "$word")")
  done < <(berth __complete "\${words[@]}" 2>/dev/null)
}
complete -o default -F _berth berth
`,
  zsh: `#compdef berth
# berth completions for zsh: source <(berth completion zsh)
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_berth() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(berth __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe 'berth' found; else _files; fi
}
if [ "\${funcstack[1]}" = "_berth" ]; then _berth; else compdef _berth berth; fi
`,
  fish: `# berth completions for fish: berth completion fish | source
function __berth_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (berth __complete $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c berth -f -a '(__berth_complete)'
`,
}
