// ergon completion: a script for the shell, made from the table of commands.
import { CommandError, EXIT, print } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ words: [shell = ''], usages }: CommandCall): Promise<void> {
  const paths = usages.map((usage) => usage.split(' ').filter((word) => /^[a-z]/.test(word)))
  const script = SCRIPTS[shell]
  if (script === undefined)
    throw new CommandError(`Not a shell I know: "${shell}"`, EXIT.usage, 'ergon completion bash')
  print(script(paths))
}

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

const SCRIPTS: Record<string, (paths: Paths) => string> = {
  bash: (paths) => `_ergon() {
  local words="" prefix="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  case "$prefix" in
${cases(paths)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ergon ergon`,
  zsh: (paths) => `#compdef ergon
_ergon() {
  local words="" prefix="\${words_[*]}"
  prefix="\${(j: :)\${(@)words[2,CURRENT-1]}}"
  case "$prefix" in
${cases(paths)}
  esac
  compadd -- \${=words}
}
compdef _ergon ergon`,
  fish: (paths) =>
    [...followers(paths)]
      .map(([prefix, words]) => {
        const seen =
          prefix === ''
            ? '__fish_use_subcommand'
            : `string match -q -- "ergon ${prefix}*" (commandline -cp)`
        return `complete -c ergon -f -n '${seen}' -a '${[...words].join(' ')}'`
      })
      .join('\n'),
}
