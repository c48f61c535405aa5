import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { COMMANDS, GROUPS } from './commands.ts'
import { createProgram } from './program.ts'

/** Every command below one, with the words that call it. */
function* commandsBelow(command: Command, words = 'ergon'): Generator<[string, Command]> {
  yield [words, command]
  for (const below of command.commands) yield* commandsBelow(below, `${words} ${below.name()}`)
}

test('every group, command and option says what it is', () => {
  for (const [words, command] of commandsBelow(createProgram())) {
    assert.notEqual(command.description(), '', words)
    for (const { flags, description } of command.options)
      assert.notEqual(description, '', `${words} ${flags}`)
  }
})

test('the words of every command are the path of its file', () => {
  for (const { usage, load } of COMMANDS) {
    const [first, ...more] = usage.split(' ').filter((word) => /^[a-z]/.test(word))
    const file = more.length === 0 ? `${first}.ts` : `${first}/${more.join('-')}.ts`
    assert.ok(load.toString().includes(`'#cli/commands/${file}'`), `ergon ${usage}: ${file}`)
  }
})

test('every group that is described has commands', () => {
  for (const group of Object.keys(GROUPS))
    assert.ok(
      COMMANDS.some(({ usage }) => usage.startsWith(`${group} `)),
      group,
    )
})

const helpOf = async (words: readonly string[]): Promise<string> => {
  let text = ''
  const program = createProgram()
  for (const [, command] of commandsBelow(program))
    command.configureOutput({ writeOut: (more) => void (text += more) })
  await program.parseAsync(['node', 'ergon', ...words]).catch(() => undefined)
  return text
}

test('ergon help <command> prints what <command> --help prints, for every command', async () => {
  for (const [words] of commandsBelow(createProgram())) {
    const names = words.split(' ').slice(1)
    const help = await helpOf(['help', ...names])
    assert.match(help, new RegExp(`^Usage: ${words}\\b`))
    assert.equal(help, await helpOf([...names, '--help']))
  }
  await assert.rejects(createProgram().parseAsync(['node', 'ergon', 'help', 'models', 'nope']), {
    message: 'No such command: ergon models nope',
    next: 'ergon help models',
  })
})
