// The command line: builds it from the table of commands, runs it, explains what went wrong.
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { messageOf } from '#base/errors.ts'
import { CommandError, EXIT, red, tell } from './output.ts'
import { COMMANDS, type CommandSpec } from './commands.ts'

/** Runs the command line and sets the exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('ergon')
    .description('The cloud that bills for joules')
    .version(packageVersion())
    .option('--base-url <url>', 'address of the service')
    .option('--data <folder>', 'data folder of a service on this machine')
    .option('--json', 'print JSON')
    .showSuggestionAfterError()
    .exitOverride()
  // A reader that has seen enough (`ergon status | head`) is no failure.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed)
  })
  // A terminal that is closed takes no talk any more; what is unfinished is removed all the same.
  process.stderr.on('error', () => undefined)
  for (const spec of COMMANDS) add(program, spec)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = explain(error)
  }
}

/** Of the package that this file is part of. */
function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

function add(program: Command, spec: CommandSpec): void {
  const words = spec.usage.split(' ')
  const names = words.filter((word) => /^[a-z]/.test(word))
  let parent = program
  for (const name of names.slice(0, -1))
    parent =
      parent.commands.find((known) => known.name() === name) ?? parent.command(name).exitOverride()
  const command = parent
    .command(words.slice(names.length - 1).join(' '))
    .description(spec.help)
    .exitOverride()
  for (const [flags, help] of spec.options ?? []) command.option(flags, help)
  command.action(async () => {
    const { run: runCommand } = await spec.load()
    await runCommand({
      options: command.optsWithGlobals(),
      words: command.args,
      usages: COMMANDS.map(({ usage }) => usage),
    })
  })
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  tell(`${red('error')}: ${messageOf(error)}`)
  if (!(error instanceof CommandError)) return EXIT.failed
  if (error.next !== undefined) tell(`  try: ${error.next}`)
  return error.exitCode
}
