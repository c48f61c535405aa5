// Each command that a page of the console prints is one of the command line, with its words and options.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Command } from 'commander'
import { SourceText } from '#hcl/source-text.ts'
import { describeStack } from '#stack/describe.ts'
import { OPERATIONS } from '#contract/operations.ts'
import { permits, type Scope } from '#contract/operation.ts'
import { ROUTES } from '#contract/routes.ts'
import { createProgram } from '#cli/program.ts'
import { commandPlace } from '../../portal/src/parts/page/command-place.ts'

const SOURCES = ['portal/src/**/*.{ts,tsx}', 'portal/*.html']
/** A literal that begins with the program's name, or a code element. */
const PRINTED = /(['"`])(?<quoted>ergon .*?)\1|<code>(?<code>ergon .*?)<\/code>/g

const printed = globSync(SOURCES, { exclude: ['**/*.test.ts'] }).flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(PRINTED)].map(({ groups }) => ({
    path,
    text: groups?.['quoted'] ?? groups?.['code'] ?? '',
  })),
)

/** The words as a shell gives them; a place that a page fills has some word. */
const wordsOf = (text: string): string[] =>
  (text.replaceAll(/\$\{[^}]*\}/g, 'x').match(/"[^"]*"|\S+/g) ?? [])
    .map((word) => word.replaceAll('"', ''))
    .slice(1)

/** The real program, whose commands do nothing. */
function idleProgram(): Command {
  const program = createProgram()
  const quieten = (command: Command): void => {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    if (command.commands.length === 0) command.action(() => undefined)
    for (const below of command.commands) quieten(below)
  }
  quieten(program)
  return program
}

const runs = (text: string) => idleProgram().parseAsync(wordsOf(text), { from: 'user' })

test('every command that a page prints exists', async () => {
  assert.ok(printed.length > 10, `found ${printed.length}`)
  for (const { path, text } of printed) await assert.doesNotReject(runs(text), `${path}: ${text}`)
})

/** The path of a command's module: the words before its first option or argument. */
function moduleOf(text: string): string {
  const words = wordsOf(text).filter((word) => /^[a-z]+$/.test(word))
  for (let count = Math.min(words.length, 3); count > 0; count--) {
    const [first = '', ...rest] = words.slice(0, count)
    const path = `src/cli/commands/${rest.length === 0 ? first : `${first}/${rest.join('-')}`}.ts`
    if (existsSync(path)) return path
  }
  assert.fail(`no module of ${text}`)
}

/** The module of a command, with the modules of the command line that it imports. */
function sourceOf(text: string): string {
  const source = readFileSync(moduleOf(text), 'utf8')
  const imports = [...source.matchAll(/from '#cli\/(?<file>[^']+)'/g)].map(
    ({ groups }) => `src/cli/${groups?.['file'] ?? ''}`,
  )
  return [source, ...imports.map((path) => readFileSync(path, 'utf8'))].join('\n')
}

/** Calls of the API, with the method in their name. */
const CALL =
  /\bapi(?<method>Get|Post|Patch|Put|Delete)(?:Once)?\(\s*options,\s*['`](?<path>[^'`?]*)/g

/** The scopes that the contract wants for the calls in a command's module. */
function scopesOf(text: string): readonly Scope[] {
  return [...sourceOf(text).matchAll(CALL)].flatMap(({ groups }) => {
    const { method = '', path: called = '' } = groups ?? {}
    const segments = called.replaceAll(/\$\{[^}]*\}/g, 'x').split('/')
    const route = ROUTES.find(
      ({ method: known, path }) =>
        known === method.toUpperCase() &&
        path.split('/').length === segments.length &&
        path.split('/').every((name, place) => name.startsWith(':') || name === segments[place]),
    )
    const { scope } = route === undefined ? { scope: null } : OPERATIONS[route.operation]
    return scope === null ? [] : [scope]
  })
}

test('every command that a page offers says what a fresh terminal needs: a login, or the machine', () => {
  for (const { path, text } of printed) {
    if (text.startsWith('ergon login')) continue
    const isOperators = /\bcontrol(Once)?\(/.test(readFileSync(moduleOf(text), 'utf8'))
    assert.equal(commandPlace(text) === 'machine', isOperators, `${path}: ${text}`)
  }
  assert.deepEqual(commandPlace(`cat > ergon.hcl <<'END'\nEND\nergon deploy`), { login: undefined })
  assert.equal(commandPlace('curl -i http://localhost:8080/v1/models'), undefined)
})

test('every command that a page offers has a login line that gives its scope, and no more', () => {
  const wanted = printed.flatMap(({ path, text }) => {
    const place = commandPlace(text)
    return place === undefined || place === 'machine' ? [] : [{ path, text, place }]
  })
  assert.ok(wanted.some(({ place }) => place.login !== undefined))
  for (const { path, text, place } of wanted) {
    const isEnough = scopesOf(text).every((scope) => permits('deploy', scope))
    assert.equal(place.login, isEnough ? undefined : 'billing-admin', `${path}: ${text}`)
  }
  assert.deepEqual(scopesOf('ergon tokens create x'), ['billing-admin'])
})

test('a command that a button copies unseen has the address of the service, and a login line beside it', () => {
  const copied = globSync(SOURCES).flatMap((path) => {
    // Components of the file: a page may show either of two.
    const components = readFileSync(path, 'utf8').split(/\n(?=(?:export )?(?:const|function) )/)
    return components.flatMap((source) =>
      [...source.matchAll(/<Copy\s+text=\{`(ergon [^`]*)`/g)].map(([, text = '']) => ({
        text,
        source,
      })),
    )
  })
  assert.ok(copied.length > 0)
  for (const { text, source } of copied) {
    assert.match(text, /--base-url \$\{apiUrl\(\)\}/, text)
    assert.match(source, /<LoginLine /, text)
  }
})

test('the description file that a page prints has no fault', () => {
  const found = globSync(SOURCES).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/cat > ergon\.hcl <<'END'\n([^]*?)END\n/g)].map(
      ([, text = '']) => text,
    ),
  )
  assert.ok(found.length > 0)
  for (const text of found)
    assert.deepEqual(describeStack({ source: new SourceText('page', text) }).diagnostics, [], text)
})

test('a command that there is not is seen', async () => {
  for (const text of ['ergon chat "x"', 'ergon tokens create', 'ergon tokens create x --name y'])
    await assert.rejects(runs(text), text)
})
