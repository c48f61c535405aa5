// Completion scripts for shells, made from the usages of all commands.

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The script of a shell; `usages` are those of every command. */
export const completionScript = (shell: Shell, usages: readonly string[]): string =>
  SCRIPTS[shell](usages.map((usage) => usage.split(' ').filter((word) => /^[a-z]/.test(word))))

type Paths = readonly (readonly string[])[]

/** Words that may follow a prefix of words: 'admin' → account funds token. */
function followers(paths: Paths): Map<string, Set<string>> {
  const next = new Map<string, Set<string>>()
  for (const path of paths)
    for (const [index, word] of path.entries()) {
      const prefix = path.slice(0, index).join(' ')
      next.set(prefix, (next.get(prefix) ?? new Set()).add(word))
    }
  return next
}

const cases = (paths: Paths) =>
  [...followers(paths)]
    .map(([prefix, words]) => `    "${prefix}") words="${[...words].join(' ')}" ;;`)
    .join('\n')

const SCRIPTS: Record<Shell, (paths: Paths) => string> = {
  bash: (paths) => `_ergon() {
  local words="" prefix="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  case "$prefix" in
${cases(paths)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ergon ergon`,
  // In a file of fpath the whole text is the function of that name; read by `source`, it only defines.
  zsh: (paths) => `#compdef ergon
_ergon() {
  local next="" prefix="\${(j: :)\${(@)words[2,CURRENT-1]}}"
  case "$prefix" in
${cases(paths).replaceAll('words=', 'next=')}
  esac
  if [ -n "$next" ]; then compadd -- \${=next}; else _files; fi
}
if [ "$funcstack[1]" = _ergon ]; then _ergon "$@"; else compdef _ergon ergon; fi`,
  fish: (paths) =>
    [...followers(paths)]
      .map(([prefix, words]) => {
        const seen = `test (string join " " -- (commandline -opc)) = "${`ergon ${prefix}`.trim()}"`
        return `complete -c ergon -f -n '${seen}' -a '${[...words].join(' ')}'`
      })
      .join('\n'),
}
