// The printed part of acceptance/COVERAGE.md: operations, events, error codes and commands of the contract, each with
// the first test file that names it, tests of a running product before tests beside the code. The rest of the page, by
// the lines of the interface, is written by hand.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandSpec } from '#cli/command-spec.ts'
import { COMMANDS } from '#cli/commands.ts'
import { ERRORS } from '#contract/errors.ts'
import { EVENTS } from '#contract/events.ts'
import { ROUTES } from '#contract/routes.ts'
import { table } from './reference.ts'

export type TestFile = { readonly path: string; readonly text: string }

const BEGIN = '<!-- Printed by `npm run generate` from here -->'
const END = '<!-- to here -->'

/** All test files of a tree, with the helpers of tests: the acceptance suites, tests of a running product, the others. */
export const readTests = (root: string): TestFile[] =>
  ['acceptance', 'test', 'src']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name}`)
        .toSorted(),
    )
    .filter((path) => /^(acceptance|test)\/.*\.ts$|\.test\.ts$/.test(path))
    .filter((path) => !path.startsWith('test/toy-product/files/'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The page with its printed part renewed. */
export function coveragePage(page: string, tests: readonly TestFile[]): string {
  const [before = ''] = page.split(BEGIN)
  const after = page.split(END)[1] ?? ''
  return `${before}${BEGIN}\n\n${printedPart(tests)}\n${END}${after}`
}

/** Names of the contract that no test names. */
export const unnamed = (tests: readonly TestFile[]): string[] =>
  kinds().flatMap(({ names }) =>
    names.filter(({ texts }) => firstOf(tests, texts) === undefined).map(({ name }) => name),
  )

/** Names of one kind that only tests beside the code name; a command that asks no service needs no other. */
export const namedBesideOnly = (tests: readonly TestFile[], wanted: Kind): string[] =>
  kinds()
    .filter(({ kind }) => kind === wanted)
    .flatMap(({ names }) => names)
    .filter(({ texts, isLocal }) => isLocal !== true && !isOfProduct(firstOf(tests, texts)))
    .map(({ name }) => name)

const isOfProduct = (path: string | undefined): boolean =>
  path !== undefined && !path.startsWith('src/')

/** Names of tests in quotes, in rows of the page, that no test has; an ellipsis ends the beginning of a name. */
export function quotesOfNothing(page: string, tests: readonly TestFile[]): string[] {
  const rows = page.split('\n').filter((line) => line.startsWith('|') && !/ \| not yet/.test(line))
  const quotes = rows.flatMap((row) =>
    [...row.replaceAll(/`[^`]*`/g, '').matchAll(/"([^"]+)"/g)].map(([, quote = '']) => quote),
  )
  return quotes.filter((quote) => {
    const beginning = quote.replace(/ …$/, '')
    return !tests.some(({ text }) => text.includes(beginning))
  })
}

/** Events and commands of the contract that a row of the page calls "not yet". */
export function calledNotYet(page: string): string[] {
  const rows = page.split('\n').filter((line) => /^\|.*\| not yet/.test(line))
  const commands = COMMANDS.map((command) => wordsOf(command).join(' '))
  return [...Object.keys(EVENTS), ...commands.filter((words) => words.includes(' '))].filter(
    (name) => rows.some((row) => row.includes(`\`${name}`)),
  )
}

type Kind = 'Operation' | 'Event' | 'Error code' | 'Command'

type Name = {
  readonly name: string
  readonly isLocal?: true | undefined
  /** The texts by which tests name it. */
  readonly texts: readonly string[]
}

const quoted = (name: string): Name => ({ name, texts: [`'${name}'`] })

const kinds = (): { readonly kind: Kind; readonly names: readonly Name[] }[] => [
  {
    kind: 'Operation',
    names: ROUTES.map(({ method, path, operation }) => ({
      name: `${operation}: ${method} ${path}`,
      texts: textsOf(path),
    })),
  },
  { kind: 'Event', names: Object.keys(EVENTS).map(quoted) },
  { kind: 'Error code', names: Object.keys(ERRORS).map((name) => ({ name, texts: [name] })) },
  {
    kind: 'Command',
    names: COMMANDS.map((command) => ({
      name: `ergon ${command.usage}`,
      isLocal: command.isLocal,
      texts: [...callsOf(command), ...shortOf(command)],
    })),
  },
]

/** The path up to its first parameter, else the whole path with the character that ends it. */
const textsOf = (path: string): string[] =>
  /[:*]/.test(path) ? [path.replace(/[:*].*$/, '')] : ["'", '`', '?'].map((end) => path + end)

const wordsOf = ({ usage }: CommandSpec) => usage.split(' ').filter((word) => /^[a-z]/.test(word))

const callsOf = (command: CommandSpec): string[] => {
  const words = wordsOf(command).map((word) => `'${word}'`)
  // One word alone is many things.
  return words.length === 1 ? [`[${words[0]}`, `(${words[0]}`] : [words.join(', ')]
}

/** Some tests have a helper for the first words: the last word alone names a command that alone ends with it. */
function shortOf(command: CommandSpec): string[] {
  const words = wordsOf(command)
  const last = words.at(-1) ?? ''
  const isAlone =
    words.length > 1 &&
    COMMANDS.every((other) => other === command || wordsOf(other).at(-1) !== last)
  return [...(isAlone ? [last] : []), ...(command.alias === undefined ? [] : [command.alias])].map(
    (word) => `'${word}'`,
  )
}

const firstOf = (tests: readonly TestFile[], texts: readonly string[]): string | undefined =>
  tests.find((test) => texts.some((text) => test.text.includes(text)))?.path

const printedPart = (tests: readonly TestFile[]): string =>
  kinds()
    .map(({ kind, names }) => {
      const rows = names.map(({ name, texts }) => [`\`${name}\``, firstOf(tests, texts) ?? 'none'])
      const ofProduct = rows.filter(([, path]) => isOfProduct(path)).length
      const head = `First test that names it: ${ofProduct} of ${rows.length} of a running product`
      return `${table([kind, head], rows)}\n`
    })
    .join('\n')
