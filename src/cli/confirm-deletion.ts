// A person confirms the deletion of a resource, in the same way for every kind of resource.
import { answerTo, isPersonThere } from './ask-person.ts'
import type { CommandCall } from './call.ts'
import type { OptionSpec } from './command-spec.ts'
import { CommandError, EXIT, tell } from './output.ts'

/** The options of each command that asks. */
export const DELETION_OPTIONS: readonly OptionSpec[] = [
  ['--yes', 'nothing is asked'],
  ['--force', 'the same'],
]

/** True where the command line confirms the deletion already. */
export const isConfirmed = (options: CommandCall['options']): boolean =>
  options['yes'] === true || options['force'] === true

/**
 * Asks a person to type the name. Throws a CommandError where the name is not typed, and where nobody can be asked; that
 * error names the command that asks nothing. `loss` is what would be deleted, in words.
 */
export async function confirmDeletion(
  options: CommandCall['options'],
  {
    name,
    loss,
    command,
  }: { readonly name: string; readonly loss: string; readonly command: string },
): Promise<void> {
  if (!isPersonThere(options)) throw new CommandError(loss, EXIT.usage, `${command} --yes`)
  tell(loss)
  if ((await answerTo('Type the name to confirm: ')) !== name)
    throw new CommandError('Nothing was deleted: the name was not typed', EXIT.failed)
}
