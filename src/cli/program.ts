// The command line: builds it from the table of commands, runs it, explains what went wrong.
import { packageVersion } from '#base/package-version.ts'
import { Command, CommanderError } from 'commander'
import { messageOf } from '#base/errors.ts'
import { CommandError, EXIT, print, red, tell } from './output.ts'
import type { CommandSpec } from './command-spec.ts'
import { COMMANDS, GROUPS } from './commands.ts'
import { demandDataFolder } from './profile.ts'

/** Runs the command line and sets the exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  // Also where the words cannot be parsed.
  const isJson = argv.includes('--json')
  // A reader that has seen enough (`ergon status | head`) is no failure.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed)
  })
  // A terminal that is closed takes no talk any more; what is unfinished is removed all the same.
  process.stderr.on('error', () => undefined)
  const program = createProgram()
  quieten(program, isJson)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = explain(error, isJson)
  }
}

/** Every group and command of the tables, for commander. */
export function createProgram(): Command {
  const program = new Command('ergon')
    .description('The cloud that bills for joules')
    .version(packageVersion())
    .option(
      '--base-url <url>',
      'address of the service, such as localhost:8080 (default: that of the data folder, else of the login)',
    )
    .option('--data <folder>', 'data folder of a service on this machine (default .ergon)')
    .option('--json', 'print JSON; an error is one JSON object, the last line of stderr')
    .showSuggestionAfterError()
    .showHelpAfterError(helpHint([]))
    .exitOverride()
    .helpCommand(false)
  for (const spec of COMMANDS) add(program, spec)
  program
    .command('help [command...]')
    .description('Help for a command, such as: help models add')
    .action((words: readonly string[]) => helpOf(program, words))
  program
    .command('version')
    .description('The version, as --version prints it')
    .action(() => print(packageVersion()))
  return program
}

/** Prints the help of the command that the words name. */
function helpOf(program: Command, words: readonly string[]): void {
  let command = program
  for (const [index, word] of words.entries()) {
    const next = command.commands.find(
      (known) => known.name() === word || known.aliases().includes(word),
    )
    if (next === undefined)
      throw new CommandError(
        `No such command: ergon ${words.slice(0, index + 1).join(' ')}`,
        EXIT.usage,
        ['ergon help', ...words.slice(0, index)].join(' '),
      )
    command = next
  }
  command.outputHelp()
}

/** Errors of commander lose their hints that remove something; with --json they are printed elsewhere. */
function quieten(command: Command, isJson: boolean): void {
  command.configureOutput({
    outputError: (text, write) => write(withoutRemovals(text)),
    ...(isJson && { writeErr: () => undefined }),
  })
  for (const below of command.commands) quieten(below, isJson)
}

// A user who follows the hint for a misspelt command must lose nothing.
const REMOVES = new Set(['rb', 'rm', 'remove', 'drop', 'prune', 'revoke', 'uninstall'])

/** The text of an error, whose hint names no command that removes. */
function withoutRemovals(text: string): string {
  return text.replace(/\n\(Did you mean (?:one of )?(.*)\?\)/, (_, hint: string) => {
    const names = hint.split(', ').filter((name) => !REMOVES.has(name))
    if (names.length === 0) return ''
    return `\n(Did you mean ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}?)`
  })
}

/** The line behind an error of commander, as other errors have one. */
const helpHint = (names: readonly string[]): string =>
  `  try: ${['ergon help', ...names].join(' ')}`

function add(program: Command, spec: CommandSpec): void {
  const words = spec.usage.split(' ')
  const names = words.filter((word) => /^[a-z]/.test(word))
  let parent = program
  for (const [index, name] of names.slice(0, -1).entries())
    parent =
      parent.commands.find((known) => known.name() === name) ??
      parent
        .command(name)
        .description(GROUPS[names.slice(0, index + 1).join(' ')] ?? '')
        .showHelpAfterError(helpHint(names.slice(0, index + 1)))
        .exitOverride()
  const command = parent
    .command(words.slice(names.length - 1).join(' '))
    .description(spec.help)
    .showHelpAfterError(helpHint(names))
    .exitOverride()
  if (spec.alias !== undefined) command.alias(spec.alias)
  for (const [flags, help, repeated] of spec.options ?? [])
    if (repeated === undefined) command.option(flags, help)
    else command.option(flags, help, (value, before: string[] = []) => [...before, value])
  command.action(async () => {
    if (spec.isLocal !== true) demandDataFolder(command.optsWithGlobals())
    const { run: runCommand } = await spec.load()
    await runCommand({
      options: command.optsWithGlobals(),
      words: command.args,
      usages: COMMANDS.map(({ usage }) => usage),
    })
  })
}

function explain(error: unknown, isJson: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  const { message, exitCode, next = null, code, requestId = null } = known(error)
  if (isJson) {
    const shown = { code, message, next, exit_code: exitCode, request_id: requestId }
    tell(JSON.stringify({ error: shown }))
  } else if (!(error instanceof CommanderError)) {
    tell(`${red('error')}: ${message}`)
    if (next !== null) tell(`  try: ${next}`)
  }
  return exitCode
}

/** An error as a command ends with it; commander has told its own already, where no JSON is wanted. */
function known(
  error: unknown,
): Pick<CommandError, 'message' | 'exitCode' | 'next' | 'code' | 'requestId'> {
  if (error instanceof CommandError) return error
  if (!(error instanceof CommanderError))
    return new CommandError(messageOf(error), EXIT.failed, undefined, 'internal')
  const text =
    error.code === 'commander.help' ? 'A command is missing' : error.message.replace(/^error: /, '')
  return new CommandError(withoutRemovals(text), EXIT.usage, 'ergon help')
}
