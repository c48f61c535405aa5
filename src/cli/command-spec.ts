// A command as the table has it.
import type { CommandCall } from './call.ts'

/** A repeated option may be given several times: listOption() has all its values. */
export type OptionSpec = readonly [flags: string, help: string, repeated?: 'repeated']

type CommandModule = { readonly run: (call: CommandCall) => Promise<void> }

export type CommandSpec = {
  /** Words and arguments: 'admin token create', 'receipt verify <receipt>'. */
  readonly usage: string
  /** The name that the last word of the command has in other tools. */
  readonly alias?: string
  /** The command asks no service: where a service is does not matter. */
  readonly isLocal?: true
  readonly help: string
  readonly options?: readonly OptionSpec[]
  readonly load: () => Promise<CommandModule>
}

/** The commands of one area. */
export type CommandList = {
  /** Help of words that only begin commands: 'models alias'. */
  readonly groups?: Readonly<Record<string, string>>
  readonly commands: readonly CommandSpec[]
}
