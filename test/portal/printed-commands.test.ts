// Each command that a page of the console prints is one of the command line, with its words and options.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Command } from 'commander'
import { SourceText } from '#hcl/source-text.ts'
import { describeStack } from '#stack/describe.ts'
import { createProgram } from '#cli/program.ts'

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
