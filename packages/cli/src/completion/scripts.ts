// What a shell loads. Each asks `berth __complete` with the words before the cursor, so they know every version.
export type Shell = 'bash' | 'zsh' | 'fish'

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# berth completions for bash: source <(berth completion bash)
_berth() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local IFS=$'\\n'
  COMPREPLY=($(berth __complete "\${words[@]}" 2>/dev/null | cut -f1))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _berth berth
`,
  zsh: `#compdef berth
# berth completions for zsh: source <(berth completion zsh)
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
  berth __complete $words[2..-1] 2>/dev/null
end
complete -c berth -a '(__berth_complete)'
`,
}
