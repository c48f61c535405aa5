// Exports have names of their own: two types of one name, two functions of one name, or a type with the name of a
// global, make a reader look twice at each use. So do a file's own type with the name of another file's export, and a
// type whose name is a participle.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from './tidy-contract.ts'

const LIBRARIES = 'node_modules/@typescript'
const LIBRARY = /^lib\..*\.d\.ts$/
const DECLARED = /^(?:declare )?(?:abstract )?(?:interface|type|class|var) ([A-Z]\w*)/gm

/** Types and objects that the libraries of TypeScript declare globally: of the language and of the web. */
function readGlobals(): ReadonlySet<string> {
  const names = new Set<string>()
  for (const compiler of readdirSync(LIBRARIES)) {
    const folder = join(LIBRARIES, compiler, 'lib')
    for (const file of readdirSync(folder).filter((name) => LIBRARY.test(name)))
      for (const [, name = ''] of readFileSync(join(folder, file), 'utf8').matchAll(DECLARED))
        names.add(name)
  }
  return names
}

type Kind = { readonly word: string; readonly pattern: RegExp }
const TYPES: Kind = {
  word: 'type',
  pattern: /^export (?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gm,
}
/** Participles and words that fit any type: a reader must open the type to learn its meaning. */
const VAGUE =
  /^(?:Answer(?:ed)?|Asked|Found|Given|Growing|Held|Judged|Kept|Known|Left|Look|Made|Named|Open|Place|Question|Said|Sent|Shown|Stored|Taken|Told|Used|Wanted|Work)$/

/** Types that a file keeps to itself. */
const OWN_TYPES: Kind = {
  word: 'type',
  pattern: /^(?:abstract )?(?:type|interface|class) (\w+)/gm,
}
const VALUES: Kind = {
  word: 'value',
  pattern: /^export (?:async )?(?:function\*?|const) (\w+)/gm,
}

/** `run` of a command, which is loaded by the command's name; tests' helpers, which are seen by their tests alone. */
const isExempt = (path: string, name: string): boolean =>
  (name === 'run' && path.startsWith('src/cli/commands/')) ||
  /\.fixture\.ts$|\/testing(\/|\.ts$)/.test(path)

type Source = { readonly path: string; readonly text: string }

/** `sources` are the files under src/ without tests. */
export function nameFaults(sources: readonly Source[]): Fault[] {
  const globals = readGlobals()
  return [
    ...exportsOf(sources, TYPES)
      .filter(({ name }) => globals.has(name))
      .map(({ path, line, name }) => ({
        path,
        line,
        rule: `exports a type of a global's name: ${name}`,
      })),
    ...twice(sources, TYPES),
    ...twice(sources, VALUES),
    ...shadowing(sources),
    ...vague(sources),
    ...sources.flatMap(({ path, text }) => toldFaults(path, text)),
  ]
}

/** A declaration, a field of a class or a type, or a parameter. */
const TOLD =
  /\b(?:const|let|function\*?) (?:\[ ?|\{ ?)?told\b|#told\b|\breadonly told\??:|\(told\b|(?:, |^ +)told\??: (?:[A-Z(]|readonly|string|number|boolean|unknown)|^ +told\(/gm

/** `told` was a controller, a callback, a set and a text: each has a name that says which. */
export const toldFaults = (path: string, text: string): Fault[] =>
  isExempt(path, '')
    ? []
    : [...text.matchAll(TOLD)].map(({ index }) => ({
        path,
        line: text.slice(0, index).split('\n').length,
        rule: 'names a thing "told": say what that is, such as notice or lastTotals',
      }))

const vague = (sources: readonly Source[]): Fault[] =>
  [...exportsOf(sources, TYPES), ...exportsOf(sources, OWN_TYPES)]
    .filter(({ path, name }) => VAGUE.test(name) && !isExempt(path, name))
    .map(({ path, line, name }) => ({
      path,
      line,
      rule: `has a type "${name}": name the thing, such as ObjectPlace or SentRequest`,
    }))

const exportsOf = (sources: readonly Source[], { pattern }: Kind) =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ 1: name = '', index }) => ({
      path,
      name,
      line: text.slice(0, index).split('\n').length,
    })),
  )

function shadowing(sources: readonly Source[]): Fault[] {
  const exporters = new Map(exportsOf(sources, TYPES).map(({ name, path }) => [name, path]))
  return exportsOf(sources, OWN_TYPES)
    .filter(({ path, name }) => exporters.has(name) && !isExempt(path, name))
    .map(({ path, line, name }) => ({
      path,
      line,
      rule: `has a type ${name} of its own, and ${exporters.get(name)} exports another`,
    }))
}

function twice(sources: readonly Source[], kind: Kind): Fault[] {
  const first = new Map<string, string>()
  const kept = exportsOf(sources, kind).filter(
    ({ path, name }) => kind === TYPES || !isExempt(path, name),
  )
  return kept.flatMap(({ path, line, name }) => {
    const other = first.get(name)
    if (other !== undefined && other !== path)
      return [{ path, line, rule: `exports the ${kind.word} ${name}, and so does ${other}` }]
    first.set(name, path)
    return []
  })
}
